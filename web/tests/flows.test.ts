// What a person does with `netloom ui`, from the page to the lab and back: time, captures, pictures, networks made and brought over, roles, servers that die, files that several write.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { NETLOOM } from "./fixtures";
import { accessible, launch, place as made, type Seen, type Served, serve, visit, type Wish } from "./real";

const WATCHED = `name: watched
nodes: {client: {}, router: {kind: router}, server: {}}
links:
  access: {ends: [client, router], rate: 100 Mbit/s, delay: 1 ms}
  bottleneck: {ends: [router, server], rate: 2 Mbit/s, delay: 5 ms, queue: 20 packets}
layout: {client: [0, 0], router: [1, 0], server: [2, 0]}
`;
const VIRTUAL = `name: stepped
nodes: {a: {}, b: {}}
links: {l: {ends: [a, b], rate: 1 Mbit/s, delay: 10 ms}}
timeline:
  - {on: a, run: ping -i 0.1 b}
`;
const PLAYED = `name: played
nodes: {client: {}, r: {kind: router}, server: {}}
links:
  access: {ends: [client, r], rate: 100 Mbit/s, delay: 4 ms}
  bottleneck: {ends: [r, server], rate: 10 Mbit/s, delay: 10 ms, queue: 10 packets}
layout: {client: [0, 0], r: [1, 0], server: [2, 0]}
traffic:
  - {kind: window, from: client, to: server, window: 64 kB, amount: 200 kB}
journal: all
`;
const SHARED = `name: shared\nnodes:\n  one: {}\n  two: {}\nlinks:\n  l: {ends: [one, two], delay: 1 ms}\n`;

const WEB = dirname(dirname(dirname(createRequire(import.meta.url).resolve("vite/package.json"))));

let place: ReturnType<typeof made>;
let browser: Browser;
let server: Served;

before(async () => {
  place = made({ "watched.yaml": WATCHED, "stepped.yaml": VIRTUAL, "played.yaml": PLAYED, "shared.yaml": SHARED });
  place.call("up", "watched.yaml");
  // It ends with the lab.
  spawn(NETLOOM, ["exec", "watched", "client", "--", "ping", "-q", "-i", "0.02", "-s", "1000", "server"], {
    env: place.environment,
    stdio: "ignore",
  });
  place.call("up", "stepped.yaml", "--clock", "virtual");
  place.call("sim", "played.yaml", "--for", "1s");
  server = await serve(place);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.end();
  place?.done();
});

const open = (hash: string, wish: Wish = {}): Promise<Seen> => visit(browser, server.addresses[0] ?? "", hash, wish);
const ready = (page: Page): Promise<void> => page.locator(".mapcanvas[data-nodes]:not([data-nodes='0'])").waitFor();
const file = (name: string): string => join(place.path, "labs", name);
const command = async (page: Page, words: string): Promise<void> => {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
};
test("packets of a link are captured as a file and by the command for Wireshark", async () => {
  const { page, faults } = await open("#/lab/watched");
  await ready(page);
  await command(page, "show link bottleneck");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download until stopped" }).click(),
  ]);
  await page.getByRole("button", { name: "Copy command for Wireshark" }).click();
  const words = (await page.locator(".panel pre").textContent()) ?? "";
  assert.match(words, /^netloom capture watched bottleneck \| wireshark -k -i -$/);
  // What Wireshark would get from it: the head of pcapng and packets.
  const live = spawnSync(
    "sh",
    ["-c", `timeout 2 "$NETLOOM" ${words.replace(/^netloom /, "").replace(/\|.*/, "| head -c 1500")}`],
    { env: { ...place.environment, NETLOOM } },
  );
  assert.equal(live.stdout.readUInt32BE(0), 0x0a0d0d0a);
  assert.ok(live.stdout.length >= 1500, `${live.stdout.length} bytes, ${String(live.stderr)}`);
  // The download grows until it is stopped, here by the browser.
  assert.match(download.suggestedFilename(), /bottleneck.*\.pcapng$/);
  await download.cancel();
  assert.deepEqual(faults, []);
  await page.close();
});

