// Results folders as netloom leaves them, made by hand, and the pages that it makes of them.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const NETLOOM = process.env.NETLOOM ?? "";
export const HOSTILE = `x</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1">'"&{{}}`;

export function scratch(): { path: string; done: () => void } {
  const path = mkdtempSync(join(tmpdir(), "netloom-web-"));
  return { path, done: () => rmSync(path, { recursive: true, force: true }) };
}

export function write(folder: string, name: string, content: unknown): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

/** Calls netloom, and answers with what it printed. */
export function netloom(...words: string[]): string {
  return execFileSync(NETLOOM, words, { encoding: "utf8", maxBuffer: 256 << 20, stdio: ["ignore", "pipe", "pipe"] });
}

export interface Shape {
  name?: string;
  links?: string[];
  seconds?: number;
  tcp?: number;
  nodes?: number;
  described?: boolean;
  error?: string;
  hostile?: boolean;
}

/** A lab that is played: TCP over a queue that becomes full, and all that can be measured of it. */
export const JOURNALLED = `name: journalled
# What is tested is the page, however busy the machine is.
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: [client, server]
links:
  access: {ends: [client, server], rate: 10 Mbit/s, delay: 10 ms, queue: 5 packets}
measure: {pipes: 20 ms, tcp: 10 ms, node: 100 ms}
journal: all
timeline:
  - {on: server, run: iperf3 -s, service: true, ready: {tcp: 5201}}
  - {on: client, run: iperf3 -c server -t 1, as: transfer}
`;

