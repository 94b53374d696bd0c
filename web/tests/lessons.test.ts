// The lessons that need time, played on the page to their last task, by presses and keys, both at once: each is a lab of its own. The first lesson is in pages.test.ts.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { accessible, launch, place as made, type Seen, type Served, serve, visit } from "./real";

const WEB = dirname(dirname(dirname(createRequire(import.meta.url).resolve("vite/package.json"))));
/** Routing, queues and congestion control learn at their own pace. */
const PATIENCE = 60_000;

let place: ReturnType<typeof made>;
let browser: Browser;
let server: Served;

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

/** From the list of lessons to its lab, with the tasks beside the map. */
async function begin(title: string, allow?: RegExp): Promise<Seen> {
  const seen = await visit(browser, server.addresses[0] ?? "", "#/lessons", allow ? { allow } : {});
  const { page } = seen;
  page.setDefaultTimeout(PATIENCE);
  await page.getByRole("link", { name: title }).click();
  await page.getByRole("heading", { name: title }).waitFor();
  await page.getByRole("button", { name: "Bring the lab up" }).click();
  await page.getByRole("button", { name: "Open it here" }).click();
  await page.locator(".mapcanvas[data-nodes]:not([data-nodes='0'])").waitFor();
  await tasks(page);
  return seen;
}

const tasks = async (page: Page): Promise<void> => {
  await page.keyboard.press("7");
  await page.locator(".panel .tasks li").first().waitFor();
};

const met = async (page: Page, count: number): Promise<void> => {
  await page
    .waitForFunction((wanted) => document.querySelectorAll(".panel .tasks .badge.good").length >= wanted, count)
    .catch(async (error: unknown) => {
      assert.fail(`task ${count} is not met: ${await page.locator("body").innerText()}\n${String(error)}`);
    });
};

/** By the list of commands, as by the map. */
async function choose(page: Page, link: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(`show link ${link}`);
  await page.keyboard.press("Enter");
  await page.locator(".panel h2", { hasText: new RegExp(`^Link ${link}$`) }).waitFor();
}

async function ring(): Promise<void> {
  const { page, faults } = await begin("A ring that heals");
  // Who does not know what to do asks for a hint, which stays.
  await page.getByRole("button", { name: "a hint for task 2" }).click();
  await page.locator(".hint", { hasText: "press X" }).waitFor();
  await met(page, 1);
  assert.equal(await page.locator(".panel .tasks li").nth(1).locator(".hint").count(), 1);
  await choose(page, "north");
  await page.keyboard.press("x");
  await page.locator(".panel .badge.bad", { hasText: "down" }).first().waitFor();
  await tasks(page);
  await met(page, 3);
  await choose(page, "north");
  await page.keyboard.press("h");
  await page.locator(".panel .badge.bad", { hasText: "down" }).first().waitFor({ state: "detached" });
  await tasks(page);
  await met(page, 4);
  await page.getByText("All tasks are met").waitFor();
  await leave(page);
  assert.deepEqual(faults, []);
  await page.close();
}

/** In real time a node has what this machine's kernel has; in virtual time, kernels of its own, which know BBR. */
function withBbr(): void {
  if (
    process.env.CLOCK !== "virtual" &&
    /\bbbr\b/.test(readFileSync("/proc/sys/net/ipv4/tcp_available_congestion_control", "utf8"))
  )
    return;
  const text = readFileSync(join(WEB, "../examples/lessons/bbr.yaml"), "utf8");
  writeFileSync(join(place.path, "labs/lesson-bbr.yaml"), `${text}clock: virtual\n`);
}

async function congestion(): Promise<void> {
  withBbr();
  const { page, faults } = await begin("CUBIC against BBR", /412/);
  const queue = async (words: string): Promise<void> => {
    await choose(page, "bottleneck");
    await page.getByLabel("queue", { exact: true }).fill(words);
    await page.keyboard.press("Enter");
    await page.locator("h1").click();
    await tasks(page);
  };
  await met(page, 1);
  await queue("600 packets");
  await met(page, 2);
  await queue("{kind: fq_codel}");
  await met(page, 3);
  await page.getByText("All tasks are met").waitFor();
  await leave(page);
  assert.deepEqual(faults, []);
  await page.close();
}

async function leave(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Take down" }).click();
  await page.getByText("This lab has ended").waitFor();
}

test("a ring heals, and CUBIC meets BBR: each lesson is played to its last task", async () => {
  const began = Date.now();
  await Promise.all([
    ring().then(() => console.log(`the ring: ${(Date.now() - began) / 1000} s`)),
    congestion().then(() => console.log(`CUBIC against BBR: ${(Date.now() - began) / 1000} s`)),
  ]);
});

test("a lesson whose lab does not come up says why", async () => {
  // The learner's own file of that name is not written over.
  writeFileSync(
    join(place.path, "labs/lesson-bufferbloat.yaml"),
    "name: lesson-bufferbloat\nnodes: [a]\nlinks: {l: {ends: [a, nobody]}}\n",
  );
  const { page, faults } = await visit(browser, server.addresses[0] ?? "", "#/lessons/bufferbloat", { allow: /412/ });
  await page.getByRole("button", { name: "Bring the lab up" }).click();
  await page.getByRole("alert").filter({ hasText: "did not come up" }).filter({ hasText: "nobody" }).waitFor();
  await accessible(page, "a lesson that failed");
  assert.match(readFileSync(join(place.path, "labs/lesson-bufferbloat.yaml"), "utf8"), /nobody/);
  assert.deepEqual(faults, []);
  await page.close();
});