test("a real connection has curves, and its packets move on the map and are dropped", async () => {
  const inside = (node: string, ...words: string[]) =>
    spawn(NETLOOM, ["exec", "watched", node, "--", ...words], { env: place.environment, stdio: "ignore" });
  const programs = [
    inside("server", "iperf3", "-s"),
    inside("client", "sh", "-c", "until iperf3 -c server -t 120; do sleep 0.2; done"),
  ];
  try {
    const { page, faults } = await open("#/lab/watched", { motion: "no-preference" });
    await ready(page);
    await command(page, "show node client");
    const table = page.getByRole("region", { name: "TCP connections" });
    // The one that carries the data, and what the bottleneck of 2 Mbit/s lets through.
    const row = table.getByRole("row", { name: /server:5201.*[1-9]\S* [kM]bit\/s/ });
    await row.first().waitFor();
    // Curves begin when they are looked at.
    for (const [place, words] of [
      [0, /[1-9]\d* packets/],
      [1, /[1-9]\S* ms/],
    ] as const) {
      const plot = page.locator(".tcp .liveplot").nth(place);
      await plot.scrollIntoViewIfNeeded();
      await plot.locator("canvas").waitFor();
      await plot.locator("output", { hasText: words }).first().waitFor();
    }
    // Packets of it are on their way, in its colour, and some do not fit into the queue of 20 packets.
    await page.waitForFunction(() => {
      const map = document.querySelector<HTMLElement>(".mapcanvas")?.dataset;
      return Number(map?.dots) > 3 && Number(map?.fell) > 0;
    });
    await row.locator(".flow").first().waitFor();
    await page.getByText("Legend").click();
    await page
      .locator(".maplegend li", { hasText: /TCP .*:5201/ })
      .first()
      .waitFor();
    await accessible(page, "a node with a real connection");
    await page.keyboard.press("5");
    await table
      .getByRole("button", { name: /^server:5201 → client:/ })
      .first()
      .click();
    await page.getByRole("heading", { name: /^server:5201 → client:/ }).waitFor();
    assert.deepEqual(faults, []);
    await page.close();
  } finally {
    programs.forEach((program) => {
      program.kill();
    });
  }
});

test("a slider acts on the lab at once", async () => {
  const { page, faults } = await open("#/lab/watched");
  await ready(page);
  await command(page, "show link bottleneck");
  await page.getByLabel("rate by a slider").waitFor();
  // From the movement to the lab's answer, which comes when its pipes have changed.
  const spans = await page.evaluate(async () => {
    const slider = document.querySelector<HTMLInputElement>("[aria-label='rate by a slider']");
    if (!slider) return [];
    let answered: (at: number) => void = () => undefined;
    const [send, heard, asked] = [WebSocket.prototype.send, new WeakSet<WebSocket>(), new Set<unknown>()];
    WebSocket.prototype.send = function (data) {
      const said = JSON.parse(String(data)) as { id: unknown; request: string };
      if (said.request === "set") asked.add(said.id);
      if (!heard.has(this))
        this.addEventListener("message", (event: MessageEvent) => {
          const reply = JSON.parse(String(event.data)) as { id: unknown; reply?: string };
          if (reply.reply === "done" && asked.delete(reply.id)) answered(performance.now());
        });
      heard.add(this);
      send.call(this, data);
    };
    const all: number[] = [];
    for (let turn = 0; turn < 20; turn++) {
      const end = new Promise<number>((done) => {
        answered = done;
      });
      const begin = performance.now();
      slider.value = String(turn % 2 ? 0.4 : 0.45);
      slider.dispatchEvent(new Event("input"));
      all.push((await end) - begin);
      await new Promise((done) => setTimeout(done, 60));
    }
    WebSocket.prototype.send = send;
    return all.sort((a, b) => a - b);
  });
  console.log(
    `from a slider to the changed link: ${spans[0]?.toFixed(1)} ms at least, ${spans[10]?.toFixed(1)} ms mostly, ${spans[19]?.toFixed(1)} ms at most`,
  );
  assert.ok(spans.length === 20 && (spans[10] ?? 1e9) < 5_000, String(spans));
  const { pipes } = JSON.parse(place.call("stats", "watched", "--json", "--once").split("\n")[0] ?? "{}") as {
    pipes: { link: string; rate_bits_per_second: number }[];
  };
  assert.ok(
    pipes.some(({ link, rate_bits_per_second }) => link === "bottleneck" && rate_bits_per_second === 2_500_000),
    JSON.stringify(pipes),
  );
  assert.deepEqual(faults, []);
  place.call("set", "watched", "bottleneck", "rate=2 Mbit/s");
  await page.close();
});