/** A run with these links, each between two nodes of its own. */
export function run(folder: string, shape: Shape = {}): string {
  const { links = ["backbone", "access"], seconds = 10, tcp = 0, nodes = 0, hostile = false } = shape;
  const word = hostile ? HOSTILE : "word";
  report(folder, { ...shape, links, seconds }, word);
  about(folder, { ...shape, links }, word);
  write(folder, "lab.svg", picture(links, hostile));
  write(folder, "logs/1.stdout", `${word}\n`.repeat(5000));
  write(folder, "logs/1.stderr", word);
  events(folder, links[0], seconds, word.replace(/"/g, "'"));
  samples(folder, links, seconds);
  write(
    folder,
    "delays.json",
    links.map((link) => ({
      link,
      direction: "forward",
      pipe: null,
      packets: 8900,
      measured_ns: rising(2e7, 1.1),
      described_ns: rising(2e7, 1),
      ks: 0.031,
      drawn_packets: 20_000,
    })),
  );
  if (tcp > 0) connections(folder, tcp, seconds, hostile);
  if (nodes > 0) uses(folder, nodes, seconds, hostile);
  return folder;
}

/** What a report says of a pipe. */
const row = (link: string, direction: string): object => ({
  link,
  direction,
  pipe: null,
  from: `${link}-a`,
  to: `${link}-b`,
  joined_in_kernel: false,
  rate_bits_per_second: 10_000_000,
  achieved_bits_per_second: 9_990_000,
  rate_judged: true,
  throughput_bits_per_second: direction === "forward" ? 9_400_000 : 200_000,
  delay_ns: 20_000_000,
  measured_delay_mean_ns: 20_100_000,
  measured_delay_p99_ns: 21_000_000,
  queue_peak_packets: 60,
  arrived_packets: 9000,
  arrived_bytes: 13_000_000,
  departed_packets: 8900,
  departed_bytes: 12_900_000,
  dropped_queue_packets: direction === "forward" ? 100 : 0,
  dropped_loss_packets: 0,
  dropped_early_packets: 0,
  dropped_down_packets: 0,
  marked_packets: 0,
  duplicated_packets: 0,
  corrupted_packets: 0,
  reordered_packets: 0,
  cross_arrived_packets: 0,
  cross_arrived_bytes: 0,
  cross_departed_packets: 0,
  cross_departed_bytes: 0,
  cross_dropped_packets: 0,
  lateness_p50_ns: 10_000,
  lateness_p99_ns: 90_000,
  lateness_max_ns: 200_000,
});

function report(
  folder: string,
  { name = "lab", links = [], seconds = 0, described = true, error, hostile = false }: Shape,
  word: string,
): void {
  write(folder, "report.json", {
    lab: name,
    results: folder,
    interrupted: false,
    duration_ns: seconds * 1e9,
    pipes: links.flatMap((link) => [row(link, "forward"), row(link, "backward")]),
    switches: [],
    commands: [
      {
        name: hostile ? HOSTILE : "transfer",
        node: hostile ? HOSTILE : "client",
        command: word,
        service: false,
        start_ns: 1e9,
        end_ns: 9e9,
        exit_code: described ? 0 : 1,
        signal: null,
        stopped: false,
        failed: !described,
        stdout: "logs/1.stdout",
        stderr: "logs/1.stderr",
        stderr_tail: [word],
      },
    ],
    expectations: [
      { text: word, line: 3, met: true, explanation: word },
      { text: "backbone.forward.drops == 0", line: 4, met: false, explanation: "measured 100 packets" },
    ],
    figures: [{ name: hostile ? HOSTILE : "goodput", unit: "bit/s", value: 9.4e6 }],
    verdict: {
      as_described: described && !error,
      findings: described
        ? []
        : [{ subject: "backbone forward", text: `1 % of its packets were late ${word}`, slowing: 4 }],
      causes: described ? [] : [word],
      dilation: described ? null : 4,
      notes: [word],
    },
    warnings: [word],
    plots: null,
    exit_code: 0,
    ...(error ? { error } : {}),
  });
}

/** Where the run comes from, what it was to be, and its verdict in words. */
function about(folder: string, { name = "lab", links = [] }: Shape, word: string): void {
  write(folder, "provenance.json", {
    netloom_version: "0.1.0",
    mode: "run",
    lab: name,
    lab_file: word,
    seed: 7,
    clock: "real",
    dilation: 1,
    command_line: ["netloom", "run", word],
    started_utc: "2026-11-25T14:40:25.935Z",
    kernel: word,
    processors: 2,
  });
  const pipe = {
    delay_ns: 2e7,
    described: { rate: "10 Mbit/s", delay: "20 ms" },
    pipes: [],
    rate_bits_per_second: 1e7,
  };
  write(folder, "plan.json", {
    name,
    links: links.map((link) => ({
      name: link,
      ends: [{ node: `${link}-a` }, { node: `${link}-b` }],
      forward: pipe,
      backward: pipe,
    })),
  });
  write(folder, "summary.txt", `verdict: ${word}\n`);
}

/** The map, with scripts in it if it is hostile. */
function picture(links: string[], hostile: boolean): string {
  const at = (link: number): string => `M${20 + link * 60} 40L${60 + link * 60} 120`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="200" viewBox="0 0 600 200"><title>x</title><style>body{display:none}</style>${hostile ? "<script>window.pwned=1</script><foreignObject><img src='x' onerror='window.pwned=1'/></foreignObject>" : ""}
    <defs><g id="host"><rect class="node" x="-9" y="-8" width="18" height="13"${hostile ? ' onclick="window.pwned=1"' : ""}/></g></defs>${links.map((link, place) => `<path class="link" data-link="${escaped(link)}" stroke-width="2" d="${at(place)}"><title>${escaped(link)}</title></path><g transform="translate(${20 + place * 60} 40)"><use href="#host"/></g>`).join("")}</svg>`;
}

function events(folder: string, link: string | undefined, seconds: number, text: string): void {
  write(
    folder,
    "events.jsonl",
    `${[
      { time_ns: 1e9, event: "started", command: text },
      { time_ns: 5e9, event: "link changed", link, set: { rate: "5 Mbit/s" } },
      { time_ns: 6e9, event: "log", text },
      { time_ns: seconds * 1e9, event: "the end begins" },
    ]
      .map((line) => JSON.stringify({ since_start_ns: 0, ...line }))
      .join("\n")}\n`,
  );
}

const escaped = (text: string): string =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
const rising = (from: number, power: number): number[] =>
  Array.from({ length: 201 }, (_, part) => Math.round(from + 1e7 * (part / 200) ** power));

function samples(folder: string, links: string[], seconds: number): void {
  const head =
    "time_s,link,direction,pipe,arrived_packets,arrived_bytes,departed_packets,departed_bytes,dropped_queue_packets,dropped_loss_packets,dropped_early_packets,dropped_down_packets,queue_packets,queue_bytes,cross_queue_packets,cross_queue_bytes";
  const rows = [head];
  for (let tenth = 0; tenth <= seconds * 10; tenth += 1) {
    for (const link of links.filter((link) => !/[,"\n]/.test(link))) {
      for (const direction of ["forward", "backward"]) {
        const wave = Math.round(30 + 25 * Math.sin(tenth / 7));
        rows.push(
          `${(tenth / 10).toFixed(3)},${link},${direction},,${tenth * 80},${tenth * 117_500},${tenth * 79},${tenth * (direction === "forward" ? 117_500 : 2_500)},${Math.floor(tenth / 3)},0,0,0,${wave},${wave * 1500},0,0`,
        );
      }
    }
  }
  write(folder, "samples.csv", `${rows.join("\n")}\n`);
}

function connections(folder: string, count: number, seconds: number, hostile: boolean): void {
  const rows = [
    "time_s,node,connection,local,remote,congestion,cwnd_packets,ssthresh_packets,srtt_us,min_rtt_us,delivery_rate_bits_per_second,bytes_sent,bytes_acked,bytes_received,retransmissions",
  ];
  for (let number = 0; number < count; number += 1) {
    for (let hundredth = 100; hundredth < seconds * 100; hundredth += 1) {
      const window = 10 + ((hundredth + number * 40) % 200);
      rows.push(
        [
          (hundredth / 100).toFixed(6),
          hostile ? "<img src=x onerror=window.pwned=1>" : `client${number}`,
          number,
          "10.0.0.1:40000",
          "10.0.0.2:5201",
          "cubic",
          window,
          hundredth > 300 ? 100 : "",
          40_000 + window * 100,
          40_000,
          9e6,
          hundredth * 11_000,
          hundredth * 10_900,
          0,
          Math.floor(hundredth / 200),
        ].join(","),
      );
    }
  }
  write(folder, "tcp.csv", `${rows.join("\n")}\n`);
}

function uses(folder: string, count: number, seconds: number, hostile: boolean): void {
  const rows = [
    "time_s,node,user_ns,system_ns,processes,threads,process_memory_bytes,interface_dropped_packets,used_memory_bytes,softnet_dropped_packets,softnet_squeezed",
  ];
  for (let number = 0; number < count; number += 1) {
    for (let tenth = 0; tenth <= seconds * 10; tenth += 1) {
      const own = number % 2 === 0 ? ",," : `${5e7 + tenth * 1e5},${Math.floor(tenth / 20)},0`;
      rows.push(
        `${(tenth / 10).toFixed(6)},${hostile ? "<img src=x onerror=window.pwned=1>" : `n${number}`},${tenth * (number + 1) * 1e7},${tenth * 5e6},4,5,${1e7 + tenth * 1e4},${Math.floor(tenth / 30)},${own}`,
      );
    }
  }
  write(folder, "nodes.csv", `${rows.join("\n")}\n`);
}

/** Seeds have 64 bits: a number of JavaScript would round this one. */
export const FIRST_SEED = 16_598_649_024_089_407_664n;

/** A sweep of two parameters with `repetitions` runs at each of six points; every seventh run is left out. */
export function sweep(folder: string, { repetitions = 5, shift = 0, hostile = false } = {}): string {
  const values = { cc: ["cubic", hostile ? HOSTILE : "reno"], queue: ["10 packets", "20 packets", "40 packets"] };
  write(folder, "origin.json", {
    version: "0.1.0",
    lab_file: hostile ? HOSTILE : "/home/you/queues.yaml",
    lab: hostile ? HOSTILE : "queues",
    points: 6,
    repetitions,
    clock: "virtual",
    played: "",
    files: {},
  });
  write(folder, "lab.yaml", hostile ? HOSTILE : "name: queues\n");
  write(folder, "sweep.json", { counts_all: false });
  write(folder, "runs.csv", "run,point,repetition,seed,cc,queue,outcome\n");
  for (let number = 0; number < 6 * repetitions; number += 1) {
    const point = Math.floor(number / repetitions);
    const [cc, queue] = [values.cc[Math.floor(point / 3)] ?? "", values.queue[point % 3] ?? ""];
    const name = `queues-${String(number + 1).padStart(4, "0")}`;
    const noise = ((number * 7919) % 101) / 101 - 0.5;
    write(
      folder,
      `runs/${name}/run.json`,
      JSON.stringify({
        run: number + 1,
        point: point + 1,
        repetition: (number % repetitions) + 1,
        seed: "SEED",
        parameters: { cc, queue },
        outcome: number % 7 === 6 ? "not_as_described" : "as_described",
        exit_code: 0,
        why: number % 7 === 6 ? (hostile ? HOSTILE : "backbone forward was late") : null,
        unmet: 0,
        results: `runs/${name}/20261125T144025-0000`,
        lab_ns: 1e9,
        wall_s: 0.5,
        figures: [
          { name: hostile ? HOSTILE : "goodput", unit: "bit/s", value: 8e6 + point * 2e5 + noise * 4e5 + shift },
          { name: "drops", unit: "packets", value: Math.round(100 / (point + 1) + noise * 10) },
          { name: "delay", unit: "ns", value: 2e7 + point * 1e6 + noise * 1e6 },
          { name: "goodput of the other", unit: "bit/s", value: 4e6 + point * 1e5 + noise * 2e5 },
        ],
      }).replace('"SEED"', String(FIRST_SEED + BigInt(number))),
    );
  }
  return folder;
}
