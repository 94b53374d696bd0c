// The tutorial of the page (docs/tutorial-page.md), step by step, and whether everything that it names by its words is on the screen.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launch, place as made, type Served, serve, visit } from "./real";

const TEXT = readFileSync("../docs/tutorial-page.md", "utf8");
const [DRAWN = "", EXPERIMENT = "", CLOCK = ""] = [...TEXT.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(
  (match) => match[1] ?? "",
);
/** What the page of the manual calls by its words on the screen. */
const NAMES = [...TEXT.matchAll(/(?<!\*)\*([^*\n]+)\*(?!\*)/g)].map((match) => match[1] ?? "");

let place: ReturnType<typeof made>;
let browser: Browser;
let server: Served;
/** The data of iperf3 in a list of flows. */
const FLOW = /^TCP h1:\d+ →\s*h2:5201/;
const seen = new Set<string>();

before(async () => {
  place = made({});
  server = await serve(place);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.end();
  place?.done();
});

/** Notes what of the names is on the screen. */
async function look(page: Page): Promise<void> {
  const words = await page.evaluate(() =>
    [
      document.body.innerText,
      ...[...document.querySelectorAll("option, [aria-label]")].map((one) => one.textContent ?? ""),
    ].join("\n"),
  );
  for (const name of NAMES) if (words.includes(name)) seen.add(name);
}

async function press(page: Page, role: "button" | "link" | "tab", name: string | RegExp): Promise<void> {
  await look(page);
  await page
    .getByRole(role, { name, exact: typeof name === "string" })
    .first()
    .click();
}

/** Chooses a node or a link, by the list of commands. */
async function choose(page: Page, what: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(`Show ${what}`);
  await page
    .getByRole("option", { name: `Show ${what}` })
    .first()
    .waitFor();
  await page.keyboard.press("Enter");
  await look(page);
}

async function fill(page: Page, label: string, text: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).first().fill(text);
  await page.keyboard.press("Enter");
}

const source = (page: Page): Promise<string> => page.getByRole("textbox", { name: "text of the lab file" }).innerText();

/** Waits until the text of the file has a line. */
async function reads(page: Page, wanted: string): Promise<void> {
  for (let tries = 0; !(await source(page)).includes(wanted); tries += 1) {
    assert.ok(tries < 200, `${wanted} is not in\n${await source(page)}`);
    await page.waitForTimeout(50);
  }
}

async function append(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "text of the lab file" }).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText(text);
}

async function draw(page: Page): Promise<void> {
  await press(page, "button", "New lab…");
  await page.getByLabel("file", { exact: true }).fill("tutorial");
  await press(page, "button", "Empty");
  for (const [kind, name] of [
    ["host", "h1"],
    ["router", "r1"],
    ["host", "h2"],
  ] as const) {
    await press(page, "button", `+ ${kind}`);
    await reads(page, `  ${name}: {`);
  }
  for (const [one, other, link, rate, delay] of [
    ["h1", "r1", "l1", "1 Gbit/s", "1 ms"],
    ["r1", "h2", "l2", "10 Mbit/s", "20 ms"],
  ] as const) {
    await choose(page, `node ${one}`);
    await press(page, "button", "Join");
    await choose(page, `node ${other}`);
    await reads(page, `${link}: {ends: [${one}, ${other}]`);
    await fill(page, "rate", rate);
    await fill(page, "delay", delay);
    await reads(page, `rate: ${rate}, delay: ${delay}`);
  }
  await fill(page, "queue", "100 packets");
  await reads(page, "queue: 100 packets");
  assert.equal((await source(page)).replace(/\u200b/g, "").trim(), DRAWN.trim());
}

async function use(page: Page): Promise<void> {
  await press(page, "button", "Up");
  await page.getByRole("button", { name: "Take down" }).waitFor();
  const terminal = async (node: string, line: string): Promise<void> => {
    await choose(page, `node ${node}`);
    await press(page, "button", "Open a terminal");
    await page
      .getByRole("textbox", { name: `terminal of ${node}` })
      .last()
      .waitFor();
    await page.keyboard.type(`${line}\n`);
  };
  await terminal("h1", "ping -c 3 -i 0.2 h2");
  await page
    .getByText(/3 packets transmitted, 3 received/)
    .first()
    .waitFor();
  await page.keyboard.press("F6");
  await terminal("h2", "iperf3 -s");
  await page
    .getByText(/Server listening on 5201/)
    .first()
    .waitFor();
  await page.keyboard.press("F6");
  await terminal("h1", "iperf3 -c h2 -t 60");
  await page.keyboard.press("F6");
  await page.getByLabel("links by").selectOption("queue");
  await choose(page, "link l2");
  await page.getByText(FLOW).filter({ visible: true }).first().waitFor();
  await fill(page, "delay", "80 ms");
  await press(page, "tab", "Verdict");
  await page.getByText("Packets later than due").waitFor();
  await press(page, "button", "Take down");
  await page.getByRole("link", { name: "Open its results" }).waitFor();
  await look(page);
}

async function experiment(page: Page): Promise<void> {
  await press(page, "link", "Netloom");
  await press(page, "link", "tutorial.yaml");
  // The same experiment, shorter.
  await append(page, EXPERIMENT.replace("-t 8", "-t 2").replace("at: 4 s", "at: 1 s"));
  await choose(page, "link l2");
  await fill(page, "queue", "{kind: codel}");
  await reads(page, "queue: {kind: codel}");
  assert.match(CLOCK, /^clock: virtual\n$/);
  await press(page, "button", "Run");
  await page.getByText(/^over, exit code [015]$/).waitFor();
  await press(page, "link", "results");
  await page.getByRole("button", { name: "to the next packet" }).click();
  await page.getByText(FLOW).filter({ visible: true }).first().waitFor();
  await look(page);
}

test("the tutorial, and its words", async () => {
  assert.ok(NAMES.length > 20, "the tutorial names nothing");
  const { page, faults } = await visit(browser, server.addresses[0] ?? "");
  page.setDefaultTimeout(20_000);
  await draw(page);
  await use(page);
  await experiment(page);
  assert.deepEqual(
    NAMES.filter((name) => !seen.has(name)),
    [],
    "the tutorial names what is not on the screen",
  );
  assert.deepEqual(faults, []);
  await page.close();
});