test("virtual time goes on in steps, by buttons and by keys, and stands still in between", async () => {
  const { page, faults } = await open("#/lab/stepped");
  await ready(page);
  await page.getByText("paused, virtual time").waitFor();
  const time = async (): Promise<number> => parseFloat((await page.getByLabel("lab time").textContent()) ?? "");
  assert.equal(await time(), 0);
  await page.getByRole("button", { name: "advance by 100 ms" }).click();
  await page.waitForFunction(() => document.querySelector(".time")?.textContent === "0.1 s");
  await page.getByRole("button", { name: "advance by 1 s" }).click();
  await page.waitForFunction(() => document.querySelector(".time")?.textContent === "1.1 s");
  await command(page, "advance time by 10 s");
  await page.waitForFunction(() => document.querySelector(".time")?.textContent === "11.1 s");
  await page.waitForTimeout(300);
  assert.equal(await time(), 11.1);
  await page.locator("h1").click();
  await page.keyboard.press(" ");
  await page.waitForFunction(() => parseFloat(document.querySelector(".time")?.textContent ?? "") > 12);
  await page.getByText("virtual time", { exact: true }).waitFor();
  await page.keyboard.press(" ");
  await page.getByText("paused, virtual time").waitFor();
  const [stands] = [await time(), await page.waitForTimeout(300)];
  assert.equal(await time(), stands);
  // The lab says the same.
  const now = JSON.parse(place.call("stats", "stepped", "--json", "--once").split("\n")[0] ?? "{}") as {
    since_zero_ns?: number;
    at_ns: number;
  };
  assert.ok(Math.abs((now.since_zero_ns ?? now.at_ns) / 1e9 - stands) < 0.02, JSON.stringify(now).slice(0, 300));
  // What is on its way at an instant stands at its place, and moves with time alone.
  const motion = await open("#/lab/stepped", { motion: "no-preference" });
  const pings = spawn(NETLOOM, ["exec", "stepped", "a", "--", "ping", "-i", "0.02", "-c", "500", "b"], {
    env: place.environment,
    stdio: "ignore",
  });
  await ready(motion.page);
  for (
    let step = 0;
    (await motion.page.locator(".mapcanvas").getAttribute("data-dots").then(Number)) === 0;
    step += 1
  ) {
    assert.ok(step < 20, "packets that are on their way");
    await motion.page.getByRole("button", { name: "advance by 100 ms" }).click();
    await motion.page.waitForTimeout(700);
  }
  const frames = (): Promise<string | null> => motion.page.locator(".mapcanvas").getAttribute("data-frames");
  // A slow machine draws a little longer.
  let before: string | null = null;
  for (let look = 0; (await frames()) !== before; look += 1) {
    assert.ok(look < 20, "nothing moves while time stands still");
    before = await frames();
    await motion.page.waitForTimeout(500);
  }
  pings.kill();
  assert.deepEqual(motion.faults, []);
  await motion.page.close();
  assert.deepEqual(faults, []);
  await page.close();
});

test("a node is stopped and started", async () => {
  const { page, faults } = await open("#/lab/watched");
  await ready(page);
  await command(page, "show node server");
  const state = (): string | undefined => {
    const labs = JSON.parse(place.call("ps", "--json")) as { name: string; nodes: { name: string; state: string }[] }[];
    return labs.find(({ name }) => name === "watched")?.nodes.find(({ name }) => name === "server")?.state;
  };
  await page.getByRole("button", { name: "Stop the node" }).click();
  await page.locator(".panel .badge", { hasText: "stopped" }).waitFor();
  assert.equal(state(), "stopped");
  await page.getByRole("button", { name: "Start the node" }).click();
  await page.getByRole("button", { name: "Stop the node" }).waitFor();
  assert.equal(state(), "running");
  assert.deepEqual(faults, []);
  await page.close();
});

test("a network is generated, a foreign one brought in, and a lab given to another tool", async () => {
  const { page, faults } = await open("#/edit/shared.yaml");
  await ready(page);
  await command(page, "generate a network");
  await page.locator("dialog.sheet").waitFor();
  await accessible(page, "the dialog of generators");
  await page.locator("dialog.sheet select").selectOption("ring");
  await page.locator("dialog.sheet input").first().fill("5");
  await page.getByRole("button", { name: "Make", exact: true }).click();
  await page.locator("h1", { hasText: "ring.yaml" }).waitFor();
  await page.locator(".mapcanvas[data-nodes]").waitFor();
  await page.locator(".badge", { hasText: "valid" }).waitFor();
  assert.match(readFileSync(file("ring.yaml"), "utf8"), /ring/);
  const chooser = page.waitForEvent("filechooser");
  await command(page, "import a file");
  await (await chooser).setFiles(join(WEB, "../crates/import/tests/files/dumbbell.tcl"));
  await page.locator("h1", { hasText: "dumbbell.yaml" }).waitFor();
  await page.locator(".mapcanvas[data-nodes]:not([data-nodes='0'])").waitFor();
  await page.locator(".badge", { hasText: "valid" }).waitFor();
  // What is no network is refused in words.
  const again = page.waitForEvent("filechooser");
  await command(page, "import a file");
  await (await again).setFiles({
    name: "nothing.gml",
    mimeType: "text/plain",
    buffer: Buffer.from("graph [ node [ id"),
  });
  await page.locator(".toast.error").first().waitFor();
  await command(page, "export for another");
  await page.locator("dialog.sheet").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("dialog.sheet").getByRole("button", { name: "graphml" }).click(),
  ]);
  assert.match(readFileSync(await download.path(), "utf8"), /<graphml/);
  assert.deepEqual(
    faults.filter((fault) => !fault.includes("422")),
    [],
  );
  await page.close();
});

