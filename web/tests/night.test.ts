// A page that is left open, in some seconds: four hours of samples, events and outputs of a lab as fast as the page takes them, with a server that ends and comes again, and an
// half an hour of the page's clock without any.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { scratch } from "./fixtures";
import { known } from "./real";
import { type Socket, serve, type Wire } from "./wire";

const WEB = dirname(dirname(dirname(createRequire(import.meta.url).resolve("vite/package.json"))));
const place = scratch();
const bundle = join(place.path, "bundle");
let browser: Browser;

before(async () => {
  await build({
    configFile: join(WEB, "vite.ui.config.ts"),
    root: join(WEB, "ui"),
    build: { outDir: bundle, emptyOutDir: true },
    logLevel: "warn",
  });
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
});
after(async () => {
  await browser?.close();
  place.done();
});

/** Samples in an hour, at four per second. */
const HOUR = 4 * 3600;
const LINKS = ["l0", "l1"];

interface Night {
  wire: Wire;
  /** The lab goes on for so many samples; with each an event, and with every other ten lines of a program. */
  pass: (samples: number) => void;
  lines: () => number;
}

const ROW = { name: "long", mode: "up", nodes: 3, clock: "real", path: null, results: null, job: null };
const NODES = ["n0", "n1", "n2"].map((name) => ({ name, kind: "host", stack: "", interfaces: [] }));
const TOPOLOGY_LINKS = LINKS.map((name, place_) => ({
  name,
  ends: [place_, place_ + 1].map((node) => ({ node: `n${node}`, interface: "" })),
  mtu_bytes: 1500,
  joined_in_kernel: false,
  pipes: ["forward", "backward"].map((direction) => ({ direction, pipe: null, up: true, settings: {} })),
}));
const SAID: Record<string, object> = {
  topology: { reply: "topology", nodes: NODES, links: TOPOLOGY_LINKS, exposed: [], services: [] },
  info: { reply: "info", name: "long" },
  now: { reply: "now", at_ns: 1, since_zero_ns: 1, clock: "real", paused: false },
  exercise: { reply: "exercise", title: "", text: "", tasks: [] },
};
const ANSWERS = {
  state: {
    version: "0.1.0",
    role: "edit",
    shared: false,
    opened: null,
    folder: "/labs",
    results_folder: "/labs/results",
    protocol: { major: 1, minor: 6 },
  },
  labs: { labs: [ROW] },
  results: { results: [] },
  files: { files: [], left_out: 0 },
  keys: { top: "lab", sections: {} },
};

/** What is told of the links after so many samples. */
const pipesAt = (at: number): object[] =>
  LINKS.flatMap((link) =>
    ["forward", "backward"].map((direction) => ({
      link,
      direction,
      pipe: null,
      from: "n0",
      to: "n1",
      joined_in_kernel: false,
      rate_bits_per_second: 1e7,
      delay_ns: 1e6,
      up: true,
      arrived_packets: 0,
      arrived_bytes: 0,
      departed_packets: at,
      departed_bytes: at * (1000 + (at % 7)),
      queued_packets: at % 9,
      queued_bytes: 0,
      dropped_queue_packets: at,
      dropped_loss_packets: 0,
      dropped_early_packets: 0,
      dropped_down_packets: 0,
      marked_packets: 0,
    })),
  );

function night(): Night {
  let [at, wrote, heard] = [0, 0, null as Socket | null];
  const ids = new Map<string, number>();
  const say = (events: string, more: object): void =>
    heard?.send(
      JSON.stringify({ id: ids.get(events), event: events, at_ns: at * 250e6, since_zero_ns: at * 250e6, ...more }),
    );
  const sample = (): void => say("stats", { lost: 0, pipes: pipesAt(at) });
  const control = (socket: Socket): void => {
    heard = socket;
    ids.clear();
    socket.onMessage((text) => {
      const { id, request, events } = JSON.parse(text) as { id: number; request: string; events?: string };
      socket.send(JSON.stringify({ id, ...(SAID[request] ?? { reply: "done" }) }));
      if (request === "subscribe" && events !== undefined) ids.set(events, id);
    });
  };
  return {
    wire: {
      answers: ANSWERS,
      sockets: {
        "/control": control,
        "/events": (socket) => socket.send(JSON.stringify({ event: "labs", labs: [ROW] })),
      },
    },
    pass: (samples) => {
      for (let number = 0; number < samples; number += 1) {
        at += 1;
        sample();
        if (at % 8 === 0) say("lab", { what: "log", details: { text: `something has happened at ${at}` } });
        if (at % 16 === 0) {
          say("output", {
            command: "pings",
            node: "n0",
            stream: "stdout",
            lines: Array.from({ length: 10 }, (_, line) => `64 bytes from 10.0.0.1: line ${wrote + line} time=1.23 ms`),
            partial: false,
          });
          wrote += 10;
        }
      }
      wrote += 1;
      say("output", {
        command: "pings",
        node: "n0",
        stream: "stdout",
        lines: [`line ${wrote - 1} is the last for now`],
        partial: false,
      });
    },
    lines: () => wrote,
  };
}

