// What goes wrong, or is meant to: programs that flood a terminal, markup in everything a lab and its results say, results that are damaged or go away, a disk that is full, files that
// are removed or cannot be written, a page that is gone from and come back to.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { HOSTILE, NETLOOM } from "./fixtures";
import { accessible, launch, place as made, type Seen, type Served, serve, visit, type Wish } from "./real";

/** 27 letters that do something, if anything does; and names of the same length, which a lab file may have. */
const EVIL = "<img src=x onerror=pwned=1>";
const NODE = "n".padEnd(EVIL.length, "o");
const LINK = "l".padEnd(EVIL.length, "i");
const COMMAND = "c".padEnd(EVIL.length, "m");

const FLOODED = `name: flooded
nodes: {client: {}, server: {}}
links:
  access: {ends: [client, server], rate: 10 Mbit/s, delay: 5 ms}
`;
const SAYING = `name: saying
nodes: {${NODE}: {}, b: {}}
links:
  ${LINK}: {ends: [${NODE}, b], rate: 10 Mbit/s, delay: 1 ms, queue: 5 packets}
timeline:
  - {on: b, run: iperf3 -s, service: true, ready: {tcp: 5201}}
  - on: ${NODE}
    as: ${COMMAND}
    run: ["echo", ${JSON.stringify(HOSTILE)}]
  - {at: 100 ms, on: ${NODE}, run: iperf3 -c b -n 200k, as: flow}
  - on: b
    as: lines
    run: ["sh", "-c", "for i in 1 2 3 4 5; do echo line $i; done; sleep 1000"]
    service: true
expect:
  - flow.exit == 0
figures:
  goodput: flow.goodput
measure: {tcp: 50 ms}
journal: all
duration: 300 s
exercise:
  title: ${JSON.stringify(HOSTILE)}
  text: ${JSON.stringify(HOSTILE)}
  tasks:
    - title: ${JSON.stringify(HOSTILE)}
      text: ${JSON.stringify(HOSTILE)}
      check: ${LINK}.forward.throughput > 9 Gbit/s
      last: 1 s
      hints: [${JSON.stringify(HOSTILE)}]
`;
const TEXT = `name: kept
nodes:
  a: {}
  b: {}
links:
  l: {ends: [a, b], delay: 1 ms}
`;

let place: ReturnType<typeof made>;
let browser: Browser;
let server: Served;

