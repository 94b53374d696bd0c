// The pages in a browser: what they show, how they are used, and what they must never do.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { FIRST_SEED, JOURNALLED, netloom, run, scratch, sweep, write } from "./fixtures";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [400, 1200, 2000];
const THEMES = ["light", "dark"] as const;

let browser: Browser;
const place = scratch();
const pages: Record<string, string> = {};

before(async () => {
  const make = (name: string): string => join(place.path, name);
  const lone = (folder: string): string => {
    netloom("report", folder);
    return join(folder, "report.html");
  };
  pages.run = lone(run(make("run"), { tcp: 3, nodes: 3 }));
  pages["not as described"] = lone(run(make("bad"), { described: false }));
  pages.failed = lone(run(make("failed"), { error: "the service iperf-server was not ready within 30 s" }));
  pages["hostile run"] = lone(
    run(make("hostile"), {
      name: "x",
      links: [`a<img src=x onerror=window.pwned=1>`, "b</script><script>window.pwned=1</script>"],
      tcp: 1,
      nodes: 1,
      hostile: true,
    }),
  );
  write(place.path, "journalled.yaml", JOURNALLED);
  netloom("run", make("journalled.yaml"), "--quiet", "--results", make("runs"));
  const [journalled] = readdirSync(make("runs/journalled")).filter((name) => name !== "latest");
  pages.journal = make(`runs/journalled/${journalled}/report.html`);
  pages.sweep = lone(sweep(make("sweep")));
  pages["hostile sweep"] = lone(sweep(make("hostile-sweep"), { hostile: true }));
  netloom("report", run(make("one")), run(make("two"), { described: false, tcp: 1 }), "-o", make("runs.html"));
  pages["comparison of runs"] = make("runs.html");
  netloom("report", make("sweep"), sweep(make("sweep2"), { shift: 3e5 }), "-o", make("sweeps.html"));
  pages["comparison of sweeps"] = make("sweeps.html");
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
});

after(async () => {
  await browser?.close();
  place.done();
});

/** Opens a page; whatever it complains of is in `faults`. */
async function open(
  name: string,
  width = 1200,
  theme: "light" | "dark" = "light",
): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: theme, reducedMotion: "reduce" });
  page.setDefaultTimeout(120_000);
  const faults: string[] = [];
  // What is refused to a hostile picture is told here.
  const isRefusal = (text: string): boolean =>
    name.startsWith("hostile") && text.startsWith("Executing inline event handler violates");
  page.on(
    "console",
    (message) => message.type() !== "log" && !isRefusal(message.text()) && faults.push(message.text()),
  );
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on(
    "request",
    (request) =>
      !request.url().startsWith("file:") &&
      !request.url().startsWith("blob:") &&
      faults.push(`asked for ${request.url()}`),
  );
  page.on("dialog", (dialog) => {
    faults.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(`file://${pages[name]}`);
  await page.waitForSelector("main h2");
  return { page, faults };
}

/** All plots are drawn once they have been in sight. */
async function scrollThrough(page: Page): Promise<void> {
  for (const plot of await page.locator(".plot").all()) {
    if (!(await plot.isVisible())) continue;
    await plot.scrollIntoViewIfNeeded();
    await plot.locator("canvas").first().waitFor();
  }
}

const ranges = (page: Page): Promise<string[]> =>
  page.$$eval(".plot", (all) =>
    all
      .filter((plot) => plot.querySelector("canvas"))
      .map((plot) => `${(plot as HTMLElement).dataset.from} to ${(plot as HTMLElement).dataset.to}`),
  );

describe("every page", () => {
  for (const name of [
    "run",
    "not as described",
    "failed",
    "hostile run",
    "journal",
    "sweep",
    "hostile sweep",
    "comparison of runs",
    "comparison of sweeps",
  ]) {
    test(`${name}: no fault, no way to the side, accessible, in both themes at all widths`, async () => {
      for (const theme of THEMES) {
        const { page, faults } = await open(name, 400, theme);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          await scrollThrough(page);
          assert.ok(
            (await page.evaluate(() => document.documentElement.scrollWidth)) <= width,
            `${name} is wider than ${width}`,
          );
        }
        await page.setViewportSize({ width: 1200, height: 900 });
        await page.$$eval("details", (all) =>
          all.forEach((one) => {
            (one as HTMLDetailsElement).open = true;
          }),
        );
        // Through the debugger: the page itself lets no other program in.
        const found = await page.evaluate(
          `${AXE}; axe.run(document, { resultTypes: ["violations"] }).then((done) => done.violations.map((one) => one.id + ": " + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")))`,
        );
        assert.deepEqual(found, [], `${name}, ${theme}`);
        assert.equal(await page.evaluate(() => (window as { pwned?: number }).pwned), undefined);
        assert.equal(await page.locator("img, iframe, object, main script").count(), 0);
        assert.deepEqual(faults, []);
        await page.close();
      }
    });
  }
});