async function takenAlong(): Promise<void> {
  const { page, faults } = await open("#/");
  await page.getByRole("link", { name: "played", exact: true }).click();
  await page.locator(".mapcanvas[data-shown]").waitFor();
  await page.getByRole("slider", { name: "speed" }).fill("19");
  await page.getByRole("button", { name: "● Video" }).click();
  await page.waitForTimeout(1200);
  const [video] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "■ Stop" }).click(),
  ]);
  const bytes = readFileSync(await video.path());
  assert.equal(bytes.readUInt32BE(0), 0x1a45dfa3, "WebM");
  // It can be played, has the size of the map, and is not all of one colour.
  const seen = await page.evaluate(async (text) => {
    const film = document.createElement("video");
    film.src = URL.createObjectURL(
      new Blob([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], { type: "video/webm" }),
    );
    film.muted = true;
    await new Promise((done, failed) => {
      film.onloadeddata = done;
      film.onerror = () => failed(new Error(film.error?.message));
    });
    await film.play();
    await new Promise((done) => {
      const wait = (): void => void (film.currentTime > 0.4 || film.ended ? done(null) : setTimeout(wait, 20));
      wait();
    });
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [film.videoWidth, film.videoHeight];
    const pen = canvas.getContext("2d");
    pen?.drawImage(film, 0, 0);
    const colours = new Set(
      new Uint32Array(pen?.getImageData(0, 0, canvas.width, canvas.height).data.buffer ?? new ArrayBuffer(0)),
    );
    return { width: film.videoWidth, colours: colours.size };
  }, bytes.toString("base64"));
  assert.ok(seen.width > 300 && seen.colours > 10, JSON.stringify(seen));
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("slider", { name: /time of the replay/ }).focus();
  await page.keyboard.press("Home");
  const [svg] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "save a span as moving SVG" }).click(),
  ]);
  const picture = readFileSync(await svg.path(), "utf8");
  assert.ok((picture.match(/<animateTransform/g) ?? []).length > 5 && !/NaN|undefined|<script/.test(picture));
  // It moves by itself.
  const own = await browser.newPage();
  await own.setContent(picture.replace(/^<\?xml[^>]*>/, ""));
  const places = (): Promise<string> =>
    own.evaluate(() =>
      [...document.querySelectorAll("g[opacity] > g")].map((one) => one.getBoundingClientRect().x.toFixed(0)).join(),
    );
  const [first] = [await places(), await own.waitForTimeout(700)];
  assert.notEqual(await places(), first);
  await own.close();
  assert.deepEqual(faults, []);
  await page.close();
}