before(async () => {
  place = made({ "flooded.yaml": FLOODED, "saying.yaml": SAYING, "kept.yaml": TEXT });
  place.call("up", "flooded.yaml");
  // It ends with the lab.
  spawn(NETLOOM, ["exec", "flooded", "client", "--", "ping", "-q", "-i", "0.02", "server"], {
    env: place.environment,
    stdio: "ignore",
  });
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
const command = async (page: Page, words: string): Promise<void> => {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
};
const file = (name: string): string => join(place.path, "labs", name);
const innocent = async (page: Page, what: string): Promise<void> => {
  assert.equal(await page.evaluate(() => (window as { pwned?: number }).pwned), undefined, what);
  assert.equal(await page.locator("#app img, #app iframe, #app object, #app script").count(), 0, what);
};
const megabytes = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid ?? 0}/status`, "utf8"))?.[1]) / 1024;

test("a program that writes as fast as it can costs no memory, and neither the page nor the links", async () => {
  const { page, faults } = await open("#/lab/flooded");
  await ready(page);
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable");
  const heap = async (): Promise<number> => {
    await client.send("HeapProfiler.collectGarbage");
    return (
      ((await client.send("Performance.getMetrics")).metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ??
        NaN) / 1e6
    );
  };
  const carried = (): number =>
    (
      JSON.parse(place.call("stats", "flooded", "--json", "--once").split("\n")[0] ?? "{}") as {
        pipes: { departed_packets: number }[];
      }
    ).pipes.reduce((sum, pipe) => sum + pipe.departed_packets, 0);
  const bytes = (): Promise<number> =>
    page.evaluate(() => Number(document.querySelector<HTMLElement>(".terminal")?.dataset.bytes));
  await command(page, "terminal on client");
  await page.locator(".terminal[data-bytes]").waitFor();
  const [quietly, quietBegan] = [carried(), Date.now()];
  await page.waitForTimeout(1500);
  const quiet = (carried() - quietly) / (Date.now() - quietBegan);
  // Without line ends, which xterm.js is slowest with, and with them.
  await page.keyboard.type("head -c 1G /dev/zero | tr '\\0' x | fold -w 4000\n");
  await page.waitForFunction(() => Number(document.querySelector<HTMLElement>(".terminal")?.dataset.bytes) > 3_000_000);
  const [early, resident, first, packets, began] = [
    await heap(),
    megabytes(server.process.pid),
    await bytes(),
    carried(),
    Date.now(),
  ];
  const answers: number[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    await page.waitForTimeout(500);
    const tab = turn % 2 === 0 ? "Events" : "Overview";
    const pressed = Date.now();
    await page.getByRole("tab", { name: tab }).click();
    await page.locator(`[role=tab][aria-selected=true]`, { hasText: tab }).waitFor();
    answers.push(Date.now() - pressed);
  }
  const seconds = (Date.now() - began) / 1000;
  const [last, loud, late, residentLate] = [
    await bytes(),
    (carried() - packets) / (Date.now() - began),
    await heap(),
    megabytes(server.process.pid),
  ];
  await page.locator(".terminal .xterm-helper-textarea").focus();
  const stop = Date.now();
  await page.keyboard.press("Control+c");
  await page.keyboard.type("\necho the end $((1 + 1))\n");
  await page.waitForFunction(() => /the end 2/.test(document.querySelector(".xterm-rows")?.textContent ?? ""));
  answers.sort((a, b) => a - b);
  console.log(
    `a flood: ${((last - first) / seconds / 1e6).toFixed(1)} MB/s taken; a press answered within ${answers[0]} to ${answers[5]} ms; the page ${early.toFixed(1)} MB, then ${late.toFixed(1)} MB; the server ${resident.toFixed(0)} MB, then ${residentLate.toFixed(0)} MB; the links ${(loud * 1000).toFixed(0)} packets/s beside ${(quiet * 1000).toFixed(0)}; Ctrl-C after ${Date.now() - stop} ms`,
  );
  assert.ok(last - first > 1_000_000, "it goes on meanwhile");
  assert.ok(late < early + 20 && residentLate < resident + 20, "memory");
  assert.ok(loud > quiet * 0.5, `${loud} beside ${quiet} packets`);
  // 1 s on a machine that has nothing else to do.
  assert.ok((answers[3] ?? 1e9) < 5_000, String(answers));
  assert.deepEqual(faults, []);
  await page.close();
});

async function markupInARun(): Promise<void> {
  copyFileSync(file("saying.yaml"), file(`${EVIL}.yaml`));
  const job = spawn(NETLOOM, ["run", "saying.yaml"], {
    env: place.environment,
    cwd: join(place.path, "labs"),
    stdio: "ignore",
  });
  const ended = new Promise((done) => job.on("exit", done));
  const { page, faults } = await open("#/");
  await page.getByRole("link", { name: `${EVIL}.yaml`, exact: true }).waitFor();
  await page.locator(".card", { hasText: "saying" }).waitFor();
  await innocent(page, "the front page");
  await page.getByRole("link", { name: "saying", exact: true }).first().click();
  await ready(page);
  await page.getByRole("tab", { name: "Logs" }).click();
  await page.locator(".log", { hasText: HOSTILE }).waitFor();
  await page.getByRole("tab", { name: "Tasks" }).click();
  await page.locator(".panel h2", { hasText: HOSTILE }).waitFor();
  await page.getByRole("button", { name: "a hint for task 1" }).click();
  await page.locator(".hint", { hasText: HOSTILE }).waitFor();
  await page.getByRole("tab", { name: "Events" }).click();
  await page.locator(".events li").first().waitFor();
  await innocent(page, "a lab");
  await page.goto(page.url().replace(/#.*/, `#/edit/${encodeURIComponent(`${EVIL}.yaml`)}`));
  await page.locator("h1", { hasText: EVIL }).waitFor();
  await page.locator(".badge", { hasText: "valid" }).waitFor();
  await innocent(page, "the editor");
  await once();
  spawnSync(NETLOOM, ["down", "saying"], { env: place.environment, stdio: "ignore" });
  await ended;
  assert.deepEqual(faults, []);
  await page.close();
}