test("a stretch that is drawn in one plot is in sight in all", async () => {
  const { page, faults } = await open("run");
  await scrollThrough(page);
  const plot = page.locator(".plot").first();
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  assert.ok(box);
  assert.ok((await ranges(page)).length >= 8, "links and connections are drawn");
  await page.mouse.move(box.x + box.width * 0.4, box.y + 80);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 90, { steps: 5 });
  await page.mouse.up();
  const zoomed = new Set(await ranges(page));
  assert.equal(zoomed.size, 1, [...zoomed].join(", "));
  const [from, to] = ([...zoomed][0] ?? "").split(" to ").map(Number);
  assert.ok(from !== undefined && to !== undefined && from > 2 && to < 8 && to - from < 4, `${from} to ${to}`);
  await page.getByRole("button", { name: "whole run" }).click();
  assert.deepEqual([...new Set(await ranges(page))], ["0 to 10"]);
  assert.deepEqual(faults, []);
  await page.close();
});

test("a journal's packets, one-way delays and what nodes use are drawn", async () => {
  const { page, faults } = await open("journal");
  await scrollThrough(page);
  const titles = await page
    .locator(".plot")
    .evaluateAll((all) => all.map((plot) => plot.getAttribute("aria-label") ?? plot.textContent ?? ""));
  assert.ok(
    titles.some((title) => title.includes("One-way delay")) &&
      titles.some((title) => title.includes("Time-sequence of packets")),
    titles.join(" | "),
  );
  assert.ok((await page.locator("#journal option").count()) >= 1);
  assert.match((await page.locator("#journal").textContent()) ?? "", /dropped, \d+/);
  assert.deepEqual(faults, []);
  await page.close();
  const { page: other } = await open("run");
  await scrollThrough(other);
  assert.equal(await other.locator("#nodes .plot canvas").count(), 3, "processor, memory, drops");
  await other.close();
});

test("keys zoom, move, and read values", async () => {
  const { page } = await open("run");
  await scrollThrough(page);
  await page.locator(".plot").first().focus();
  await page.keyboard.press("+");
  assert.deepEqual([...new Set(await ranges(page))], ["2.5 to 7.5"]);
  await page.keyboard.press("Shift+ArrowRight");
  assert.deepEqual([...new Set(await ranges(page))], ["3.75 to 8.75"]);
  await page.keyboard.press("ArrowRight");
  const words = await page.locator("#announcer").textContent();
  assert.match(words ?? "", /^at \d.* s: .*Mbit\/s/);
  // All plots say what they have at that instant.
  const values = await page.$$eval(".timeplot:not([hidden]) output", (all) => all.map((one) => one.textContent));
  assert.ok(values.length > 10 && values.filter(Boolean).length > values.length * 0.7, values.join(" | "));
  await page.keyboard.press("Home");
  assert.deepEqual([...new Set(await ranges(page))], ["0 to 10"]);
  await page.locator("#time input[type=number]").first().fill("4");
  await page.keyboard.press("Enter");
  assert.deepEqual([...new Set(await ranges(page))], ["4 to 10"]);
  // The map's links are reached and chosen by keys.
  await page.locator(".m-badge").last().focus();
  await page.keyboard.press("Enter");
  const shown = await page.$$eval("#time .chip input:checked + label", (all) => all.map((one) => one.textContent));
  assert.ok(
    shown.filter((text) => text?.startsWith("access")).length === 2 &&
      !shown.some((text) => text?.startsWith("backbone")),
    shown.join(),
  );
  await page.close();
});

