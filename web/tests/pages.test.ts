// All pages as different people meet them: by their roles, by keys alone, in light and dark, with a screen reader's names; names with markup in them; a page that is left open.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { HOSTILE, NETLOOM } from "./fixtures";
import { accessible, fits, launch, place as made, type Seen, type Served, serve, visit } from "./real";

const LAB = `name: taught
nodes: {client: {}, router: {kind: router}, server: {}}
links:
  access: {ends: [client, router], rate: 100 Mbit/s, delay: 1 ms}
  bottleneck: {ends: [router, server], rate: 5 Mbit/s, delay: 5 ms, queue: 40 packets}
layout: {client: [0, 0], router: [1, 0], server: [2, 0]}
traffic:
  - {kind: window, from: client, to: server, window: 64 kB, amount: 200 kB}
journal: all
`;

let place: ReturnType<typeof made>;
let browser: Browser;
let server: Served;

before(async () => {
  place = made({ "taught.yaml": LAB });
  place.call("sim", "taught.yaml", "--for", "1s");
  place.call("up", "taught.yaml");
  spawn(NETLOOM, ["exec", "taught", "client", "--", "ping", "-q", "-i", "0.02", "-s", "1000", "server"], {
    env: place.environment,
    stdio: "ignore",
  });
  server = await serve(place, ["--share", "127.0.0.1"], 3);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.end();
  place?.done();
});

const ROLES = ["edit", "use", "look"] as const;
let guests = 0;
const link = (role: (typeof ROLES)[number]): string => server.addresses[ROLES.indexOf(role)] ?? "";
/** Others than whoever has started the server say a name, which nobody else has. */
const open = (role: (typeof ROLES)[number], hash: string, wish = {}): Promise<Seen> =>
  visit(browser, role === "edit" ? link(role) : `${link(role)}&name=guest-${++guests}`, hash, {
    allow: /40[34]/,
    ...wish,
  });
const ready = (page: Page): Promise<void> => page.locator(".mapcanvas[data-nodes]:not([data-nodes='0'])").waitFor();

/** What the server says to a request of this page. */
const status = (page: Page, method: string, path: string, body = ""): Promise<number> =>
  page.evaluate(
    async ([how, where, text]) =>
      (
        await fetch(`/api/${where}`, {
          method: how ?? "",
          ...(text ? { body: text, headers: { "Content-Type": "application/json", "If-None-Match": "*" } } : {}),
        })
      ).status,
    [method, path, body],
  );
const told = (page: Page, request: object): Promise<string> =>
  page.evaluate(
    (text) =>
      new Promise<string>((done) => {
        const socket = new WebSocket(`wss://${location.host}/api/labs/taught/control`);
        socket.onopen = () => socket.send(text);
        socket.onmessage = (event) => {
          done(String(event.data));
          socket.close();
        };
      }),
    JSON.stringify({ id: 1, ...request }),
  );