interface Memory {
  heap: number;
  elements: number;
  listeners: number;
}

async function memoryOf(client: CDPSession): Promise<Memory> {
  await client.send("HeapProfiler.collectGarbage");
  const { metrics } = await client.send("Performance.getMetrics");
  const of = (key: string): number => metrics.find(({ name }) => name === key)?.value ?? NaN;
  return { heap: of("JSHeapUsedSize"), elements: of("Nodes"), listeners: of("JSEventListeners") };
}

const taken = async (page: Page, lab: Night): Promise<void> => {
  await page.waitForFunction(
    (text) => document.querySelector(".log")?.textContent?.includes(text),
    `line ${lab.lines() - 1} is the last for now`,
    { timeout: 60_000 },
  );
};

test("four hours of a lab need no more memory than the first, and the server may end and come again", async () => {
  const lab = night();
  let server = await serve(bundle, lab.wire);
  const port = Number(new URL(server.address).port);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  await known(page);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  await page.goto(`${server.address}/#/lab/long`);
  await page.locator(".mapcanvas[data-nodes]:not([data-nodes='0'])").waitFor();
  await page.getByRole("tab", { name: "Logs" }).click();
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable");
  const look = async (): Promise<Memory> => {
    for (const tab of ["Events", "Overview", "Verdict", "Logs"]) await page.getByRole("tab", { name: tab }).click();
    await page.waitForTimeout(600);
    return memoryOf(client);
  };
  const hours = async (count: number): Promise<void> => {
    for (let hour = 0; hour < count; hour += 1) {
      lab.pass(HOUR);
      await taken(page, lab);
    }
  };
  const began = Date.now();
  await hours(1);
  const evening = await look();
  await hours(1);
  // The server ends in the night, and comes again at the same port.
  server.done();
  await page.getByRole("alert").waitFor();
  server = await serve(bundle, lab.wire, port);
  await page.getByRole("alert").waitFor({ state: "detached" });
  await page.locator(".badge.good", { hasText: "up" }).waitFor();
  await page.waitForTimeout(300);
  await hours(2);
  const morning = await look();
  await page.getByRole("tab", { name: "Events" }).click();
  const events = await page.locator(".events li").count();
  await page.getByRole("tab", { name: "Logs" }).click();
  const lines = await page.evaluate(() => (document.querySelector(".log")?.textContent ?? "").split("\n").length);
  console.log(
    `a night in ${((Date.now() - began) / 1000).toFixed(0)} s: ${(evening.heap / 1e6).toFixed(1)} MB after an hour, ${(morning.heap / 1e6).toFixed(1)} MB after four; ${evening.elements} and ${morning.elements} nodes, ${evening.listeners} and ${morning.listeners} listeners; ${events} events and ${lines} lines are shown`,
  );
  assert.ok(morning.heap < evening.heap + 3e6, JSON.stringify([evening, morning]));
  assert.ok(
    morning.elements < evening.elements + 1000 && morning.listeners < evening.listeners + 100,
    JSON.stringify([evening, morning]),
  );
  assert.ok(events > 0 && events <= 2_000 && lines > 100 && lines <= 5_001, `${events} ${lines}`);
  assert.deepEqual(faults, []);
  await page.close();
  server.done();
});

test("a page without a server asks for it now and then, in all patience, and goes on when it is there", async () => {
  const lab = night();
  let server = await serve(bundle, lab.wire);
  const port = Number(new URL(server.address).port);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  await known(page);
  await page.clock.install();
  await page.goto(`${server.address}/#/lab/long`);
  await page.locator(".mapcanvas[data-nodes]:not([data-nodes='0'])").waitFor();
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable");
  server.done();
  await page.clock.runFor(1000);
  await page.getByRole("alert").waitFor();
  let asked = 0;
  page.on("requestfailed", () => {
    asked += 1;
  });
  const pass = async (minutes: number): Promise<void> => {
    for (let step = 0; step < minutes * 6; step += 1) {
      await page.clock.runFor(10_000);
      // What is refused is refused by the clock of the machine.
      await new Promise((done) => setTimeout(done, 10));
    }
  };
  await pass(3);
  const early = await memoryOf(client);
  asked = 0;
  await pass(30);
  const late = await memoryOf(client);
  console.log(
    `half an hour without a server: ${asked} requests, ${(early.heap / 1e6).toFixed(1)} MB, then ${(late.heap / 1e6).toFixed(1)} MB`,
  );
  assert.ok(late.heap < early.heap + 2e6 && late.elements < early.elements + 200, JSON.stringify([early, late]));
  // Each connection once in five to ten seconds, with a question why.
  assert.ok(asked > 0 && asked < 30 * 60, String(asked));
  server = await serve(bundle, lab.wire, port);
  await page.clock.resume();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await page.locator(".badge.good", { hasText: "up" }).waitFor();
  await page.close();
  server.done();
});
