// The program itself: `netloom ui` in a folder of lab files, and pages of it in a browser. With PAGE, the page is taken from that folder and not from the program, so that it can be
// tried without building Netloom anew.

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { NETLOOM, scratch } from "./fixtures";

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-features=LocalNetworkAccessChecks"],
  });

/** A server that is up: the addresses that it has printed, by role; without --share all are of the role edit. */
export interface Served {
  process: ChildProcess;
  addresses: string[];
  said: () => string;
  end: (signal?: NodeJS.Signals) => Promise<void>;
}

/** A place with a folder `labs`, and runtime folders of its own. */
export function place(files: Record<string, string>): {
  path: string;
  environment: NodeJS.ProcessEnv;
  call: (...words: string[]) => string;
  done: () => void;
} {
  const made = scratch();
  for (const folder of ["run", "labs"]) mkdirSync(join(made.path, folder));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(made.path, "labs", name), text);
  // Shells of the page read no settings of whoever runs the tests; what netloom keeps for all is where it is.
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  const environment = {
    ...process.env,
    XDG_RUNTIME_DIR: join(made.path, "run"),
    HOME: made.path,
    XDG_CACHE_HOME: cache,
  };
  return {
    path: made.path,
    environment,
    call: (...words) =>
      execFileSync(NETLOOM, words, {
        encoding: "utf8",
        env: environment,
        cwd: join(made.path, "labs"),
        stdio: ["ignore", "pipe", "pipe"],
        maxBuffer: 64 << 20,
      }),
    done: () => {
      // What a test has left up.
      for (const lab of existsSync(join(made.path, "run/netloom"))
        ? spawnSync("ls", [join(made.path, "run/netloom")], { encoding: "utf8" })
            .stdout.split("\n")
            .filter(Boolean)
        : [])
        spawnSync(NETLOOM, ["down", lab], { env: environment, stdio: "ignore" });
      made.done();
    },
  };
}

export async function serve(
  where: { path: string; environment: NodeJS.ProcessEnv },
  words: string[] = [],
  count = 1,
  /** What starts it, with the program behind. */ starter: string[] = [],
): Promise<Served> {
  const [program = NETLOOM, ...before] = [...starter, NETLOOM];
  const process_ = spawn(program, [...before, "ui", ...words], {
    cwd: join(where.path, "labs"),
    env: where.environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  // Of a test that fails before it ends it.
  process.once("exit", () => process_.kill("SIGKILL"));
  let said = "";
  const addresses = await new Promise<string[]>((done, failed) => {
    const hear = (text: Buffer): void => {
      said += String(text);
      const found = said.match(/https?:\/\/\S+token=[0-9a-f]+(?=\s)/g) ?? [];
      if (found.length >= count) done(found);
    };
    process_.stdout?.on("data", hear);
    process_.stderr?.on("data", hear);
    process_.on("exit", () => failed(new Error(`netloom ui has ended: ${said}`)));
  });
  const ended = new Promise<void>((done) => process_.on("exit", () => done()));
  return {
    process: process_,
    addresses,
    said: () => said,
    end: async (signal = "SIGINT") => {
      process_.kill(signal);
      await ended;
    },
  };
}

export interface Seen {
  page: Page;
  faults: string[];
}
export interface Wish {
  width?: number;
  height?: number;
  theme?: "light" | "dark";
  motion?: "reduce" | "no-preference";
  /** Faults that are expected. */
  allow?: RegExp;
  /** Whether it is somebody's first time here. */
  isNew?: boolean;
  /** Whether a name is asked for first. */
  isAsked?: boolean;
}

/** What a terminal says where the machine is busy: that its idle work took longer than it meant to. */
const BUSY = /task queue exceeded allotted deadline/;

/** Who has been here before sees no tour. */
export const known = (page: Page | BrowserContext): Promise<void> =>
  page.addInitScript(() => {
    try {
      localStorage.setItem("netloom-tour", "all");
    } catch {
      /* a page without storage */
    }
  });

/** Opens an address of a server in a browser of its own, as another person would. */
export async function visit(
  browser: Browser,
  address: string,
  hash = "",
  { width = 1280, height = 800, theme = "light", motion = "reduce", allow, isNew = false, isAsked = false }: Wish = {},
): Promise<Seen> {
  const context = await browser.newContext({
    viewport: { width, height },
    reducedMotion: motion,
    colorScheme: theme,
    acceptDownloads: true,
    ignoreHTTPSErrors: true,
  });
  if (!isNew) await known(context);
  const page = await context.newPage();
  page.on("close", () => void context.close().catch(() => undefined));
  page.setDefaultTimeout(20_000);
  const faults: string[] = [];
  const fault = (text: string): void => {
    if (!allow?.test(text) && !BUSY.test(text)) faults.push(text);
  };
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && fault(message.text()));
  page.on("pageerror", (error) => fault(error.stack ?? String(error)));
  page.on("dialog", (dialog) => void dialog.accept(dialog.type() === "prompt" ? dialog.defaultValue() : undefined));
  const bundle = process.env.PAGE;
  if (bundle) {
    await page.route(
      (url) => !url.search.includes("token=") && (url.pathname === "/" || url.pathname.startsWith("/assets/")),
      async (route) => {
        const file = join(bundle, new URL(route.request().url()).pathname.replace(/\/$/, "/index.html"));
        await (existsSync(file) ? route.fulfill({ path: file }) : route.continue());
      },
    );
  }
  await page.goto(address);
  // Who is asked for a name stays where that is asked.
  if (!isAsked) await page.goto(`${new URL(address).origin}/${hash}`);
  return { page, faults };
}

/** Nothing that axe finds. */
export async function accessible(page: Page, what: string): Promise<void> {
  const found = await page.evaluate(
    `${AXE}; axe.run(document, { resultTypes: ["violations"] }).then((done) => done.violations.map((one) => one.id + ": " + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")))`,
  );
  assert.deepEqual(found, [], what);
}

/** Nothing is wider than the window. */
export async function fits(page: Page, what: string): Promise<void> {
  const [is, may] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth] as const);
  assert.ok(is <= may, `${what}: ${is} pixels wide in a window of ${may}`);
}
