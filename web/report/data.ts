// What `netloom` embeds in a page: see crates/results/src/page and crates/sweep/src/page. Units end the names.
import type { FaultSpan, Mark } from "../components/axis";

/** An integer of 64 bits: text if it is beyond 2^53, which a number would round. */
export type Whole = number | string;

export interface PipeKey {
  link: string;
  direction: string;
  pipe?: string | null;
}

export interface PipeRow extends PipeKey {
  from: string;
  to: string;
  joined_in_kernel?: boolean;
  rate_bits_per_second: number | null;
  achieved_bits_per_second: number | null;
  rate_judged: boolean;
  throughput_bits_per_second: number;
  delay_ns: number;
  measured_delay_mean_ns: number | null;
  measured_delay_p99_ns: number | null;
  queue_peak_packets: number;
  arrived_packets: number;
  departed_packets: number;
  departed_bytes: number;
  dropped_queue_packets: number;
  dropped_loss_packets: number;
  dropped_early_packets: number;
  dropped_down_packets: number;
  dropped_partition_packets?: number;
  dropped_fault_packets?: number;
  dropped_air_packets?: number;
  marked_packets?: number;
  duplicated_packets?: number;
  corrupted_packets?: number;
  reordered_packets?: number;
  cross_dropped_packets?: number;
  lateness_p99_ns: number | null;
}

export interface Series extends PipeKey {
  t: number[];
  rate: number[];
  queue_packets: number[];
  queue_bytes: number[];
  drops: Record<string, number[]>;
  rates: [number, number | null][];
  one_way_p50?: (number | null)[];
  one_way_p99?: (number | null)[];
}

export interface Described extends PipeKey {
  from: string;
  to: string;
  models: Record<string, string>;
}

export interface Delays extends PipeKey {
  packets: number;
  measured_ns: number[];
  described_ns: number[] | null;
  ks: number | null;
  drawn_packets: number | null;
  note?: string;
}

export interface Connection {
  node: string;
  connection: number;
  local: string;
  remote: string;
  congestion: string;
  t: number[];
  cwnd_packets: (number | null)[];
  ssthresh_packets: (number | null)[];
  srtt_us: (number | null)[];
  min_rtt_us: (number | null)[];
  delivery_rate: (number | null)[];
  bytes_sent: (number | null)[];
  bytes_acked: (number | null)[];
  bytes_received: (number | null)[];
  retransmissions: (number | null)[];
}

export interface NodeUse {
  node: string;
  has_kernel: boolean;
  t: number[];
  processor_ns: number[];
  memory_bytes: number[];
  dropped_packets: number[];
}

export interface Journal {
  records: number;
  delays: (PipeKey & { packets: number; measured_ns: number[] })[];
  flows: {
    name: string;
    pipe: string;
    packets: number;
    bytes: number;
    t: number[];
    sequence: number[];
    again: [number, number][];
    dropped: [number, number][];
  }[];
}

export interface Log {
  name: string;
  node: string;
  outputs: { stream: string; file: string; bytes: number; head: string; tail: string }[];
}

export interface Finding {
  subject: string;
  text: string;
  slowing?: number | null;
}
export interface Command {
  name: string;
  node: string;
  command: string;
  service: boolean;
  start_ns: number | null;
  end_ns: number | null;
  exit_code: number | null;
  signal: number | null;
  stopped: boolean;
  failed: boolean;
  interrupted?: boolean;
  restarts?: number;
  kept_by?: string;
  stderr_tail?: string[];
}
export interface Source {
  source: string;
  from: string;
  to: string;
  sent_packets: number;
  received_packets: number;
  lost_packets: number;
  reordered_packets: number;
  goodput_bits_per_second: number;
  delay_mean_ns: number | null;
  delay_p99_ns: number | null;
}

/** What a run or a simulation cost; a part that is missing was not measured. */
export interface Effort {
  wall_ns: number;
  engine_cpu_share?: number | null;
  phases?: { setup_ns: number; boot_ns: number; lab_ns: number; end_ns: number; results_ns: number } | null;
  /** Of a run in virtual time. */
  scheduler?: { packets: number } | null;
  /** Of a simulation. */
  packets?: number;
}

/** A station of a radio medium. */
export interface Station {
  link: string;
  node: string;
  airtime_ns: number;
  attempts: number;
  collisions: number;
  retries: number;
  mean_rate_bits_per_second: number | null;
  delivered_packets: number;
  dropped_queue_packets: number;
  dropped_air_packets: number;
  handovers?: number;
  clients?: number;
}