/** What programs said comes once, also after the server was away. */
async function once(): Promise<void> {
  const first = await serve(place);
  const { page } = await visit(browser, first.addresses[0] ?? "", "#/lab/saying", { allow: /./ });
  await ready(page);
  await page.getByRole("tab", { name: "Logs" }).click();
  const lines = async (): Promise<number> =>
    ((await page.locator(".log").textContent()) ?? "").split("line 3").length - 1;
  const whole = (): Promise<unknown> =>
    page.waitForFunction(() => /line 5/.test(document.querySelector(".log")?.textContent ?? ""));
  await whole();
  assert.equal(await lines(), 1);
  await first.end("SIGKILL");
  await page.getByRole("alert").waitFor();
  const second = await serve(place, ["--port", new URL(first.addresses[0] ?? "").port]);
  const door = await page.context().newPage();
  await door.goto(second.addresses[0] ?? "");
  await page.getByRole("alert").waitFor({ state: "detached" });
  await page.locator(".badge.good", { hasText: "up" }).waitFor();
  await page.waitForTimeout(500);
  await whole();
  assert.equal(await lines(), 1);
  await page.close();
  await second.end();
}

async function markupInResults(): Promise<void> {
  // What is left of the run, with names in it that no lab file can have.
  const runs = join(place.path, "labs/results/saying");
  const name = readdirSync(runs).find((one) => one !== "latest") ?? "";
  const run = join(runs, name);
  const changed = (folder: string): void =>
    readdirSync(folder, { withFileTypes: true }).forEach((one) => {
      const path = join(folder, one.name);
      if (one.isDirectory()) changed(path);
      else {
        const text = readFileSync(path).toString("latin1");
        const evil = text
          .replaceAll(NODE, EVIL)
          .replaceAll(LINK, EVIL)
          .replaceAll(COMMAND, EVIL)
          .replaceAll('"saying"', JSON.stringify(EVIL));
        if (evil !== text) writeFileSync(path, Buffer.from(evil, "latin1"));
        renameSync(
          path,
          join(folder, one.name.replaceAll(NODE, EVIL).replaceAll(LINK, EVIL).replaceAll(COMMAND, EVIL)),
        );
      }
    });
  changed(run);
  mkdirSync(join(place.path, "labs/results", EVIL));
  renameSync(run, join(place.path, "labs/results", EVIL, name));
  const { page, faults } = await open("#/", { allow: /40[04]|422/ });
  await page.getByRole("link", { name: EVIL, exact: true }).click();
  await page.locator("h1").waitFor();
  await page.locator(".mapcanvas[data-shown]").waitFor();
  for (const key of ["Home", ".", ".", "End", ","]) await page.keyboard.press(key);
  await page.waitForTimeout(300);
  assert.ok((await page.locator("#main").innerText()).includes(EVIL));
  await innocent(page, "the replay");
  await accessible(page, "the replay");
  await page.keyboard.press("Control+k");
  await page.locator("dialog[open] li").first().waitFor();
  await innocent(page, "the list of commands");
  assert.deepEqual(faults, []);
  await page.close();
}

describe("markup", () => {
  test("in a lab that runs is shown as it is written: names of files, outputs, tasks, what happened", markupInARun);
  test("in results, whoever has written it there, is shown as it is written", markupInResults);
});