async function comesIn(): Promise<void> {
  const { page } = await visit(browser, link("use"), "", { allow: /40[0134]|WebSocket|Failed to load/, isAsked: true });
  await page.getByLabel("Your name").fill("Ada L.");
  await page.getByRole("button", { name: "Come in" }).click();
  await page.getByText("role: use").waitFor();
  assert.ok(!page.url().includes("token"), page.url());
  const { page: teacher } = await open("edit", "#/class");
  const row = teacher.getByRole("row", { name: "Ada L." });
  await row.getByText("use", { exact: true }).waitFor();
  await page.goto(page.url().replace(/#.*|$/, "#/lab/taught"));
  await row.getByText("taught").waitFor();
  await teacher.getByRole("listitem").filter({ hasText: "taught" }).getByText("Ada L.").waitFor();
  await teacher.getByRole("button", { name: "Send away Ada L." }).click();
  await row.waitFor({ state: "detached" });
  await page.getByText("has revoked your access").waitFor();
  assert.equal((await page.request.get(new URL("/api/state", page.url()).href)).status(), 401);
  await Promise.all([page.close(), teacher.close()]);
}

async function looksOn(): Promise<void> {
  const { page, faults } = await open("look", "#/lab/taught");
  await ready(page);
  await page.getByText("role: look").waitFor();
  await page.getByText("kbit/s").first().waitFor();
  await page.locator(".side tbody button", { hasText: "bottleneck" }).click();
  await page.locator(".liveplot canvas").first().waitFor();
  for (const name of ["Cut", "Take down", "Copy command for Wireshark"])
    assert.equal(await page.getByRole("button", { name, exact: true }).count(), 0, name);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("terminal");
  await page.getByText("no command has this name").waitFor();
  await page.keyboard.press("Escape");
  assert.match(await told(page, { request: "set", link: "access", changes: [["delay", "2 ms"]] }), /refused/);
  assert.match(await told(page, { request: "now" }), /at_ns/);
  assert.equal(await status(page, "PUT", "files/new.yaml", "x"), 403);
  assert.equal(await status(page, "DELETE", "labs/taught"), 403);
  assert.equal(await status(page, "GET", "labs/taught/captures/access?seconds=1"), 403);
  await page.goto(page.url().replace(/#.*/, "#/edit/taught.yaml"));
  await page.locator(".cm-content", { hasText: "name: taught" }).waitFor();
  for (const name of ["Save", "Run", "Up", "+ host"])
    assert.equal(await page.getByRole("button", { name, exact: true }).count(), 0, name);
  await page.locator(".cm-content").click();
  await page.keyboard.type("mine");
  await page.keyboard.press("Control+s");
  assert.ok(!(await page.locator(".cm-content").innerText()).includes("mine"));
  assert.deepEqual(faults, []);
  await page.close();
}

async function uses(): Promise<void> {
  const { page, faults } = await open("use", "#/lab/taught");
  await ready(page);
  await page.locator(".side tbody button", { hasText: "access" }).click();
  await page.getByLabel("delay", { exact: true }).fill("3 ms");
  await page.keyboard.press("Enter");
  let said = "";
  for (let tries = 0; !/"delay":"3 ms"/.test(said); tries += 1) {
    assert.ok(tries < 50, said);
    said = await told(page, { request: "topology" });
  }
  assert.equal(await page.getByRole("button", { name: "Take down" }).count(), 0);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("terminal on client");
  await page.keyboard.press("Enter");
  await page.locator(".terminal[data-bytes]").waitFor();
  await page.keyboard.type("echo $((6 * 7))\n");
  await page.waitForFunction(() => /42/.test(document.querySelector(".xterm-rows")?.textContent ?? ""));
  await accessible(page, "a terminal");
  assert.equal(await status(page, "PUT", "files/new.yaml", "x"), 403);
  assert.equal(await status(page, "POST", "jobs", '{"command":"up","path":"taught.yaml"}'), 403);
  assert.equal(await status(page, "DELETE", "labs/taught"), 403);
  assert.deepEqual(faults, []);
  await page.close();
}

async function teaches(): Promise<void> {
  const { page, faults } = await open("edit", "#/class");
  await page
    .locator(".classcard", { hasText: "taught" })
    .locator("dd", { hasText: /[1-9].*bit\/s/ })
    .first()
    .waitFor();
  // Another lab comes up, and goes.
  const begun = await page.evaluate(async () => {
    const text = "name: pupil\nnodes: {a: {}, b: {}}\nlinks: {l: {ends: [a, b]}}\n";
    await fetch("/api/files/pupil.yaml", { method: "PUT", body: text, headers: { "If-None-Match": "*" } });
    return (
      await fetch("/api/jobs", {
        method: "POST",
        body: JSON.stringify({ command: "up", path: "pupil.yaml" }),
        headers: { "Content-Type": "application/json" },
      })
    ).status;
  });
  assert.equal(begun, 201);
  await page.locator(".classcard", { hasText: "pupil" }).locator(".badge.good").waitFor();
  await page.locator(".classcard a", { hasText: "pupil" }).click();
  await ready(page);
  await page.getByRole("button", { name: "Take down" }).click();
  await page.getByText("This lab has ended").waitFor();
  await page.goto(page.url().replace(/#.*/, "#/class"));
  await page.locator(".classcard", { hasText: "taught" }).waitFor();
  // The list of labs hears of it a moment later than who watched it.
  await page.locator(".classcard", { hasText: "pupil" }).waitFor({ state: "detached" });
  assert.deepEqual(faults, []);
  await page.close();
}

describe("on a shared page", () => {
  test("who comes in says a name, is listed with what is open, and can be sent away", comesIn);
  test("who looks on sees everything and changes nothing", looksOn);
  test("who uses it changes links and works in nodes, and leaves files alone", uses);
  test("the teacher sees all labs at once, and may do everything", teaches);
});

test("a lesson is played in its lab until all its tasks are met", async () => {
  const { page, faults } = await open("edit", "#/lessons/bufferbloat");
  await page.getByRole("button", { name: "Bring the lab up" }).click();
  const met = (count: number): Promise<void> =>
    page
      .waitForFunction((wanted) => document.querySelectorAll(".tasks .badge.good").length >= wanted, count, {
        timeout: 60_000,
      })
      .then(() => undefined);
  await met(2);
  const beside = await page.context().newPage();
  await beside.goto(page.url().replace(/#.*/, "#/lab/lesson-bufferbloat"));
  await ready(beside);
  await beside.locator(".side tbody button", { hasText: "bottleneck" }).click();
  await beside.getByLabel("queue", { exact: true }).fill("{kind: codel, limit: 400 packets}");
  await beside.keyboard.press("Enter");
  await met(3);
  await accessible(page, "a lesson that is played");
  await page.getByText("All tasks are met").waitFor();
  await beside
    .getByRole("button", { name: "Take down" })
    .click()
    .catch(() => undefined);
  assert.deepEqual(faults, []);
  await page.close();
});

/** Pages and what shows that they are there. */
const PAGES = [
  ["#/", ".rows a"],
  ["#/lab/taught", ".mapcanvas[data-nodes]:not([data-nodes='0'])"],
  ["#/edit/taught.yaml", ".badge.good"],
  ["replay", ".mapcanvas[data-shown]"],
  ["#/lessons", ".lessons a"],
  ["#/lessons/ospf", ".tasks li"],
  ["#/class", ".classcard"],
] as const;

async function goTo(page: Page, hash: string, sign: string): Promise<void> {
  const origin = new URL(page.url()).origin;
  await page.goto(`${origin}/#/`);
  if (hash === "replay") await page.getByRole("link", { name: "taught", exact: true }).last().click();
  else await page.goto(`${origin}/${hash}`);
  await page.locator(sign).first().waitFor();
}

test("every page has names for all it shows, enough contrast in light and dark, and room at every width", async () => {
  for (const theme of ["light", "dark"] as const) {
    const { page, faults } = await open("edit", "", { theme });
    for (const [hash, sign] of PAGES) {
      await goTo(page, hash, sign);
      for (const width of [400, 2560, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await fits(page, `${hash} at ${width}, ${theme}`);
      }
      await accessible(page, `${hash}, ${theme}`);
      // Nothing moves by itself for those who want it so.
      assert.equal(
        await page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === "running").length),
        0,
        hash,
      );
    }
    await goTo(page, "#/lab/taught", ".mapcanvas[data-nodes]:not([data-nodes='0'])");
    await page.keyboard.press("Control+k");
    await page.locator("dialog[open]").waitFor();
    await accessible(page, `commands, ${theme}`);
    await page.keyboard.type("show node client");
    await page.keyboard.press("Enter");
    await page.locator(".panel h2", { hasText: "client" }).waitFor();
    await accessible(page, `a node, ${theme}`);
    // The key comes while the list of commands closes.
    await page.keyboard.press("Control+k");
    await page.locator("dialog[open]").waitFor();
    const before = await page.locator(".mapcanvas canvas").evaluate((canvas) => canvas.getBoundingClientRect().width);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Shift+F8");
    await page.waitForFunction(
      (width) => (document.querySelector(".mapcanvas canvas")?.getBoundingClientRect().width ?? 0) > width,
      before,
    );
    assert.equal(await page.locator(".side").isVisible(), false);
    await fits(page, `the presenter's view, ${theme}`);
    await accessible(page, `the presenter's view, ${theme}`);
    // What is larger is chosen where it is seen: the map is one row of three nodes, and its middle is the router.
    const box = await page.locator(".mapcanvas").boundingBox();
    assert.ok(box);
    const scale = Math.min(
      (box.width / 1.6 - 44 - 90) / 2,
      Math.max(250, (Math.min(box.width, box.height) / 1.6) * 0.35),
    );
    for (const [name, at] of [
      ["router", 0],
      ["server", 1],
    ] as const) {
      await page.mouse.move(box.x + ((box.width / 1.6 - 44) / 2 + at * scale) * 1.6, box.y + box.height / 2);
      await page.locator(".maptip", { hasText: name }).waitFor();
    }
    await page.keyboard.press("Shift+F8");
    await page.locator(".side").waitFor();
    assert.deepEqual(faults, []);
    await page.close();
  }
});

test("of many lab files a few are listed, and all are found", async () => {
  const { page, faults } = await open("edit", "");
  await page.locator(".rows a", { hasText: "taught.yaml" }).waitFor();
  assert.equal(await page.getByLabel("search lab files").count(), 0, "few files need no search");
  for (let file = 10; file < 30; file += 1)
    writeFileSync(join(place.path, "labs", `many-${file}.yaml`), "name: many\nnodes: {a: {}}\n");
  await page.getByRole("button", { name: /show all 2\d lab files/ }).waitFor();
  assert.equal(await page.locator("section[aria-labelledby='files-heading'] .rows li").count(), 12);
  await page.getByLabel("search lab files").fill("-27");
  await page.locator(".rows a", { hasText: "many-27.yaml" }).waitFor();
  assert.equal(await page.locator("section[aria-labelledby='files-heading'] .rows li").count(), 1);
  await page.getByLabel("search lab files").fill("nowhere");
  await page.getByText("No lab file has this in its name.").waitFor();
  // What is searched for can be taken back when few files are left, too.
  await page.getByLabel("search lab files").fill("-2");
  for (let file = 10; file < 20; file += 1) rmSync(join(place.path, "labs", `many-${file}.yaml`));
  for (let file = 24; file < 30; file += 1) rmSync(join(place.path, "labs", `many-${file}.yaml`));
  await page.waitForFunction(
    () => document.querySelectorAll("section[aria-labelledby='files-heading'] .rows li").length === 4,
  );
  await page.getByLabel("search lab files").fill("");
  await page.locator(".rows a", { hasText: "taught.yaml" }).waitFor();
  await page.getByLabel("search lab files").waitFor({ state: "detached" });
  for (let file = 10; file < 30; file += 1)
    writeFileSync(join(place.path, "labs", `many-${file}.yaml`), "name: many\nnodes: {a: {}}\n");
  await page.getByRole("button", { name: /show all 2\d lab files/ }).click();
  await page.locator(".rows a", { hasText: "taught.yaml" }).waitFor();
  for (let file = 10; file < 30; file += 1) rmSync(join(place.path, "labs", `many-${file}.yaml`));
  await page.locator(".rows a", { hasText: "many-" }).first().waitFor({ state: "detached" });
  assert.deepEqual(faults, []);
  await page.close();
});

test("everything can be gone to by Tab, is seen where it is, and lets go again", async () => {
  const { page, faults } = await open("edit", "");
  for (const [hash, sign] of PAGES) {
    await goTo(page, hash, sign);
    const first = page.locator(".skip");
    await first.focus();
    const stops: string[] = [];
    for (let tab = 0; tab < 120; tab += 1) {
      await page.keyboard.press("Tab");
      const stop = await page.evaluate(() => {
        const at = document.activeElement as HTMLElement | null;
        if (!at || at === document.body) return null;
        const [box, style] = [at.getBoundingClientRect(), getComputedStyle(at)];
        // A button of a group shows it on what stands for it, a text at its edge or by its caret.
        const drawn = (of: Element | null): boolean =>
          of !== null && (getComputedStyle(of).outlineStyle !== "none" || getComputedStyle(of).boxShadow !== "none");
        const seen =
          drawn(at) ||
          drawn(at.nextElementSibling) ||
          at.matches("input[type=text], input[type=search], .cm-content") ||
          at.closest(".cm-focused") !== null;
        return {
          name: `${at.tagName.toLowerCase()} ${at.getAttribute("aria-label") ?? at.textContent?.trim().slice(0, 30) ?? ""}`,
          sized: (box.width > 0 && box.height > 0) || style.opacity === "0",
          seen,
        };
      });
      if (!stop) break;
      if (tab > 3 && stop.name === "a to the page") break;
      assert.ok(stop.sized && stop.seen, `${hash}: ${JSON.stringify(stop)}`);
      stops.push(stop.name);
    }
    assert.ok(stops.length > 3 && stops.length < 120, `${hash}: ${stops.length} stops: ${stops.slice(-6).join(", ")}`);
  }
  // A whole way without a mouse: from the front page into the lab, a link cut and healed, a terminal and out of it, and back.
  await goTo(page, "#/", ".rows a");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("watch lab taught");
  await page.keyboard.press("Enter");
  await ready(page);
  await page.keyboard.press("m");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Tab");
  await page.keyboard.press(" ");
  await page.locator(".panel h2", { hasText: /Link (access|bottleneck)/ }).waitFor();
  await page.keyboard.press("x");
  await page.locator(".panel .badge.bad", { hasText: "down" }).first().waitFor();
  await page.keyboard.press("h");
  await page.locator(".panel .badge.bad", { hasText: "down" }).first().waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("terminal on server");
  await page.keyboard.press("Enter");
  await page.locator(".terminal[data-bytes]").waitFor();
  await page.keyboard.press("F6");
  await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "tab");
  await page.keyboard.press("Delete");
  await page.locator(".dock").waitFor({ state: "detached" });
  await page.keyboard.press("g");
  await page.getByRole("heading", { name: "Labs, files and results" }).waitFor();
  assert.deepEqual(faults, []);
  await page.close();
});

test("names with markup in them are text on every page", async () => {
  const { page, faults } = await open("edit", "");
  const text = `name: taught\nnodes:\n  ${JSON.stringify(HOSTILE)}: {kind: ${JSON.stringify(HOSTILE)}}\n  b: {}\nlinks:\n  ${JSON.stringify(HOSTILE)}: {ends: [${JSON.stringify(HOSTILE)}, b], rate: ${JSON.stringify(HOSTILE)}}\n`;
  // In a file, its errors and its forms.
  await page.evaluate(
    async (body) => fetch("/api/files/hostile.yaml", { method: "PUT", body, headers: { "If-None-Match": "*" } }),
    text,
  );
  await goTo(page, "#/edit/hostile.yaml", ".problems li");
  // In an address: a lab, results, a lesson of that name.
  const origin = new URL(page.url()).origin;
  for (const where of ["lab", "replay", "edit", "lessons"]) {
    await page.goto(`${origin}/#/${where}/${encodeURIComponent(HOSTILE)}`);
    await page.waitForTimeout(150);
    assert.equal(await page.evaluate(() => (window as { pwned?: number }).pwned), undefined, where);
    assert.equal(await page.locator("img, iframe, object, #app script").count(), 0, where);
  }
  // In what a program writes to a terminal: its title, its text, a link.
  await goTo(page, "#/lab/taught", ".mapcanvas[data-nodes]:not([data-nodes='0'])");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("terminal on client");
  await page.keyboard.press("Enter");
  await page.locator(".terminal[data-bytes]").waitFor();
  const title = await page.title();
  await page.keyboard.type(
    `printf '\\033]0;<img src=x onerror=window.pwned=1>\\007<script>window.pwned=1</script>\\033]8;;javascript:window.pwned=1\\007here\\033]8;;\\007 the end\\n'\n`,
  );
  // What is typed does not have these words beside one another.
  await page.waitForFunction(() => /here the end/.test(document.querySelector(".xterm-rows")?.textContent ?? ""));
  assert.equal(await page.title(), title);
  assert.equal(await page.evaluate(() => (window as { pwned?: number }).pwned), undefined);
  assert.equal(await page.locator("#app img, #app script").count(), 0);
  assert.deepEqual(faults, []);
  await page.close();
});