export interface Report {
  error?: string | null;
  interrupted?: boolean;
  wall_limit_reached?: boolean;
  duration_ns?: number;
  seed?: Whole;
  verdict?: {
    as_described: boolean | null;
    findings: Finding[];
    causes?: string[];
    dilation?: number | null;
    machine?: string | null;
    notes?: string[];
  };
  expectations?: { text: string; line: number; met: boolean; explanation: string }[];
  exercise?: {
    title: string;
    tasks: { title: string; met_ns: number | null; checks: { text: string; met: boolean; explanation: string }[] }[];
  } | null;
  figures?: { name: string; unit: string; value: number | null; missing?: string }[];
  commands?: Command[];
  warnings?: string[];
  exit_code?: number;
  sources?: Source[];
  skipped?: string[];
  effort?: Effort | null;
  losses?: unknown[];
  attempts?: { clock: string; as_described: boolean; verdict: string; wall_ns: number }[];
  advanced?: { node: string; advanced_ns: number }[];
}

export interface Run {
  kind: "run" | "sim";
  lab: string;
  name: string;
  place: string;
  report: Report | null;
  provenance: Record<string, unknown> | null;
  summary: string;
  map: string | null;
  /** The map of radio media in metres; pages of older versions have none. */
  metres?: string | null;
  stations?: Station[] | null;
  end: number;
  pipes: PipeRow[];
  pipes_left_out: number;
  series: Series[];
  described: Described[];
  marks: Mark[];
  marks_left_out: number;
  /** When something was wrong. */
  faults?: FaultSpan[];
  tcp: Connection[];
  nodes: NodeUse[];
  nodes_left_out: number;
  delays: Delays[] | null;
  journal?: Journal | null;
  logs: Log[];
  logs_left_out: number;
  files: { name: string; bytes: number }[];
  notes: string[];
}

export interface Comparison {
  kind: "comparison";
  runs: Run[];
}

export interface Summary {
  n: number;
  mean: number | null;
  ci95: number | null;
  deviation: number | null;
  q: [number, number, number, number, number] | null;
  values: number[];
}
export interface Point {
  point: number;
  values: string[];
  counted: number;
  left_out: number;
  figures: Summary[];
}
export interface FigureName {
  name: string;
  unit: string;
}
export interface SweepRun {
  run: number;
  name: string;
  point: number;
  repetition: number;
  seed: Whole;
  outcome: string;
  unmet: number;
  wall_s: number;
  place: string | null;
  has_page: boolean;
}
export interface LeftOut {
  run: number;
  name: string;
  values: string[];
  outcome: string;
  why: string;
  place: string | null;
  has_page: boolean;
}

export interface Sweep {
  kind: "sweep";
  lab: string;
  name: string;
  parameters: string[];
  figures: FigureName[];
  points: Point[];
  total: number;
  as_described: number;
  not_as_described: number;
  failed: number;
  unmet: number;
  counts_all: boolean;
  repetitions: number;
  clock: string;
  lab_file: string;
  version: string;
  left_out: LeftOut[];
  left_out_more: number;
  runs: SweepRun[];
  runs_more: number;
  lab_text: string;
  notes: string[];
}

export interface Side {
  n: number;
  mean: number | null;
  ci95: number | null;
}
export interface Sweeps {
  kind: "sweeps";
  sweeps: [Sweep, Sweep];
  parameters: string[];
  figures: FigureName[];
  rows: {
    values: string[];
    figure: number;
    a: Side;
    b: Side;
    difference: { mean: number; ci95: number | null } | null;
  }[];
  unmatched: number;
  left_out: number;
}

export type Page = Run | Comparison | Sweep | Sweeps;

export const pipeName = (key: PipeKey): string => `${key.link} ${key.direction}${key.pipe ? ` ${key.pipe}` : ""}`;
export const samePipe = (one: PipeKey, other: PipeKey): boolean =>
  one.link === other.link && one.direction === other.direction && (one.pipe ?? null) === (other.pipe ?? null);
export const drops = (row: PipeRow): number =>
  row.dropped_queue_packets +
  row.dropped_loss_packets +
  row.dropped_early_packets +
  row.dropped_down_packets +
  (row.dropped_partition_packets ?? 0) +
  (row.dropped_fault_packets ?? 0) +
  (row.dropped_air_packets ?? 0);
/** The mean throughput as a share of the described rate. */
export const use = (row: PipeRow): number | null =>
  row.rate_bits_per_second ? row.throughput_bits_per_second / row.rate_bits_per_second : null;

/** A letter and what tells the run from the others. */
export function runLabel(runs: Run[], place: number): string {
  const run = runs[place];
  const letter = String.fromCharCode(65 + place);
  return run && new Set(runs.map((one) => one.lab)).size > 1 ? `${letter} ${run.lab}` : `${letter} ${run?.name ?? ""}`;
}