test("plots and tables can be taken along", async () => {
  const { page } = await open("run");
  await scrollThrough(page);
  const taken = async (press: () => Promise<void>): Promise<string> => {
    const [download] = await Promise.all([page.waitForEvent("download"), press()]);
    return readFileSync(await download.path(), "utf8");
  };
  const svg = await taken(() => page.getByRole("button", { name: "save Throughput as SVG" }).click());
  assert.ok(
    svg.startsWith("<?xml") && svg.includes("Throughput") && (svg.match(/<path/g) ?? []).length > 5,
    svg.slice(0, 300),
  );
  const csv = await taken(() => page.getByRole("button", { name: "save the data of Throughput as CSV" }).click());
  const lines = csv.trim().split("\n");
  assert.match(lines[0] ?? "", /^line,time_s,value \[bit\/s\]$/);
  assert.ok(
    lines.length > 300 && lines.some((line) => line.startsWith("backbone forward,0.1,9400000")),
    lines.slice(0, 3).join("\n"),
  );
  const ecdf = await taken(() => page.getByRole("button", { name: /save delay of .* as SVG/ }).click());
  assert.ok(ecdf.includes("described") && !ecdf.includes("var(--"), "paper knows no variables of the page");
  await page.close();
  const sweeps = await open("sweep");
  const box = sweeps.page.getByRole("group", { name: "copy means of all figures" });
  await sweeps.page.evaluate(() =>
    Object.defineProperty(navigator, "clipboard", {
      value: {
        writeText: (text: string) => {
          (window as { copied?: string }).copied = text;
          return Promise.resolve();
        },
      },
    }),
  );
  for (const [what, expected] of [
    ["Markdown", /^\| cc \| queue \| runs \|/],
    ["LaTeX", /^\\begin\{tabular\}\{l+\}[\s\S]*\$\\pm\$/],
    ["CSV", /^cc,queue,runs,goodput/],
  ] as const) {
    await box.getByRole("button", { name: `as ${what}` }).click();
    assert.match(await sweeps.page.evaluate(() => (window as { copied?: string }).copied ?? ""), expected);
  }
  await sweeps.page.close();
});

test("a sweep shows what was left out, and answers to what is chosen", async () => {
  const { page, faults } = await open("sweep");
  assert.match(
    (await page.locator("#left-out").textContent()) ?? "",
    /queues-0007.*NOT as described.*backbone forward was late/,
  );
  const title = (): Promise<string | null> => page.locator("#statistics figcaption .title").first().textContent();
  assert.equal(await title(), "Means of goodput");
  await page.locator("#statistics select").first().selectOption({ label: "drops" });
  assert.equal(await title(), "Means of drops");
  assert.equal(await page.locator("#statistics figure").count(), 4, "means, boxes, distributions, heat map");
  await page.locator("#statistics .choice", { hasText: "lines" }).locator("select").selectOption({ label: "one" });
  assert.equal(await page.locator("#statistics figure").count(), 3);
  assert.deepEqual(faults, []);
  await page.close();
});

test("the theme is the reader's", async () => {
  const { page } = await open("run", 1200, "dark");
  const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.getByRole("button", { name: "light colours" }).click();
  assert.notEqual(await ground(), dark);
  assert.equal(await ground(), "rgb(255, 255, 255)");
  await page.close();
});