async function damagedJournal(): Promise<void> {
  writeFileSync(file("torn.yaml"), PLAYED.replace("name: played", "name: torn"));
  place.call("sim", "torn.yaml", "--for", "1s");
  const folder = join(place.path, "labs/results/torn");
  const run = join(folder, readdirSync(folder).find((name) => name !== "latest") ?? "");
  const journal = join(run, readdirSync(run).find((name) => name.startsWith("journal")) ?? "");
  const whole = readFileSync(journal);
  truncateSync(journal, Math.floor(whole.length * 0.7));
  const bytes = readFileSync(journal);
  bytes.fill(0xff, Math.floor(bytes.length * 0.9));
  writeFileSync(journal, bytes);
  const { page, faults } = await open("#/", { allow: /4\d\d|5\d\d/ });
  await page.getByRole("link", { name: "torn", exact: true }).click();
  await page
    .getByText(/damaged|cut off|no packets|cannot/i)
    .first()
    .waitFor();
  await accessible(page, "a damaged journal");
  // A folder that goes away while it is looked at.
  rmSync(run, { recursive: true });
  await page.goto(page.url().replace(/#.*/, "#/"));
  await page.locator("h1").waitFor();
  assert.deepEqual(faults, []);
  await page.close();
}

describe("a replay", () => {
  test("is taken along as a video and as a picture that moves", takenAlong);
  test("of a journal that is damaged shows what is before the damage", damagedJournal);
});

test("two people write one file, and others write it on disk: nothing is lost", async () => {
  const [one, two] = [
    await open("#/edit/shared.yaml", { allow: /412/ }),
    await open("#/edit/shared.yaml", { allow: /412/ }),
  ];
  for (const { page } of [one, two]) await page.locator(".cm-content", { hasText: "name: shared" }).waitFor();
  const shown = (seen: Seen, text: string): Promise<void> =>
    seen.page.locator(".cm-content", { hasText: text }).waitFor();
  const atEnd = async (seen: Seen, text: string): Promise<void> => {
    await seen.page.locator(".cm-content").click();
    await seen.page.keyboard.press("Control+End");
    await seen.page.keyboard.type(text);
  };
  const atBegin = async (seen: Seen, text: string): Promise<void> => {
    await seen.page.locator(".cm-content").click();
    await seen.page.keyboard.press("Control+Home");
    await seen.page.keyboard.type(text);
  };
  const save = async (seen: Seen): Promise<void> => {
    await seen.page.keyboard.press("Control+s");
    await seen.page.locator(".badge", { hasText: "not saved" }).waitFor({ state: "detached" });
  };
  // Each at another place: the second one has both before it saves.
  await atEnd(two, "# the second\n");
  await atBegin(one, "# the first\n");
  await save(one);
  await shown(two, "# the first");
  await shown(two, "# the second");
  await save(two);
  await shown(one, "# the second");
  const both = readFileSync(file("shared.yaml"), "utf8");
  assert.ok(both.startsWith("# the first\nname: shared") && both.trimEnd().endsWith("# the second"), both);
  // Both at the same place: both stand in the text, between marks, and nothing is written until somebody has looked.
  await atBegin(two, "# theirs\n");
  await atBegin(one, "# mine\n");
  await save(one);
  await two.page.locator(".toast.error", { hasText: "between marks" }).waitFor();
  const marked = await two.page.locator(".cm-content").innerText();
  assert.ok(marked.includes("# mine") && marked.includes("# theirs") && />>> changed here/.test(marked), marked);
  assert.ok(!readFileSync(file("shared.yaml"), "utf8").includes(">>> changed"));
  // On disk, by another program: who has nothing of his own just sees it.
  writeFileSync(file("shared.yaml"), `${readFileSync(file("shared.yaml"), "utf8")}# by an editor\n`);
  await shown(one, "# by an editor");
  assert.equal(await one.page.locator(".badge", { hasText: "not saved" }).count(), 0);
  rmSync(file("shared.yaml"));
  await one.page.locator(".toast.error", { hasText: "removed from disk" }).waitFor();
  await shown(one, "# by an editor");
  for (const { page, faults } of [one, two]) {
    assert.deepEqual(faults, []);
    await page.close({ runBeforeUnload: false });
  }
});

test("a page whose server is killed goes on with the next one, and a lab that ends says so", async () => {
  const first = await serve(place);
  const port = new URL(first.addresses[0] ?? "").port;
  const { page } = await visit(browser, first.addresses[0] ?? "", "#/lab/watched");
  await ready(page);
  await page.getByText("kbit/s").or(page.getByText("Mbit/s")).first().waitFor();
  const time = async (): Promise<number> => parseFloat((await page.getByLabel("lab time").textContent()) ?? "");
  await first.end("SIGKILL");
  await page.getByRole("alert").getByText("connection to netloom ui was lost").waitFor();
  await accessible(page, "without a server");
  const stands = await time();
  assert.ok((await page.locator(".figures tbody tr").count()) > 0, "what was there stays");
  const second = await serve(place, ["--port", port]);
  // Another server has another token: the page says what to do.
  await page.getByRole("alert").getByText("another token").waitFor();
  const door = await page.context().newPage();
  await door.goto(second.addresses[0] ?? "");
  await page.getByRole("alert").waitFor({ state: "detached" });
  await page.waitForFunction(
    (was) => parseFloat(document.querySelector(".time")?.textContent ?? "") > was + 0.5,
    stands,
  );
  // The lab ends by another hand.
  spawnSync(NETLOOM, ["down", "watched"], { env: place.environment, stdio: "ignore" });
  await page.getByText("This lab has ended").waitFor();
  assert.ok((await page.locator(".figures tbody tr").count()) > 0);
  await page.close();
  await second.end();
});
