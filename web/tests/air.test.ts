// Radio media on the page: who is where and with whom, while a lab runs and when it is replayed, and who has the air.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { accessible, fits, launch, place as makePlace, type Served, serve, visit } from "./real";

/** Somebody walks from one access point to the other within two seconds, and both ends talk all the time. What is replayed is played in virtual time: how
 * busy the machine is changes no frame. */
const lab = (name: string, more: string): string => `name: ${name}
seed: 7
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes:
  server: {}
  core: {kind: switch}
  west: {kind: switch, position: [0 m, 0 m, 3 m]}
  east: {kind: switch, position: [60 m, 0 m, 3 m]}
  walker: {path: [{at: 1 s, position: [4 m, 1 m]}, {at: 3 s, position: [56 m, 1 m]}]}
  desk: {position: [3 m, 6 m]}
links:
  wire-server: {ends: [server, core]}
  wire-west: {ends: [core, west]}
  wire-east: {ends: [core, east]}
  wifi:
    ends: [west, east, walker, desk]
    medium: {kind: wifi, standard: a, access: radio, access_points: [west, east], roaming: {below: -60 dBm, hysteresis: 4 dB, gap: 50 ms}}
${more}`;
const PLAYED = lab(
  "hall",
  `duration: 4 s
clock: virtual
journal: all
capture: [{link: wifi, headers: radiotap, file: air.pcapng}]
timeline:
  - {on: walker, run: ping -4 -q -i 0.02 -c 150 -s 900 server, as: walk, may_fail: true}
  - {on: desk, run: ping -4 -q -i 0.02 -c 150 -s 900 server, as: work, may_fail: true}
`,
);
const LIVE = lab("live", "timeline: [{on: desk, run: ping -4 -q -i 0.02 -s 900 server, as: work, service: true}]\n");

let [place, browser]: [ReturnType<typeof makePlace>, Browser] = [] as never;
let served: Served;

before(async () => {
  place = makePlace({ "hall.yaml": PLAYED, "live.yaml": LIVE });
  place.call("run", "hall.yaml");
  place.call("up", "live.yaml");
  [served, browser] = [await serve(place), await launch()];
});
after(async () => {
  await browser?.close();
  await served?.end();
  place?.done();
});

const open = (hash: string, wish = {}) => visit(browser, served.addresses[0]!, hash, wish);
const replay = async (at: number, wish = {}): ReturnType<typeof open> => {
  const list = await fetch(new URL("/api/results", served.addresses[0]), {
    headers: { authorization: `Bearer ${/token=(\w+)/.exec(served.addresses[0]!)?.[1]}` },
  });
  const { results } = (await list.json()) as { results: { id: string; lab: string }[] };
  const id = results.find((one) => one.lab === "hall")?.id ?? "";
  return open(`#/replay/${encodeURIComponent(id)}?at=${at * 1e9}`, wish);
};
/** Where the middle of a station's mark is, in parts of the picture's width. */
const placeOf = (page: Page, name: string): Promise<number> =>
  page.locator(".air svg.map").evaluate((svg, station) => {
    const all = [...svg.querySelectorAll<SVGElement>("g")];
    const mark = all.find((one) => one.querySelector("title")?.textContent?.startsWith(`${station}:`));
    const box = mark?.querySelector("circle,path")?.getBoundingClientRect();
    const whole = svg.getBoundingClientRect();
    return box ? (box.x + box.width / 2 - whole.x) / whole.width : -1;
  }, name);
/** The picture is drawn for the width that it has beside the network, and not made smaller. */
const isFitted = (page: Page) =>
  page.waitForFunction(() => {
    const svg = document.querySelector(".air svg.map");
    const width = svg?.getBoundingClientRect().width ?? 0;
    return width > 0 && width < 500 && Math.abs(Number(svg?.getAttribute("width")) - width) < 2;
  });
const isWith = (page: Page, station: string, to: string) =>
  page.locator(`.air svg[aria-label*="${station} is with ${to}"]`).waitFor();

