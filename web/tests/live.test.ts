// Connections and packets of a lab that is up, on the page: the lab is played (played.ts), so that it is known what there is to see.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { build } from "vite";
import { HOSTILE, scratch } from "./fixtures";
import { lab, type Played, packet, ROW, SCENE, sender } from "./played";
import { accessible, fits, known, launch } from "./real";
import { serve } from "./wire";

const WEB = dirname(dirname(dirname(createRequire(import.meta.url).resolve("vite/package.json"))));
const place = scratch();
const bundle = process.env.PAGE || join(place.path, "bundle");
let browser: Browser;

before(async () => {
  if (!process.env.PAGE)
    await build({
      configFile: join(WEB, "vite.ui.config.ts"),
      root: join(WEB, "ui"),
      build: { outDir: bundle, emptyOutDir: true },
      logLevel: "warn",
    });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  place.done();
});

interface Opened {
  page: Page;
  faults: string[];
  done: () => Promise<void>;
}

async function open(
  played: Played,
  {
    width = 1280,
    theme = "light" as "light" | "dark",
    motion = "no-preference" as "reduce" | "no-preference",
    role = "edit",
  } = {},
): Promise<Opened> {
  const { address, done } = await serve(bundle, {
    answers: {
      state: {
        version: "0.1.0",
        role,
        shared: false,
        opened: null,
        folder: "/labs",
        results_folder: "/labs/results",
        protocol: { major: 1, minor: 7 },
      },
      labs: { labs: [ROW] },
      "labs/played/terminals": { terminals: [] },
      results: { results: [] },
      files: { files: [], left_out: 0 },
      keys: { top: "lab", sections: {} },
      // Where nodes are is known later than what packets do.
      "POST check": async () => {
        await new Promise((done) => setTimeout(done, 500));
        return { ok: true, errors: [], warnings: [], notes: [], tree: null, plan: null, scene: SCENE };
      },
    },
    sockets: {
      "/control": played.speak,
      "/events": (socket) => socket.send(JSON.stringify({ event: "labs", labs: [ROW] })),
    },
  });
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: theme, reducedMotion: motion });
  await known(page);
  page.setDefaultTimeout(20_000);
  const faults: string[] = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(error.stack ?? String(error)));
  await page.goto(`${address}/#/lab/played`);
  await page.locator(".mapcanvas[data-nodes]:not([data-nodes='0'])").waitFor();
  return {
    page,
    faults,
    done: async () => {
      assert.deepEqual(faults, []);
      await page.close();
      done();
    },
  };
}

