// The whole: the program `netloom ui` with the page in it, labs that are really up, terminals in their nodes, runs that leave results.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch, place as made, type Seen, type Served, serve, visit } from "./real";

let place: ReturnType<typeof made>;
let browser: Browser;
let server: Served;

const LAB = `# The first lab.
name: first
nodes:
  client: {}   # asks
  server: {}
links:
  access: {ends: [client, server], rate: 10 Mbit/s, delay: 5 ms, queue: 20 packets}
layout:
  client: [0, 0]
  server: [1, 0]
traffic:
  - {kind: window, from: client, to: server, window: 64 kB, amount: 100 kB}
journal: all
`;

before(async () => {
  place = made({ "first.yaml": LAB });
  server = await serve(place);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.end();
  place.done();
});

const open = (hash = ""): Promise<Seen> => visit(browser, server.addresses[0] ?? "", hash);

const text = (): string => readFileSync(join(place.path, "labs/first.yaml"), "utf8");

test("a file is edited on its map, and only what was meant changes", async () => {
  const { page, faults } = await open();
  await page.getByRole("link", { name: "first.yaml" }).click();
  await page.locator(".badge", { hasText: "valid" }).waitFor();
  await page.getByRole("button", { name: "+ router" }).click();
  await page.locator(".part input").first().waitFor();
  const name = page.locator(".part input").first();
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>(".part input")?.value === "r1");
  await name.fill("middle");
  await name.press("Enter");
  await page.locator(".cm-content", { hasText: "middle: {kind: router}" }).waitFor();
  await page.locator(".part[aria-label='node middle']").waitFor();
  // Join it to the server, by keys.
  await page.locator(".mapcanvas").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("show node server");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>(".part input")?.value === "l1");
  await page.getByLabel("rate", { exact: true }).fill("2 Mbit/s");
  await page.keyboard.press("Enter");
  await page.locator(".cm-content", { hasText: "2 Mbit/s" }).waitFor();
  await page.keyboard.press("Control+s");
  await page.locator(".toast", { hasText: "saved" }).waitFor();
  const written = text();
  assert.ok(written.startsWith(LAB.slice(0, LAB.indexOf("  server: {}\n"))), written);
  assert.match(written, / {2}middle: \{kind: router\}\n/);
  assert.match(written, / {2}l1: \{ends: \[middle, server\], rate: 2 Mbit\/s\}\n/);
  assert.match(written, / {2}middle: \[-?[\d.]+, -?[\d.]+\]\n/);
  // Everything is undone, one by one, to the letter.
  await page.locator(".cm-content").focus();
  for (let tries = 0; tries < 12; tries += 1) await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+s");
  await page.waitForFunction(() => document.querySelectorAll(".toast").length > 0);
  for (let tries = 0; text() !== LAB && tries < 40; tries += 1) await page.waitForTimeout(100);
  assert.equal(text(), LAB);
  assert.deepEqual(faults, []);
  await page.close();
});

test("a lab is brought up, used at a terminal that is flooded, changed, and taken down with its verdict", async () => {
  const { page, faults } = await open("#/edit/first.yaml");
  await page.getByRole("button", { name: "Up" }).click();
  await page.locator(".lab[data-lab=first] .badge", { hasText: "up" }).waitFor();
  await page.locator(".mapcanvas[data-nodes='2']").waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("terminal on client");
  await page.keyboard.press("Enter");
  await page.locator(".terminal .xterm-rows").waitFor();
  await page.locator(".terminal[data-bytes]").waitFor();
  await page.keyboard.type("hostname; echo $((40 + 2))\n");
  await page.waitForFunction(() => /42/.test(document.querySelector(".xterm-rows")?.textContent ?? ""));
  // A program that writes as fast as it can: the page stays alive, and Ctrl-C gets through.
  await page.keyboard.type("yes 0123456789012345678901234567890123456789\n");
  await page.waitForFunction(() => Number(document.querySelector<HTMLElement>(".terminal")?.dataset.bytes) > 2_000_000);
  await page.keyboard.press("Control+c");
  await page.keyboard.type("\necho the end $((1 + 1))\n");
  await page.waitForFunction(() => /the end 2/.test(document.querySelector(".xterm-rows")?.textContent ?? ""));
  // The shell outlives the page, with what it wrote before and while nobody was there; nothing is typed into it by that.
  await page.keyboard.type("kept=still; (sleep 1; echo mean''while) &\n");
  await page.waitForFunction(() => /kept=still/.test(document.querySelector(".xterm-rows")?.textContent ?? ""));
  await page.reload();
  await page.waitForFunction(() =>
    /the end 2[\s\S]*meanwhile/.test(document.querySelector(".xterm-rows")?.textContent ?? ""),
  );
  await page.locator(".terminal.xterm").click();
  await page.keyboard.type("echo $kept $((6 * 7))\n");
  await page.waitForFunction(() => /still 42/.test(document.querySelector(".xterm-rows")?.textContent ?? ""));
  assert.doesNotMatch(await page.locator(".xterm-rows").innerText(), /command not found/);
  // One that has ended meanwhile says so; one that is closed is gone for good.
  await page.keyboard.type("(sleep 1; kill -9 $$) &\n");
  await page.reload();
  await page.getByRole("tab", { name: /^client/ }).waitFor();
  await page.waitForFunction(() =>
    /ended with exit code 137/.test(document.querySelector(".xterm-rows")?.textContent ?? ""),
  );
  await page.getByRole("button", { name: "close this terminal" }).click();
  await page.reload();
  await page.locator(".mapcanvas[data-nodes='2']").waitFor();
  await page.waitForTimeout(500);
  assert.equal(await page.locator(".terminal").count(), 0);
  await page.locator(".mapcanvas").focus();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("show link access");
  await page.keyboard.press("Enter");
  await page.getByLabel("delay", { exact: true }).fill("20 ms");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Cut", exact: true }).click();
  await page.locator(".panel .badge.bad", { hasText: "down" }).first().waitFor();
  await page.getByRole("button", { name: "Heal", exact: true }).click();
  await page.locator(".panel .badge.bad", { hasText: "down" }).first().waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Copy command for Wireshark" }).click();
  await page.locator("pre", { hasText: "netloom capture first access" }).waitFor();
  await page.getByRole("button", { name: "Take down" }).click();
  await page.locator(".panel .verdict, .panel .error").first().waitFor();
  await page.getByText("This lab has ended").waitFor();
  assert.deepEqual(faults, []);
  await page.close();
});

test("a simulation from the page is replayed packet by packet", async () => {
  const { page, faults } = await open("#/edit/first.yaml");
  await page.getByRole("button", { name: "Simulate" }).click();
  await page.getByRole("link", { name: "results" }).click();
  await page.locator(".strip-time").waitFor();
  await page.locator(".strip-time").focus();
  const at = async (): Promise<number> => Number(await page.locator(".mapcanvas").getAttribute("data-at"));
  await page.locator(".mapcanvas[data-at]").waitFor();
  const before = await at();
  await page.keyboard.press(".");
  await page.keyboard.press(".");
  await page.waitForFunction(
    (was) => Number(document.querySelector<HTMLElement>(".mapcanvas")?.dataset.at) > was,
    before,
  );
  assert.ok((await page.locator(".flows li").count()) > 0);
  assert.deepEqual(faults, []);
  await page.close();
});