test("a replay shows who is where and with whom, as time goes on", async () => {
  const { page, faults } = await replay(0.5);
  await isWith(page, "walker", "west");
  await isWith(page, "desk", "west");
  await isFitted(page);
  const [early, desk] = [await placeOf(page, "walker"), await placeOf(page, "desk")];
  await page.locator(".strip-time").focus();
  await page.keyboard.press("End");
  await isWith(page, "walker", "east");
  const late = await placeOf(page, "walker");
  // 52 of 92 metres and more.
  assert.ok(early > 0 && late - early > 0.3 && late < 1, `${early} and ${late}`);
  const stays = await placeOf(page, "desk");
  assert.ok(Math.abs(stays - desk) < 0.02, `${desk} and ${stays}`);
  // What is written has the size of the page's words, and is within the picture.
  const words = await page.locator(".air svg text").evaluateAll((all) =>
    all.map((text) => {
      const [own, whole] = [text.getBoundingClientRect(), text.closest("svg")!.getBoundingClientRect()];
      return { high: own.height, isIn: own.left >= whole.left - 1 && own.right <= whole.right + 1 };
    }),
  );
  assert.ok(words.length > 6 && words.every(({ high, isIn }) => high > 9 && isIn), JSON.stringify(words));
  await accessible(page, "a replay with a map in metres");
  assert.deepEqual(faults, []);
  await page.close();
});

test("a replay shows who has the air, from frame to frame", async () => {
  const { page, faults } = await replay(2, { theme: "dark" });
  const section = page.locator(".airtime");
  await section.locator('canvas[aria-label*="in 10 ms"]').waitFor();
  await section.getByRole("combobox", { name: "how much time is shown" }).selectOption("100 ms");
  const rows = section.locator("tbody tr");
  await rows
    .filter({ hasText: "desk" })
    .filter({ hasText: /desk0?\.?\d+ ?%[1-9]/ })
    .first()
    .waitFor();
  assert.deepEqual(await rows.locator("th").allInnerTexts(), ["west", "east", "walker", "desk"]);
  // A frame that begins is on the air, and said in words.
  await section.getByRole("button", { name: "to the next frame" }).click();
  await section
    .locator(".airnow li", { hasText: /→ .*(data|ACK)/ })
    .first()
    .waitFor();
  const first = await page.locator(".labbar .time").innerText();
  await section.getByRole("button", { name: "to the next frame" }).click();
  await page.waitForFunction((was) => document.querySelector(".labbar .time")?.textContent !== was, first);
  // The whole run is too much for single frames; its sums are there.
  await section.getByRole("combobox", { name: "how much time is shown" }).selectOption("the whole run");
  await section.getByText("Too many frames").waitFor();
  assert.ok(await section.getByRole("button", { name: "to the next frame" }).isDisabled());
  const colours = await section.locator("canvas").evaluate((canvas) => {
    const { width, height } = canvas as HTMLCanvasElement;
    const all = (canvas as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, width, height).data;
    return new Set(new Uint32Array(all.buffer)).size;
  });
  assert.ok(colours > 4, `${colours} colours`);
  await accessible(page, "a replay with the air");
  await fits(page, "a replay with the air");
  assert.deepEqual(faults, []);
  await page.close();
});

test("a lab that is up shows its map and what each station does", async () => {
  const { page, faults } = await open("#/lab/live");
  await isWith(page, "desk", "west");
  await isWith(page, "walker", "east");
  const row = page.locator(".stations tbody tr", { hasText: "desk" });
  // It sends 50 frames in a second.
  await page.waitForFunction(() => {
    const all = [...document.querySelectorAll(".stations tbody tr")];
    const desk = all.find((one) => one.querySelector("th")?.textContent === "desk");
    return Number(desk?.querySelectorAll("td")[2]?.textContent) > 10;
  });
  assert.equal(await row.locator("td").first().innerText(), "west");
  assert.match(await page.locator(".stations tbody tr").first().innerText(), /^west\s+1 client/);
  assert.match(await page.locator(".stations h3").innerText(), /^wifi .*% of the time in use$/);
  await accessible(page, "a lab with stations");
  for (const width of [1280, 700, 400]) {
    await page.setViewportSize({ width, height: 800 });
    await fits(page, `a lab with stations, ${width} pixels wide`);
  }
  assert.deepEqual(faults, []);
  await page.close();
});