test("a minute with ten links is below 5 MB, and drawn at once", async () => {
  const links = Array.from({ length: 10 }, (_, number) => `link${number}`);
  const folder = run(join(place.path, "long"), { links, seconds: 60, tcp: 4 });
  netloom("report", folder);
  pages.long = join(folder, "report.html");
  const size = statSync(pages.long).size;
  assert.ok(size < 5e6, `${size} bytes`);
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  page.setDefaultTimeout(120_000);
  // What is counted begins here.
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable");
  await page.goto(`file://${pages.long}`);
  await page.waitForSelector("main h2");
  await page.locator("#time").scrollIntoViewIfNeeded();
  await page.locator(".plot").first().scrollIntoViewIfNeeded();
  await page.locator(".plot canvas").first().waitFor();
  const { metrics } = await client.send("Performance.getMetrics");
  const seconds = metrics.find(({ name }) => name === "TaskDuration")?.value ?? Infinity;
  console.log(`a minute with ten links: ${(size / 1e6).toFixed(2)} MB, drawn after ${seconds.toFixed(2)} s of work`);
  // A second on a machine that has nothing else to do; a busy one takes longer.
  assert.ok(seconds > 0 && seconds < 8, `${seconds} s`);
  await page.close();
});

test("a sweep has its seeds to the last digit, varied numbers to scale, and figures of one unit in one plot", async () => {
  const { page, faults } = await open("sweep");
  await page.getByText("runs, with their seeds and reports").click();
  await page.getByRole("cell", { name: String(FIRST_SEED), exact: true }).waitFor();
  const means = page.getByRole("img", { name: /^\. means/ }).first();
  const centres = async (): Promise<number[]> =>
    [
      ...new Set(
        (await means.locator("circle").evaluateAll((all) => all.map((one) => Number(one.getAttribute("cx"))))).map(
          Math.round,
        ),
      ),
    ].sort((a, b) => a - b);
  // 10, 20 and 40 packets.
  const [one = 0, two = 0, four = 0] = await centres();
  assert.ok(Math.abs((four - two) / (two - one) - 2) < 0.1, `${one} ${two} ${four}`);
  await page.getByLabel("spacing").selectOption({ label: "even" });
  const [first = 0, second = 0, third = 0] = await centres();
  assert.ok(Math.abs((third - second) / (second - first) - 1) < 0.1, `${first} ${second} ${third}`);
  const lines = await means.locator("path[style*=dasharray]").count();
  await page.getByRole("group", { name: "in the same plots" }).getByLabel("goodput of the other").check();
  assert.ok((await means.locator("path[style*=dasharray]").count()) > lines);
  assert.match(await page.getByRole("table").first().innerText(), /\d ± [\d.]+ Mbit\/s/);
  assert.deepEqual(faults, []);
  await page.close();
});

test("a figure is saved as PNG, and printed by itself for PDF", async () => {
  const { page, faults } = await open("sweep");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: /^save Means of .* as PNG$/ }).click(),
  ]);
  assert.match(download.suggestedFilename(), /^means-of-goodput\.png$/);
  const png = readFileSync(await download.path());
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  assert.equal(png.readUInt32BE(16), 760 * 3);
  await page.evaluate(() => {
    window.print = () => undefined;
  });
  await page.getByRole("button", { name: /^print Means of / }).click();
  await page.emulateMedia({ media: "print" });
  const seen = (): Promise<string[]> =>
    page.evaluate(() =>
      [...document.body.children]
        .filter((one) => getComputedStyle(one).display !== "none" && one.tagName !== "SCRIPT")
        .map((one) => one.className),
    );
  assert.deepEqual(await seen(), ["sheet-of-paper"]);
  assert.equal((await page.pdf()).subarray(0, 5).toString(), "%PDF-");
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.deepEqual((await seen()).includes("sheet-of-paper"), false);
  assert.deepEqual(faults, []);
  await page.close();
});