async function tornResults(): Promise<void> {
  writeFileSync(
    file("torn.yaml"),
    `name: torn\nnodes: {a: {}, b: {}}\nlinks: {l: {ends: [a, b], rate: 1 Mbit/s, delay: 10 ms}}\ntraffic:\n  - {kind: window, from: a, to: b, window: 64 kB, amount: 200 kB}\njournal: all\n`,
  );
  place.call("sim", "torn.yaml", "--for", "2s");
  const runs = join(place.path, "labs/results/torn");
  const run = join(runs, readdirSync(runs).find((name) => name !== "latest") ?? "");
  const { page, faults } = await open("#/", { allow: /40[049]|5\d\d/ });
  await page.getByRole("link", { name: "torn", exact: true }).click();
  await page.locator(".mapcanvas[data-shown]").waitFor();
  const at = async (): Promise<number> => Number(await page.locator(".mapcanvas").getAttribute("data-at"));
  const play = async (): Promise<void> => {
    const was = await at();
    await page.keyboard.press(".");
    await page.waitForFunction(
      (before) => Number(document.querySelector<HTMLElement>(".mapcanvas")?.dataset.at) > before,
      was,
    );
  };
  await page.locator(".strip-time").focus();
  await play();
  const journal = join(run, readdirSync(run).find((name) => name.startsWith("journal")) ?? "");
  truncateSync(journal, Math.floor(readFileSync(journal).length / 2));
  await play();
  rmSync(run, { recursive: true });
  await play();
  await page.keyboard.press("End");
  await page.waitForTimeout(300);
  await innocent(page, "a folder that is gone");
  // The list loses it; who asks for it is told.
  const address = page.url();
  await page.goto(address.replace(/#.*/, "#/"));
  await page.getByRole("link", { name: "torn", exact: true }).waitFor({ state: "detached" });
  await page.goto(address);
  await page
    .getByText(/there are no results/)
    .first()
    .waitFor();
  await accessible(page, "results that are gone");
  assert.deepEqual(faults, []);
  await page.close();
}

async function halfResults(): Promise<void> {
  const folder = join(place.path, "labs/results/half");
  for (const [name, files] of Object.entries({
    "20260101T000000-0000": { "report.json": '{"lab": "half", "pipes": [{"link"' },
    "20260101T000001-0000": {},
    "20260101T000002-0000": {
      "report.json": "[]",
      "plan.json": "\0\0",
      "samples.csv": '\u00ff,"\n',
      "events.jsonl": "{\n",
    },
  })) {
    mkdirSync(join(folder, name), { recursive: true });
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, name, path), text);
  }
  const { page, faults } = await open("#/", { allow: /40[049]|422|5\d\d/ });
  for (const name of readdirSync(folder)) {
    await page.goto(`${page.url().replace(/#.*/, "")}#/replay/${encodeURIComponent(`half:${name}`)}`);
    await page.locator("#main .error, #main .note, #main .none, #main h1").first().waitFor();
    await page.waitForTimeout(200);
    const says = await page.locator("#main").innerText();
    assert.doesNotMatch(says, /undefined|NaN|\[object|TypeError/);
  }
  assert.deepEqual(faults, []);
  await page.close();
}

describe("results", () => {
  test("whose journal is cut off while it is played, and whose folder goes away, leave what was there", tornResults);
  test("that are half written or no results at all are told from whole ones", halfResults);
});

const append = async (page: Page, text: string): Promise<void> => {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(text);
};

async function keptFile(): Promise<void> {
  const { page, faults } = await open("#/edit/kept.yaml", { allow: /40[49]|412/ });
  await page.locator(".cm-content", { hasText: "name: kept" }).waitFor();
  await append(page, "# mine\n");
  await page.locator(".badge", { hasText: "not saved" }).waitFor();
  await page.getByRole("link", { name: "Netloom" }).click();
  await page.locator(".rows li", { hasText: "kept.yaml" }).locator(".badge", { hasText: "not saved" }).waitFor();
  assert.equal(readFileSync(file("kept.yaml"), "utf8"), TEXT);
  // Meanwhile somebody else writes it.
  writeFileSync(file("kept.yaml"), `# theirs\n${TEXT}`);
  await page.getByRole("link", { name: "kept.yaml" }).click();
  await page.locator(".cm-content", { hasText: "# mine" }).waitFor();
  await page.locator(".cm-content", { hasText: "# theirs" }).waitFor();
  rmSync(file("kept.yaml"));
  await page.locator(".toast.error", { hasText: "removed from disk" }).waitFor();
  await page.keyboard.press("Control+s");
  await page.locator(".badge", { hasText: "not saved" }).waitFor({ state: "detached" });
  assert.equal(readFileSync(file("kept.yaml"), "utf8"), `# theirs\n${TEXT}# mine\n`);
  assert.deepEqual(faults, []);
  await page.close();
}

async function fileOnAFullDisk(): Promise<void> {
  // A file system of its own for the folder, of 96 KiB, which is made read only when the file `ro` beside it comes.
  const script = `mount -t tmpfs -o size=96k none . && cd "$PWD" && cp ../kept.yaml kept.yaml || exit 1; (while [ ! -e ../ro ]; do sleep 0.05; done; mount -o remount,ro . && touch ../is-ro) & exec "$@"`;
  writeFileSync(join(place.path, "kept.yaml"), TEXT);
  const own = await serve(place, ["kept.yaml"], 1, [
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "sh",
    "-c",
    script,
    "sh",
  ]);
  const { page, faults } = await visit(browser, own.addresses[0] ?? "", "#/edit/kept.yaml", { allow: /5\d\d|40\d/ });
  await page.locator(".cm-content", { hasText: "name: kept" }).waitFor();
  const save = async (text: string, sign: RegExp): Promise<void> => {
    await append(page, text);
    await page.keyboard.press("Control+s");
    await page.locator(".toast", { hasText: sign }).last().waitFor();
    const close = page.getByRole("button", { name: "close the message" });
    for (let count = await close.count(); count > 0; count -= 1) await close.first().click();
  };
  await save("# it fits\n", /saved/);
  await page.evaluate(async () => {
    await fetch("/api/files/filler.yaml", {
      method: "PUT",
      headers: { "If-None-Match": "*" },
      body: `# ${"x".repeat(80_000)}`,
    });
  });
  await save(`# ${"too much ".repeat(2)}\n`.repeat(3), /saved|No space|full/);
  await page.locator(".cm-content").click();
  await page.evaluate((text) => navigator.clipboard?.writeText(text).catch(() => undefined), "");
  await page.keyboard.insertText(`# ${"y".repeat(30_000)}\n`);
  await page.keyboard.press("Control+s");
  await page.locator(".toast.error", { hasText: /No space left/i }).waitFor();
  await page.locator(".badge", { hasText: "not saved" }).waitFor();
  // What was there before is there still, whole.
  const disk = await page.evaluate(async () => (await fetch("/api/files/kept.yaml")).text());
  assert.match(disk, /^name: kept[\s\S]*# it fits\n/);
  assert.doesNotMatch(disk, /yyy/);
  const names = await page.evaluate(async () =>
    ((await (await fetch("/api/files")).json()) as { files: { path: string }[] }).files.map(({ path }) => path).sort(),
  );
  assert.deepEqual(names, ["filler.yaml", "kept.yaml"]);
  writeFileSync(join(place.path, "ro"), "");
  while (!existsSync(join(place.path, "is-ro"))) await page.waitForTimeout(50);
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(TEXT);
  await page.keyboard.press("Control+s");
  await page.locator(".toast.error", { hasText: /Read-only/i }).waitFor();
  await page.locator(".badge", { hasText: "not saved" }).waitFor();
  assert.match(await page.locator(".cm-content").innerText(), /name: kept/);
  assert.deepEqual(faults, []);
  await page.close();
  await own.end();
}

describe("a lab file", () => {
  test(
    "that was not saved is kept when one goes elsewhere on the page, and written anew when it was removed",
    keptFile,
  );
  test(
    "on a disk that is full, or that nothing can be written to, stays in the page until there is room",
    fileOnAFullDisk,
  );
});
