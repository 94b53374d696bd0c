// How fast the page is: frames of a live map, the processor time of a page that watches. Figures of this machine, which draws by software and may be busy: they are printed,
// and judged by bounds that only a fault would break.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { scratch } from "./fixtures";
import { long } from "./journal";
import { known } from "./real";
import { type Socket, serve, type Wire } from "./wire";

const require = createRequire(import.meta.url);
const WEB = dirname(dirname(dirname(require.resolve("vite/package.json"))));
const place = scratch();
const bundle = join(place.path, "bundle");
let browser: Browser;

before(async () => {
  await build({
    configFile: join(WEB, "vite.ui.config.ts"),
    root: join(WEB, "ui"),
    build: { outDir: bundle, emptyOutDir: true, minify: process.env.PROFILE ? false : "esbuild" },
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

interface Grid {
  spots: { name: string; kind: string; stack: string; interfaces: never[] }[];
  lines: { name: string; ends: { node: string; interface: string }[]; [key: string]: unknown }[];
  scene: object;
}

/** So many nodes on a grid, and links between neighbours. */
function grid(nodes: number, links: number): Grid {
  const wide = Math.ceil(Math.sqrt(nodes));
  const spots = Array.from({ length: nodes }, (_, number) => ({
    name: `n${number}`,
    kind: number % 7 ? "host" : "router",
    stack: "",
    interfaces: [],
  }));
  const lines = Array.from({ length: links }, (_, number) => ({
    name: `l${number}`,
    ends: [number % nodes, (number + [1, wide, wide + 1][number % 3]!) % nodes].map((node) => ({
      node: `n${node}`,
      interface: "",
    })),
    mtu_bytes: 1500,
    joined_in_kernel: false,
    pipes: ["forward", "backward"].map((direction) => ({ direction, pipe: null, up: true, settings: {} })),
  }));
  const scene = {
    nodes: spots.map(({ name, kind }, number) => ({ name, kind, x: number % wide, y: Math.floor(number / wide) })),
    links: lines.map(({ name, ends }) => ({ name, ends: ends.map(({ node }) => node) })),
  };
  return { spots, lines, scene };
}

/** The samples of links that such a lab tells. */
function statsOf(lines: Grid["lines"], every: number, id: number, at: number): string {
  return JSON.stringify({
    id,
    event: "stats",
    at_ns: at * every * 1e6,
    since_zero_ns: at * every * 1e6,
    lost: 0,
    pipes: lines.flatMap(({ name }, number) =>
      ["forward", "backward"].map((direction) => ({
        link: name,
        direction,
        pipe: null,
        from: "",
        to: "",
        joined_in_kernel: false,
        rate_bits_per_second: 1e7,
        delay_ns: 1e6,
        up: number % 97 !== 5,
        arrived_packets: 0,
        arrived_bytes: 0,
        departed_packets: at * (1 + (number % 50)) * 10,
        departed_bytes: at * (number % 50) * every * 22 + ((at * 7 + number) % 5) * every * 20,
        queued_packets: number % 3 ? 0 : ((number + at) % 9) ** 2,
        queued_bytes: 0,
        dropped_queue_packets: number % 11 ? 0 : at,
        dropped_loss_packets: 0,
        dropped_early_packets: 0,
        dropped_down_packets: 0,
        marked_packets: 0,
      })),
    ),
  });
}

/** What tells as many packets as a lab picks: 50 per second of each pipe, and 2,000 of all. */
function picker(links: number): (id: number, at: number) => string {
  const pipes = links * 2;
  const step = Math.max(20e6, 5e5 * pipes);
  let [number, taken] = [0, 0];
  return (id, at) => {
    const made = [];
    for (; taken < (at / step) * pipes; taken += 1) {
      const [pipe, entered] = [
        (taken * 7) % pipes,
        Math.floor(taken / pipes) * step + (taken % pipes) * (step / pipes),
      ];
      number += 1;
      const gone = number % 97 === 0;
      made.push({
        pipe,
        packet: number,
        entered_ns: entered,
        start_ns: gone ? null : entered + 1e6,
        sent_ns: gone ? null : entered + 2e6,
        due_ns: gone ? null : entered + 12e6,
        dropped: gone ? { at_ns: entered, cause: "queue" } : null,
        bytes: number % 2 ? 1500 : 52,
        segments: 1,
        flow: { source: `10.0.0.${pipe % 50}:40000`, destination: "10.0.0.2:80", protocol: "tcp" },
      });
    }
    return JSON.stringify({ id, event: "packets", at_ns: at, since_zero_ns: at, lost: 0, packets: made });
  };
}

/** A lab of so many nodes and links on a grid, with samples of all links every `every` ms. */
function large(nodes: number, links: number, every: number): Wire {
  const { spots, lines, scene } = grid(nodes, links);
  const packets = picker(links);
  const row = { name: "large", mode: "up", nodes, clock: "real", path: "large.yaml", results: null, job: null };
  const control = (socket: Socket): void =>
    socket.onMessage((text) => {
      const { id, request, events, every_ns } = JSON.parse(text) as {
        id: number;
        request: string;
        events?: string;
        every_ns?: number;
      };
      const said: Record<string, object> = {
        hello: { reply: "hello", capabilities: ["packets", "tcp"] },
        topology: { reply: "topology", nodes: spots, links: lines, exposed: [], services: [] },
        info: { reply: "info", name: "large" },
        now: { reply: "now", at_ns: 1, since_zero_ns: 1, clock: "real", paused: false },
        exercise: { reply: "exercise", title: "", text: "", tasks: [] },
      };
      socket.send(JSON.stringify({ id, ...(said[request] ?? { reply: "done" }) }));
      if (events === "packets" && request === "subscribe") {
        const began = Date.now();
        const timer = setInterval(() => socket.send(packets(id, (Date.now() - began) * 1e6)), (every_ns ?? 0) / 1e6);
        socket.onClose(() => clearInterval(timer));
      }
      if (events !== "stats") return;
      let at = 0;
      const timer = setInterval(() => {
        at += 1;
        socket.send(statsOf(lines, every, id, at));
      }, every);
      socket.onClose(() => clearInterval(timer));
    });
  return {
    answers: {
      state: {
        version: "0.1.0",
        role: "edit",
        shared: false,
        opened: null,
        folder: "/labs",
        results_folder: "/labs/results",
        protocol: { major: 1, minor: 5 },
      },
      labs: { labs: [row] },
      results: { results: [] },
      files: { files: [], left_out: 0 },
      keys: { top: "lab", sections: {} },
      "POST check": { ok: true, errors: [], warnings: [], notes: [], tree: null, plan: null, scene },
    },
    sockets: {
      "/control": control,
      "/events": (socket) => socket.send(JSON.stringify({ event: "labs", labs: [row] })),
    },
  };
}

/** Processor time in seconds of the browser's processes, which are below this one: of those that pages run in, and of all. */
function processorTime(): { pages: number; all: number } {
  const known = new Map<number, { parent: number; seconds: number; page: boolean }>();
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      // Ticks of a hundredth of a second.
      known.set(Number(name), {
        parent: Number(fields[1]),
        seconds: (Number(fields[11]) + Number(fields[12])) / 100,
        page: readFileSync(`/proc/${name}/cmdline`, "utf8").includes("--type=renderer"),
      });
    } catch {
      /* It has ended. */
    }
  }
  const below = (pid: number): boolean => {
    for (let at = known.get(pid); at; at = known.get(at.parent)) if (at.parent === process.pid) return true;
    return false;
  };
  const own = [...known].filter(([pid]) => below(pid)).map(([, one]) => one);
  return {
    pages: own.filter(({ page }) => page).reduce((sum, { seconds }) => sum + seconds, 0),
    all: own.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

interface Measured {
  frames: number;
  pages: number;
  all: number;
  scripts: number;
  layout: number;
  tasks: number;
}

/** What a page costs and draws in some seconds: parts of a core, and frames per second. */
async function measure(page: Page, seconds: number): Promise<Measured> {
  const client: CDPSession = await page.context().newCDPSession(page);
  await client.send("Performance.enable");
  if (process.env.PROFILE) {
    await client.send("Profiler.enable");
    await client.send("Profiler.start");
  }
  // The number of frames is told four times a second: what counts is the instant at which it is.
  const frames = (): Promise<[number, number]> =>
    page.evaluate(
      () =>
        new Promise((done) => {
          const map = document.querySelector<HTMLElement>(".mapcanvas");
          const observer = new MutationObserver(() => {
            observer.disconnect();
            done([Number(map?.dataset.frames), performance.now()]);
          });
          if (map) observer.observe(map, { attributes: true, attributeFilter: ["data-frames"] });
          setTimeout(() => done([Number(map?.dataset.frames), performance.now()]), 1000);
        }),
    );
  const metrics = async (): Promise<Record<string, number>> =>
    Object.fromEntries((await client.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  const [[first, from], was, usedBefore, began] = [await frames(), await metrics(), processorTime(), Date.now()];
  await page.waitForTimeout(seconds * 1000);
  const [used, is, passed, [last, to]] = [
    processorTime(),
    await metrics(),
    (Date.now() - began) / 1000,
    await frames(),
  ];
  if (process.env.PROFILE) {
    const { profile } = await client.send("Profiler.stop");
    const [self, byId] = [new Map<string, number>(), new Map(profile.nodes.map((node) => [node.id, node]))];
    profile.samples?.forEach((id, k) => {
      const node = byId.get(id);
      const name = `${node?.callFrame.functionName || "(anonymous)"} ${node?.callFrame.url.split("/").pop()}:${node?.callFrame.lineNumber}`;
      self.set(name, (self.get(name) ?? 0) + (profile.timeDeltas?.[k] ?? 0) / 1000);
    });
    [...self]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 25)
      .forEach(([name, ms]) => {
        console.log(`   ${ms.toFixed(0)} ms ${name}`);
      });
  }
  const of = (key: string): number => ((is[key] ?? 0) - (was[key] ?? 0)) / passed;
  return {
    frames: to > from ? (last - first) / ((to - from) / 1000) : 0,
    pages: (used.pages - usedBefore.pages) / passed,
    all: (used.all - usedBefore.all) / passed,
    scripts: of("ScriptDuration"),
    layout: of("LayoutDuration") + of("RecalcStyleDuration"),
    tasks: of("TaskDuration"),
  };
}

const percent = (part: number): string => `${(part * 100).toFixed(0)} %`;
const words = (of: Measured): string =>
  `${of.frames.toFixed(1)} frames per second; of a core: the page ${percent(of.pages)} (its main thread ${percent(of.tasks)}: scripts ${percent(of.scripts)}, layout and styles ${percent(of.layout)}, the rest painting), all of the browser ${percent(of.all)}`;

async function watch(
  nodes: number,
  links: number,
  every: number,
  motion: "reduce" | "no-preference",
  seconds: number,
): Promise<Measured> {
  const { address, done } = await serve(bundle, large(nodes, links, every));
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: motion });
  await known(page);
  try {
    await page.goto(`${address}/#/lab/large`);
    await page.locator(".mapcanvas[data-nodes]:not([data-nodes='0'])").waitFor();
    await page.waitForTimeout(2 * every + 500);
    return await measure(page, seconds);
  } finally {
    await page.close();
    done();
  }
}

test("a map of 200 nodes and 500 links moves, and one of 2,000 nodes and 4,000 links", async () => {
  for (const [nodes, links, every, least] of [
    [200, 500, 250, 5],
    [2000, 4000, 1600, 1],
  ] as const) {
    const measured = await watch(nodes, links, every, "no-preference", 4);
    console.log(`${nodes} nodes and ${links} links, all live: ${words(measured)}`);
    assert.ok(measured.frames >= least, `${measured.frames}`);
  }
});

test("a run of 2,000 nodes and 4,000 links is replayed", async () => {
  const wire = large(2000, 4000, 1600);
  const { scene } = wire.answers["POST check"] as { scene: { links: { name: string }[] } };
  // 4,000 packets are on their way at any instant.
  const kept = long(
    1_000_000,
    1000,
    scene.links.map(({ name }) => name),
    4_000_000,
  );
  Object.assign(wire.answers, {
    "results/r1": {
      id: "r1",
      data: {
        kind: "run",
        lab: "large",
        name: "large",
        report: null,
        marks: [],
        tcp: [],
        notes: [],
        end: 1,
        map: null,
      },
      scene,
    },
    "results/r1/journal": kept.journal,
    "results/r1/journal/packets": kept.packets,
  });
  const { address, done } = await serve(bundle, wire);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await known(page);
  await page.goto(`${address}/#/replay/r1?at=100000000&speed=1000000`);
  await page.locator(".mapcanvas[data-shown]:not([data-shown='0'])").waitFor();
  await page.getByRole("button", { name: "Play" }).click();
  const measured = await measure(page, 4);
  const shown = await page.locator(".mapcanvas").getAttribute("data-shown");
  console.log(`a replay of 2,000 nodes and 4,000 links with ${shown} packets in sight: ${words(measured)}`);
  await page.close();
  done();
  assert.ok(Number(shown) > 1000 && measured.frames >= 1, `${shown} ${measured.frames}`);
});

test("a page that watches ten links", async () => {
  for (const motion of ["no-preference", "reduce"] as const) {
    const measured = await watch(11, 10, 250, motion, 5);
    console.log(`ten links${motion === "reduce" ? ", with reduced motion" : ""}: ${words(measured)}`);
    assert.ok(motion === "reduce" ? measured.frames <= 8 : measured.frames >= 5, `${measured.frames}`);
  }
});