const asks = (played: Played, events: string): Record<string, unknown> | null => played.held.get(events) ?? null;
/** Waits until it holds: what a page asks for comes to the lab a moment later. */
async function until(what: string, holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries += 1) {
    assert.ok(tries < 400, what);
    await new Promise((done) => setTimeout(done, 25));
  }
}
const command = async (page: Page, words: string): Promise<void> => {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(words);
  await page.locator("#palette-list li[aria-selected='true']", { hasText: words }).waitFor();
  await page.keyboard.press("Enter");
};
/** Puts the page behind others, or before them. */
const hide = (page: Page, state: "hidden" | "visible"): Promise<void> =>
  page.evaluate((is) => {
    Object.defineProperty(document, "visibilityState", { value: is, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);
const table = (page: Page) => page.getByRole("region", { name: "TCP connections" });

async function connectionsOfANode(): Promise<void> {
  const played = lab();
  const { page, done } = await open(played);
  assert.equal(asks(played, "tcp"), null);
  await command(page, "show node client");
  await table(page).getByRole("row").nth(2).waitFor();
  assert.deepEqual(asks(played, "tcp"), { every_ns: 250e6, nodes: ["client"] });
  // What the node itself sends and receives: 1,150 bytes and 30 each millisecond.
  const own = page.locator(".panel > .plots .liveplot");
  assert.deepEqual(await own.locator(".title").allTextContents(), ["Throughput"]);
  await own.getByText(/^9(\.\d+)? Mbit\/s$/).waitFor();
  await own.getByText(/^2[34]\d(\.\d)? kbit\/s$/).waitFor();
  await page.locator(".tcp .liveplot").first().scrollIntoViewIfNeeded();
  await page.locator(".tcp .liveplot canvas").first().waitFor();
  assert.deepEqual(await page.locator(".tcp .liveplot .title").allTextContents(), [
    "Congestion window",
    "Round-trip time",
    "Delivery rate",
    "Retransmissions per second",
  ]);
  const first = table(page).getByRole("row").nth(1);
  assert.match(await first.innerText(), /server:5201\s+cubic, established/);
  // What it carries is told when there are two samples: 1 MB per second.
  await first.getByText(/^8(\.\d+)? Mbit\/s$/).waitFor();
  assert.match(
    await page.locator(".tcp .liveplot").first().innerText(),
    /window\s*\d+ packets\s*slow-start threshold\s*42 packets/,
  );
  await accessible(page, "a node with connections");
  // Nobody looks: not behind another page, not at another tab, and not at a router without programs.
  await hide(page, "hidden");
  await until("hidden", () => asks(played, "tcp") === null);
  await hide(page, "visible");
  await until("seen again", () => asks(played, "tcp") !== null);
  await page.keyboard.press("3");
  await until("another tab", () => asks(played, "tcp") === null);
  await done();
}

async function connectionsOfAllNodes(): Promise<void> {
  const played = lab();
  const { page, done } = await open(played, { motion: "reduce" });
  await command(page, "show tcp connections");
  await table(page).getByRole("row").nth(4).waitFor();
  assert.deepEqual(asks(played, "tcp"), { every_ns: 250e6 });
  // The busiest, on the side that sends.
  await page.getByRole("heading", { name: "client:40001 → server:5201" }).waitFor();
  await page.getByRole("button", { name: "client:40002 → server:5201" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "client:40002 → server:5201" }).waitFor();
  await page.getByText("All figures of the kernel").click();
  assert.match(await page.locator(".tcp dl").innerText(), /bbr pacing gain\s*1.25/);
  await accessible(page, "all connections");
  for (const width of [400, 2560, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await fits(page, `TCP at ${width}`);
  }
  played.connections = (told) =>
    told.map((of) => ({ ...of, connections: of.connections.filter(({ congestion }) => congestion !== "bbr") }));
  await page.locator(".tcp tr.ended", { hasText: "client:40002" }).waitFor();
  assert.match(await page.locator(".tcp tr.ended").innerText(), /bbr, ended/);
  // What was chosen stays on show.
  await page.getByRole("heading", { name: "client:40002 → server:5201" }).waitFor();
  await command(page, "show tcp connection client:40001");
  await page.getByRole("heading", { name: "client:40001 → server:5201" }).waitFor();
  // One that ends is forgotten after a minute.
  await page.evaluate(() => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + 61_000;
  });
  await page.locator(".tcp tr.ended").waitFor({ state: "detached" });
  await done();
}

async function manyConnections(): Promise<void> {
  const played = lab();
  played.connections = (told) =>
    told.map((of) => ({
      ...of,
      left_out: of.node === "client" ? 7 : 0,
      connections:
        of.node === "router"
          ? []
          : Array.from({ length: 150 }, (_, number) => sender(number + 1, "cubic", 9, { local: `10.0.0.1:${number}` })),
    }));
  const { page, done } = await open(played, { motion: "reduce" });
  await page.getByRole("tab", { name: "TCP" }).click();
  await page.getByText("and 107 more, which carry less").waitFor();
  await page.getByRole("button", { name: "show more of 200" }).click();
  await table(page).getByRole("row").nth(80).waitFor();
  await done();
}

async function refusedConnections(): Promise<void> {
  const played = lab();
  played.refuse.tcp = `the kernel of <b>client</b> ${HOSTILE}`;
  const { page, done } = await open(played);
  await page.getByRole("tab", { name: "TCP" }).click();
  await page.locator(".panel .note", { hasText: "the kernel of <b>client</b>" }).waitFor();
  await accessible(page, "a refusal");
  await done();
  const failing = lab();
  failing.connections = (told) =>
    told.map((of) => ({
      ...of,
      connections: [],
      failure: of.node === "client" ? "its kernel has no sock_diag" : null,
    }));
  const other = await open(failing);
  await other.page.getByRole("tab", { name: "TCP" }).click();
  await other.page.getByText("client: its kernel has no sock_diag").waitFor();
  await other.done();
  const old = lab();
  old.capabilities = ["stats"];
  const third = await open(old);
  await third.page.getByRole("tab", { name: "TCP" }).click();
  await third.page.getByText("older version of Netloom").waitFor();
  assert.ok(!old.asked.some(({ events }) => events === "tcp" || events === "packets"), JSON.stringify(old.asked));
  await third.done();
}

async function hostileConnections(): Promise<void> {
  const played = lab();
  played.connections = (told) =>
    told.map((of) => ({
      ...of,
      connections:
        of.node === "client"
          ? [
              sender(1, HOSTILE, 9, {
                local: HOSTILE,
                remote: HOSTILE,
                state: HOSTILE,
                ca_state: HOSTILE,
                figures: { [HOSTILE]: 1 },
              }),
            ]
          : [],
    }));
  played.packets = (at) => [
    packet(2, at, 1, { protocol: HOSTILE }),
    packet(2, at, 1, { dropped: { at_ns: at, cause: HOSTILE } }),
  ];
  const { page, done } = await open(played);
  await page.getByRole("tab", { name: "TCP" }).click();
  await page.getByText("Legend").click();
  await page.locator(".maplegend li", { hasText: "onerror" }).waitFor();
  await table(page).getByRole("row").nth(1).waitFor();
  assert.equal(await page.evaluate(() => (window as { pwned?: number }).pwned), undefined);
  await done();
}

describe("TCP connections", () => {
  test("of a node are asked for when its panel is looked at, and have curves", connectionsOfANode);
  test(
    "of all nodes are listed, chosen by keys alone, and remembered for a while when they end",
    connectionsOfAllNodes,
  );
  test("are bounded in number, and what is left out is said", manyConnections);
  test("that cannot be had are said so, in the words of the lab", refusedConnections);
  test("with markup in them are text", hostileConnections);
});

test("what a node of two links sends and receives is told of each", async () => {
  const { page, done } = await open(lab(), { motion: "reduce" });
  await command(page, "show node router");
  const own = page.locator(".panel > .plots .liveplot");
  await own.nth(1).waitFor();
  assert.deepEqual(await own.locator(".title").allTextContents(), ["Sends", "Receives"]);
  for (const [place, rates] of [
    [0, [/^2[34]\d(\.\d)? kbit\/s$/, /^9(\.\d+)? Mbit\/s$/]],
    [1, [/^9(\.\d+)? Mbit\/s$/, /^2[34]\d(\.\d)? kbit\/s$/]],
  ] as const) {
    assert.deepEqual(await own.nth(place).locator(".legend li span:not([aria-hidden])").allTextContents(), [
      "access",
      "bottleneck",
    ]);
    for (const [at, words] of rates.entries())
      await own.nth(place).locator(".legend li").nth(at).getByText(words).waitFor();
  }
  await done();
});

describe("a node that is stopped", () => {
  const stop = (page: Page) => page.getByRole("button", { name: "Stop the node" });
  const start = (page: Page) => page.getByRole("button", { name: "Start the node" });
  const off = (page: Page) => page.locator(".mapcanvas").getAttribute("data-off");

  test("says so on the map, in its panel and in the list, and is started again", async () => {
    const played = lab();
    const { page, done } = await open(played, { motion: "reduce" });
    await command(page, "show node client");
    assert.equal(await off(page), "");
    await stop(page).click();
    await page.locator(".panel .badge", { hasText: "stopped" }).waitFor();
    assert.deepEqual(
      played.asked.filter(({ request }) => request === "stop").map(({ node }) => node),
      ["client"],
    );
    assert.equal(await off(page), "client stopped");
    // Nothing can be run in it.
    assert.equal(await page.getByRole("button", { name: "Open a terminal" }).count(), 0);
    await accessible(page, "a node that is stopped");
    await fits(page, "a node that is stopped");
    await page.keyboard.press("1");
    await page.locator(".names li", { hasText: "client" }).locator(".badge", { hasText: "stopped" }).waitFor();
    await command(page, "start node client");
    await until("the node is started", () => !played.off.has("client"));
    await page.waitForFunction(() => document.querySelector<HTMLElement>(".mapcanvas")?.dataset.off === "");
    await command(page, "show node client");
    await stop(page).waitFor();
    await done();
  });

  test("is not, if the lab refuses, which is told in its words", async () => {
    const played = lab();
    const { page, done } = await open(played, { motion: "reduce" });
    await command(page, "show node router");
    await stop(page).click();
    await page.locator(".toast.error", { hasText: "is at a shared medium" }).waitFor();
    assert.equal(await off(page), "");
    await done();
  });

  test("is for those who may use the lab, and for labs that can stop nodes", async () => {
    const watched = lab();
    watched.off.set("server", "stopped");
    const looking = await open(watched, { motion: "reduce", role: "look" });
    await command(looking.page, "show node server");
    await looking.page.locator(".panel .badge", { hasText: "stopped" }).waitFor();
    assert.equal(await start(looking.page).count(), 0);
    await looking.done();
    const older = lab();
    older.capabilities = older.capabilities.filter((one) => one !== "stop");
    const { page, done } = await open(older, { motion: "reduce", role: "use" });
    await command(page, "show node client");
    await page.getByRole("button", { name: "Open a terminal" }).waitFor();
    assert.equal(await stop(page).count(), 0);
    await done();
  });
});

const POSSIBLE = { stop: null, crash: null, freeze: null, clock: null, disk: null, fail: null, starve: null };
const REAL = "`client` cannot crash: it has the kernel of this machine";
const asked = (played: Played) =>
  played.asked.filter(({ request }) => request === "fault").map(({ entry }) => String(entry));
const panel = (page: Page) => page.getByRole("region", { name: "Faults" });

describe("a fault of a node", () => {
  test("is an entry of the timeline, and its panel tells what it did", async () => {
    const played = lab();
    played.faults.set("client", POSSIBLE);
    const { page, done } = await open(played, { motion: "reduce" });
    await command(page, "show node client");
    const faults = panel(page);
    await faults.getByRole("textbox", { name: "Step the clock: by" }).fill("-3 s");
    await faults.getByRole("button", { name: "Step the clock" }).click();
    await faults.getByRole("button", { name: "Let the clock drift" }).click();
    await faults.getByRole("button", { name: "Fill the disk" }).click();
    await faults.getByRole("button", { name: "Let the disk work" }).click();
    await faults.getByRole("combobox", { name: "keep" }).selectOption("torn");
    await faults.getByRole("textbox", { name: "Crash: for" }).fill("soon");
    await faults.getByRole("button", { name: "Crash" }).click();
    await page.locator(".toast.error", { hasText: "expected a duration" }).waitFor();
    await faults.getByRole("textbox", { name: "Crash: for" }).fill("");
    await accessible(page, "faults of a node");
    await fits(page, "faults of a node");
    await faults.getByRole("button", { name: "Crash" }).click();
    await page.locator(".panel .badge", { hasText: "crashed" }).waitFor();
    assert.deepEqual(asked(played), [
      "{on: client, clock: {step: -3 s}}",
      "{on: client, clock: {drift: 200 ppm}}",
      "{disk: client, full: true}",
      "{disk: client, works: true}",
      "{crash: client, keep: torn, for: soon}",
      "{crash: client, keep: torn}",
    ]);
    assert.equal(await page.locator(".mapcanvas").getAttribute("data-off"), "client crashed");
    await faults.getByRole("status").getByText("crashed").waitFor();
    // What does not run has no other faults, and can be started.
    assert.equal(
      await faults.getByRole("button", { name: "Freeze" }).getAttribute("title"),
      "client does not run: it is crashed",
    );
    await page.getByRole("button", { name: "Start the node" }).click();
    await until("the node is started", () => !played.off.has("client"));
    await page.locator(".panel .badge", { hasText: "crashed" }).waitFor({ state: "detached" });
    await command(page, "Freeze: client");
    await page.locator(".panel .badge", { hasText: "frozen" }).waitFor();
    assert.equal(asked(played).at(-1), "{freeze: client, for: 1 s}");
    await done();
  });

  test("that a node cannot have is no button to press, and its title has the reason", async () => {
    const played = lab();
    played.faults.set("client", { ...POSSIBLE, crash: REAL });
    played.faults.set("router", { ...POSSIBLE, disk: "`router` has no disk" });
    const { page, done } = await open(played, { motion: "reduce" });
    await command(page, "show node client");
    const crash = panel(page).getByRole("button", { name: "Crash" });
    assert.deepEqual([await crash.isDisabled(), await crash.getAttribute("title")], [true, REAL]);
    assert.equal(await panel(page).getByRole("button", { name: "Freeze" }).isDisabled(), false);
    await accessible(page, "a fault that a node cannot have");
    // A crash says nothing of a disk that is not there.
    await command(page, "show node router");
    assert.equal(await panel(page).getByRole("combobox", { name: "keep" }).count(), 0);
    await panel(page).getByRole("button", { name: "Crash" }).click();
    await page.locator(".panel .badge", { hasText: "crashed" }).waitFor();
    assert.equal(asked(played).at(-1), "{crash: router}");
    // A lab of an older program tells nothing of them.
    await command(page, "show node server");
    await page.getByRole("button", { name: "Stop the node" }).waitFor();
    assert.equal(await panel(page).count(), 0);
    await done();
    const looked = lab();
    looked.faults.set("client", POSSIBLE);
    const looking = await open(looked, { motion: "reduce", role: "look" });
    await command(looking.page, "show node client");
    await looking.page.getByRole("heading", { name: "Interfaces" }).waitFor();
    assert.equal(await panel(looking.page).count(), 0);
    await looking.done();
  });
});

describe("a fault of a node's programs", () => {
  test("lets calls fail, or gives programs no processor", async () => {
    const played = lab();
    played.faults.set("client", POSSIBLE);
    const { page, done } = await open(played, { motion: "reduce" });
    await command(page, "show node client");
    const faults = panel(page);
    await faults.getByRole("button", { name: "Let calls fail" }).click();
    await faults.getByRole("combobox", { name: "call" }).selectOption({ label: "memory" });
    await faults.getByRole("combobox", { name: "error" }).selectOption("ENOMEM");
    await faults.getByRole("textbox", { name: "Let calls fail: process" }).fill("*worker*");
    await faults.getByRole("textbox", { name: "Let calls fail: for" }).fill("");
    await faults.getByRole("button", { name: "Let calls fail" }).click();
    await faults.getByRole("status").getByText("fail {call: [mmap, brk], error: ENOMEM").waitFor();
    await faults.getByRole("button", { name: "Let calls work" }).click();
    await faults.getByRole("button", { name: "Starve" }).click();
    await faults.getByRole("textbox", { name: "Starve: process" }).fill("worker");
    await faults.getByRole("button", { name: "Starve" }).click();
    assert.deepEqual(asked(played), [
      "{on: client, fail: {call: fsync, error: EIO}, for: 5 s}",
      '{on: client, fail: {call: [mmap, brk], error: ENOMEM, process: "*worker*"}}',
      "{on: client, fail: none}",
      "{on: client, starve: true, for: 50 ms}",
      "{on: client, starve: {process: worker}, for: 50 ms}",
    ]);
    await faults.getByRole("status").getByText("starve {process: worker}").waitFor();
    await accessible(page, "faults of programs");
    await done();
  });
});

test("a switch that looks at groups tells which it knows, and what leads to routers", async () => {
  const played = lab();
  const nothing = {
    received_reports: 1,
    received_queries: 0,
    sent_queries: 0,
    malformed_messages: 0,
    unasked_frames: 0,
    joined_groups: 1,
    left_groups: 0,
    unlearned_groups: 0,
  };
  played.ports = [
    {
      node: "router",
      interface: "eth0",
      link: "access",
      snooping: {
        ...nothing,
        groups: [
          { group: "239.1.2.3", vlan: null, remaining_ns: 42e9 },
          { group: HOSTILE, vlan: 7, remaining_ns: 1e9 },
          { group: "ff02::1:ff00:1", vlan: null, remaining_ns: 1e9 },
        ],
        known_groups: 14,
        is_router_port: false,
        queriers: [],
      },
    },
    {
      node: "router",
      interface: "eth1",
      link: "bottleneck",
      snooping: {
        ...nothing,
        unasked_frames: 1234,
        groups: [],
        known_groups: 0,
        is_router_port: true,
        queriers: ["10.0.0.6"],
      },
    },
  ];
  const { page, done } = await open(played, { motion: "reduce" });
  await command(page, "show node router");
  const rows = page.getByRole("region", { name: "multicast groups" }).getByRole("row");
  await rows.nth(2).waitFor();
  assert.match(
    await rows.nth(1).innerText(),
    /access\s+239\.1\.2\.3 42 s\s+x<\/script>[\s\S]* in VLAN 7 1 s\s+and 11 more groups\s+1 of neighbour discovery\s+–\s+0/,
  );
  assert.match(await rows.nth(2).innerText(), /bottleneck\s+–\s+10\.0\.0\.6\s+1,234/);
  await accessible(page, "groups of a switch");
  // Those of a moment later.
  played.ports = [];
  await page.getByRole("region", { name: "multicast groups" }).waitFor({ state: "detached" });
  await done();
});

test("virtual time that runs fast is told no more often than the page can show", async () => {
  const played = lab();
  played.clock = "virtual";
  // However fast time runs, a packet takes a part of a second of the page.
  played.packets = (at) => [packet(0, at, 40_001, { travel: 1e8 })];
  const { page, done } = await open(played);
  const every = (events: string): number => Number(asks(played, events)?.every_ns ?? 0);
  await page.getByRole("tab", { name: "TCP" }).click();
  await table(page).getByRole("row").nth(4).waitFor();
  assert.deepEqual(["stats", "tcp", "packets"].map(every), [250e6, 250e6, 100e6]);
  played.fast(1_000);
  for (const events of ["stats", "tcp", "packets"]) await until(events, () => every(events) > 10e9);
  // What is shown goes on: a thousand seconds in a second.
  const seconds = async (): Promise<number> => parseFloat(await page.locator(".time").innerText());
  const before = await seconds();
  await page.waitForFunction(
    (least) => parseFloat(document.querySelector(".time")?.textContent ?? "") > least,
    before + 1_000,
  );
  // When time runs slowly once more, nobody waits for the next of those samples.
  played.fast(1);
  for (const events of ["stats", "tcp"]) await until(events, () => every(events) === 250e6);
  played.fast(1_000);
  await until("fast again", () => every("stats") > 10e9);
  await page.getByRole("button", { name: "‖ pause" }).click();
  for (const events of ["stats", "tcp"])
    await until(`${events} of time that stands still`, () => every(events) === 250e6);
  await done();
});

const shown = (page: Page): Promise<number> => page.locator(".mapcanvas").getAttribute("data-dots").then(Number);

async function movingPackets(): Promise<void> {
  const played = lab();
  const { page, done } = await open(played);
  await page.waitForFunction(() => Number(document.querySelector<HTMLElement>(".mapcanvas")?.dataset.fell) > 2);
  assert.deepEqual(asks(played, "packets"), { every_ns: 100e6 });
  assert.ok((await shown(page)) > 3);
  await page.getByText("Legend").click();
  assert.deepEqual((await page.locator(".maplegend li:has(.flow)").allTextContents()).slice(0, 2), [
    "TCP client:40001 →\u00a0server:5201",
    "TCP client:40002 →\u00a0server:5201",
  ]);
  // The same colour is at the connection in the list.
  await page.getByRole("tab", { name: "TCP" }).click();
  await table(page).getByRole("row").nth(4).waitFor();
  assert.equal(await table(page).locator("tbody .flow").count(), 4);
  const places = (): Promise<string> =>
    page.evaluate(() => {
      // Where the map has the colour of the first flow: a copy, since a canvas that is read often is another one.
      const map = document.querySelector<HTMLCanvasElement>(".mapcanvas canvas");
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [map?.width ?? 1, map?.height ?? 1];
      if (map) canvas.getContext("2d")?.drawImage(map, 0, 0);
      const probe = document.createElement("i");
      probe.style.color = "var(--s0)";
      document.body.append(probe);
      const wanted = (getComputedStyle(probe).color.match(/\d+/g) ?? []).map(Number);
      probe.remove();
      const { data, width } = canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? {
        data: new Uint8ClampedArray(),
        width: 1,
      };
      const columns = new Set<number>();
      for (let at = 0; at < data.length; at += 4)
        if (data[at] === wanted[0] && data[at + 1] === wanted[1] && data[at + 2] === wanted[2])
          columns.add((at / 4) % width);
      return [...columns].join();
    });
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/dots.png` });
  // The sign of the router has this colour, too: other places are those of packets.
  const seen = new Set<string>();
  for (let tries = 0; seen.size < 3; tries += 1) {
    assert.ok(tries < 100, [...seen].join("\n"));
    const found = await places();
    if (found.split(",").length > 30) seen.add(found);
    await page.waitForTimeout(30);
  }
  await done();
}

async function seenPackets(): Promise<void> {
  const played = lab();
  const { page, done } = await open(played);
  await until("seen", () => asks(played, "packets") !== null);
  await hide(page, "hidden");
  await until("hidden", () => asks(played, "packets") === null);
  await hide(page, "visible");
  await until("seen again", () => asks(played, "packets") !== null);
  // On a small map there is no room.
  await page.locator(".mapcanvas").focus();
  for (let turn = 0; turn < 16; turn += 1) await page.keyboard.press("-");
  await until("small", () => asks(played, "packets") === null);
  await page.keyboard.press("0");
  await until("all of the map", () => asks(played, "packets") !== null);
  await command(page, "let nothing move");
  await until("still", () => asks(played, "packets") === null);
  await page.locator(".mapcanvas[data-dots='0']").waitFor();
  await command(page, "show packets that move");
  await until("moving", () => asks(played, "packets") !== null);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await until("reduced motion", () => asks(played, "packets") === null);
  await done();
}

async function flowsOfALink(): Promise<void> {
  const played = lab();
  // Nothing moves for who wants it so: packets are asked for as long as a link is looked at.
  const { page, done } = await open(played, { motion: "reduce" });
  assert.equal(asks(played, "packets"), null);
  await command(page, "show link bottleneck");
  const flows = page.locator(".flows li");
  await flows.nth(3).waitFor();
  assert.deepEqual(asks(played, "packets"), { every_ns: 100e6 });
  assert.deepEqual(
    (await flows.allInnerTexts()).map((text) => text.replace(/\s+/g, " ")),
    [
      "TCP client:40001 → server:5201 forward",
      "TCP client:40002 → server:5201 forward",
      "TCP server:5201 → client:40001 backward",
      "TCP server:5201 → client:40002 backward",
    ],
  );
  assert.equal(await shown(page), 0);
  await accessible(page, "flows of a link");
  // One that has ended is forgotten, the others stay.
  const before = played.packets;
  played.packets = (at) => before(at).filter(({ flow }) => !JSON.stringify(flow).includes("40001"));
  await page.evaluate(() => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + 11_000;
  });
  await page.waitForFunction(() => document.querySelectorAll(".flows li").length === 2);
  await flows.first().getByRole("button").press("Enter");
  await page.getByRole("heading", { name: "client:40002 → server:5201" }).waitFor();
  await until("no link is looked at", () => asks(played, "packets") === null);
  // Of many, some.
  played.packets = (at) =>
    Array.from({ length: 300 }, (_, number) => packet(0, at, 40_000 + number, { protocol: "udp" }));
  await command(page, "show link access");
  await flows.nth(39).waitFor();
  await page.waitForTimeout(500);
  assert.equal(await flows.count(), 40);
  await done();
}

async function standingPackets(): Promise<void> {
  const played = lab();
  played.clock = "virtual";
  const { page, done } = await open(played);
  await page.waitForFunction(() => Number(document.querySelector<HTMLElement>(".mapcanvas")?.dataset.dots) > 3);
  await page.getByRole("button", { name: "‖ pause" }).click();
  await page.getByText("paused, virtual time").waitFor();
  await page.waitForTimeout(1500);
  const frames = (): Promise<string | null> => page.locator(".mapcanvas").getAttribute("data-frames");
  const before = await frames();
  await page.waitForTimeout(600);
  assert.equal(await frames(), before);
  await done();
}

async function manyPackets(): Promise<void> {
  const played = lab();
  played.packets = (at) =>
    Array.from({ length: 4_000 }, (_, number) =>
      packet(number % 4, at + number * 2e4, 40_000 + number, { wait: number % 9 ? 0 : 2e9, travel: 1e9 }),
    );
  const { page, done } = await open(played);
  await page.waitForFunction(() => Number(document.querySelector<HTMLElement>(".mapcanvas")?.dataset.dots) > 3);
  await page.waitForTimeout(1500);
  assert.ok((await shown(page)) <= 1_500, String(await shown(page)));
  await page.getByText("Legend").click();
  await page.getByText(/and [\d,]+ more flows/).waitFor();
  assert.ok((await page.locator(".maplegend li").count()) < 30);
  await done();
}

describe("packets on the map", () => {
  test("move in the colours of their flows, and fall off when they are dropped", movingPackets);
  test("are asked for while they can be seen, and only then", seenPackets);
  test("tell which flows cross a link, and lead to their connections", flowsOfALink);
  test("stand still while virtual time does", standingPackets);
  test("are bounded, however many come", manyPackets);
});

describe("partitions by hand", () => {
  const wishes = (played: Played): unknown[] =>
    played.asked
      .filter(({ request }) => request === "partition" || request === "heal")
      .map(({ id: _, ...rest }) => rest);

  test("part what a lasso is drawn around, in the way that is chosen, until they are healed", async () => {
    const played = lab();
    const { page, done } = await open(played);
    await page.locator(".mapcanvas").focus();
    await page.keyboard.press("l");
    const box = await page.locator(".mapcanvas").boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + 2, box.y + 2);
    await page.mouse.down();
    // The left half: the client, and no more.
    for (const [x, y] of [
      [0.3, 0.01],
      [0.3, 0.99],
      [0.01, 0.99],
      [0.01, 0.01],
    ] as const)
      await page.mouse.move(box.x + box.width * x, box.y + box.height * y, { steps: 4 });
    await page.mouse.up();
    await page.locator(".panel h2", { hasText: "client" }).waitFor();
    const form = page.getByRole("region", { name: "Partition" });
    await form.getByLabel("packets").selectOption("are held");
    await form.getByLabel("packets").selectOption("come later");
    await form.getByLabel("by").fill("300 ms");
    await form.getByLabel("direction").selectOption("only to them");
    await form.getByLabel("for").fill("2 s");
    await accessible(page, "a partition");
    await form.getByRole("button", { name: "Part from the others" }).click();
    await form.getByText("parted by hand: client | all others").waitFor();
    assert.deepEqual(wishes(played), [
      { request: "partition", entry: "{partition: [[client]], direction: to, slow: 300 ms, for: 2 s}" },
    ]);
    await form.getByRole("button", { name: "Heal" }).click();
    await form.getByText("parted by hand").waitFor({ state: "detached" });
    assert.equal(await form.getByRole("button", { name: "Heal" }).count(), 0);
    assert.deepEqual(wishes(played)[1], { request: "heal" });
    // What it did is in the events, and what is wrong is said in the lab's words.
    await form.getByLabel("for").fill("soon");
    await form.getByRole("button", { name: "Part from the others" }).click();
    await page.locator(".toast.error", { hasText: "expected a duration" }).waitFor();
    await page.keyboard.press("3");
    assert.equal(await page.locator(".events li", { hasText: "partition" }).count(), 2);
    await done();
  });

  test("need no form: a key parts the chosen nodes, a command heals", async () => {
    const played = lab();
    const { page, done } = await open(played);
    await command(page, "show node server");
    await page.getByRole("region", { name: "Partition" }).waitFor();
    await page.locator(".mapcanvas").focus();
    await page.keyboard.press("p");
    await until("parted", () => wishes(played).length === 1);
    assert.deepEqual(wishes(played), [{ request: "partition", entry: "{partition: [[server]]}" }]);
    await page.getByText("parted by hand: server | all others").waitFor();
    await command(page, "heal partitions made by hand");
    await until("healed", () => wishes(played).length === 2);
    await done();
  });

  test("are not offered to those who only look", async () => {
    const { page, done } = await open(lab(), { role: "look" });
    await command(page, "show node client");
    await page.getByRole("heading", { name: "Interfaces" }).waitFor();
    assert.equal(await page.getByRole("region", { name: "Partition" }).count(), 0);
    await done();
  });
});

if (process.env.SHOTS)
  test("pictures to look at", async () => {
    for (const theme of ["light", "dark"] as const)
      for (const width of (process.env.WIDTHS ?? "400,1280,2560").split(",").map(Number)) {
        const { page, done } = await open(lab(), { theme, width });
        await page.getByRole("tab", { name: "TCP" }).click();
        if (width > 400) await page.getByText("Legend").click();
        await page.waitForTimeout(6000);
        await page.screenshot({ path: `${process.env.SHOTS}/tcp-${width}-${theme}.png`, fullPage: width === 400 });
        await page.keyboard.press("Control+k");
        await page.keyboard.type("show node client");
        await page.keyboard.press("Enter");
        await page.waitForTimeout(4000);
        await page.screenshot({ path: `${process.env.SHOTS}/node-${width}-${theme}.png`, fullPage: width === 400 });
        await done();
      }
  });
