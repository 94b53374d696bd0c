// A lab that is up, as the page knows it: its network, what its pipes carry now and did lately, and what happened. Memory is bounded.
import {
  Control,
  type Exercise,
  type Happened,
  type Info,
  Lost,
  type Now,
  type Output,
  type PipeStats,
  type SoFar,
  type StationRow,
  type Stats,
  type SwitchPort,
  type Topology,
} from "./control";
import { Pace } from "./pace";
import { Ring } from "./ring";
import { Connections } from "./tcp";
import { type Accessor, batch, createEffect, createMemo, createSignal, on, onCleanup } from "./view";

/** Lab time between two samples, and for each pipe of a large lab. */
const [EVERY_NS, EVERY_PIPE_NS] = [250e6, 200e3];
/** Samples of all pipes together that are kept. */
const MOST_VALUES = 1_500_000;
/** Samples of a pipe, at most: ten minutes at four per second. */
const MOST_SAMPLES = 2_400;
/** Between two figures in lists, in ms. */
const FIGURES_MS = 480;
/** Between two looks at what programs wrote, in ms. */
const WRITTEN_MS = 100;
/** What happens to nodes that are stopped and started. */
const NODE_CHANGES = ["has stopped", "runs again", "crashed", "boots", "frozen", "goes on"];
export const MOST_EVENTS = 2_000;
export const MOST_LINES = 5_000;
export const SERIES = ["bits", "queue", "drops"] as const;
export type Series = (typeof SERIES)[number];

/** What a pipe carries, between the last two samples. */
export interface Flow {
  bits: number;
  drops: number;
  queue: number;
  use: number | null;
  up: boolean;
  /** The share of the time in which the air of a radio medium was in use. */
  air: number | null;
  total: PipeStats;
}

/** What a station of a radio medium does, between the last two samples that were shown. */
export interface AirNow {
  /** The share of the time in which it had the air. */
  airtime: number;
  /** Attempts to send, what they did not get across, and those that collided, in a second. */
  attempts: number;
  retries: number;
  collisions: number;
  total: StationRow;
}

/** Three values of each pipe, in the samples that are kept. */
export class History {
  private readonly ring: Ring;

  constructor(readonly pipes: number) {
    const width = pipes * SERIES.length;
    this.ring = new Ring(Math.max(60, Math.min(MOST_SAMPLES, Math.floor(MOST_VALUES / Math.max(1, width)))), width);
  }

  get length(): number {
    return this.ring.length;
  }

  get count(): number {
    return this.ring.count;
  }

  add(seconds: number, flows: readonly Flow[]): void {
    this.ring.add(seconds, (values, at) =>
      flows.forEach((flow, pipe) => {
        values.set([flow.bits, flow.queue, flow.drops], at + pipe * SERIES.length);
      }),
    );
  }

  /** Instants in seconds and values, the oldest first. */
  of(pipe: number, series: Series): { t: number[]; y: (number | null)[] } {
    return this.ring.of(pipe * SERIES.length + SERIES.indexOf(series));
  }
}

export const dropsOf = (pipe: PipeStats): number =>
  pipe.dropped_queue_packets +
  pipe.dropped_loss_packets +
  pipe.dropped_early_packets +
  pipe.dropped_down_packets +
  (pipe.dropped_partition_packets ?? 0) +
  (pipe.dropped_fault_packets ?? 0) +
  (pipe.dropped_air_packets ?? 0);

/** What happened between two samples. Counters that went back belong to another lab of the name. */
export function flowsOf(before: Pick<Stats, "at_ns" | "pipes"> | null, now: Pick<Stats, "at_ns" | "pipes">): Flow[] {
  const seconds = before ? (now.at_ns - before.at_ns) / 1e9 : 0;
  return now.pipes.map((pipe, place) => {
    const was = before?.pipes[place];
    const bits = was && seconds > 0 ? (Math.max(0, pipe.departed_bytes - was.departed_bytes) / seconds) * 8 : 0;
    const drops = was && seconds > 0 ? Math.max(0, dropsOf(pipe) - dropsOf(was)) / seconds : 0;
    return {
      bits,
      drops,
      queue: pipe.queued_packets,
      use: pipe.rate_bits_per_second ? bits / pipe.rate_bits_per_second : null,
      up: pipe.up,
      air:
        pipe.air_busy_ns === undefined || !(seconds > 0)
          ? null
          : Math.max(0, pipe.air_busy_ns - (was?.air_busy_ns ?? 0)) / 1e9 / seconds,
      total: pipe,
    };
  });
}

/** What stations did between two samples. Counters that went back belong to another lab of the name, or begin at time zero. */
export function airOf(
  before: Pick<Stats, "at_ns" | "stations"> | null,
  now: Pick<Stats, "at_ns" | "stations">,
): AirNow[] {
  const seconds = before ? (now.at_ns - before.at_ns) / 1e9 : 0;
  return (now.stations ?? []).map((total, place) => {
    const was = before?.stations?.[place];
    const grown = (key: "airtime_ns" | "attempts" | "retries" | "collisions"): number =>
      was && seconds > 0 ? Math.max(0, total[key] - was[key]) / seconds : 0;
    return {
      airtime: grown("airtime_ns") / 1e9,
      attempts: grown("attempts"),
      retries: grown("retries"),
      collisions: grown("collisions"),
      total,
    };
  });
}

export interface LogLine {
  command: string;
  node: string;
  stream: string;
  text: string;
}

export class Lab {
  readonly control: Control;
  /** TCP connections of its nodes, while somebody looks. */
  readonly tcp: Connections;
  readonly topology: Accessor<Topology | null>;
  readonly info: Accessor<Info | null>;
  readonly now: Accessor<Now | null>;
  readonly flows: Accessor<Flow[]>;
  /** The same for those who read figures: twice a second, since more cannot be read, and texts are drawn slowly. */
  readonly figures: Accessor<Flow[]>;
  /** What the ports of its switches did and know, as often as figures. */
  readonly ports: Accessor<readonly SwitchPort[]>;
  /** What stations of its radio media do, as often as figures. */
  readonly air: Accessor<readonly AirNow[]>;
  readonly events: Accessor<Happened[]>;
  /** What is to be done with it, and what is; none if it has no tasks. */
  readonly exercise: Accessor<Exercise | null>;
  /** What speaks against the run so far, and how late packets are: asked for while somebody looks. */
  readonly soFar: Accessor<SoFar | null>;
  private readonly setSoFar: (found: SoFar | null) => void;
  /** Samples that were left out, because this page was slow. */
  readonly lost: Accessor<number>;
  /** Lines of logs that are kept, and a number that grows with them. */
  readonly lines: LogLine[] = [];
  readonly written: Accessor<number>;
  history = new History(0);
  private readonly pace: Pace;
  private isAsking = false;
  private readonly set;
  private before: Stats | null = null;
  /** The sample that figures were shown of. */
  private seen: Stats | null = null;
  private latest: Flow[] = [];
  private writtenDue: ReturnType<typeof setTimeout> | undefined;
  private figuresDue: ReturnType<typeof setTimeout> | undefined;
  private kept: Happened[] = [];
  /** What has happened since it was shown last, as far as something is to be asked for because of it. */
  private news: Set<string> | null = null;
  private count = 0;

  constructor(
    readonly name: string,
    url: string,
    exists: () => Promise<boolean>,
  ) {
    const [topology, setTopology] = createSignal<Topology | null>(null);
    const [info, setInfo] = createSignal<Info | null>(null);
    const [now, setNow] = createSignal<Now | null>(null);
    const [flows, setFlows] = createSignal<Flow[]>([]);
    const [figures, setFigures] = createSignal<Flow[]>([]);
    const [ports, setPorts] = createSignal<readonly SwitchPort[]>([]);
    const [air, setAir] = createSignal<readonly AirNow[]>([]);
    const [events, setEvents] = createSignal<Happened[]>([]);
    const [soFar, setSoFar] = createSignal<SoFar | null>(null);
    [this.soFar, this.setSoFar] = [soFar, setSoFar];
    const [exercise, setExercise] = createSignal<Exercise | null>(null);
    const [lost, setLost] = createSignal(0);
    const [written, setWritten] = createSignal(0);
    this.set = {
      setTopology,
      setInfo,
      setNow,
      setFlows,
      setFigures,
      setPorts,
      setAir,
      setEvents,
      setExercise,
      setLost,
      setWritten,
    };
    [
      this.topology,
      this.info,
      this.now,
      this.flows,
      this.figures,
      this.ports,
      this.air,
      this.events,
      this.exercise,
      this.lost,
      this.written,
    ] = [topology, info, now, flows, figures, ports, air, events, exercise, lost, written];
    this.control = new Control(url, exists);
    const isPaused = createMemo(() => now()?.paused ?? false);
    this.tcp = new Connections(this.control, () => topology()?.nodes.length ?? 0, isPaused);
    this.pace = new Pace(EVERY_NS / 1e6, EVERY_NS, isPaused);
    createEffect(
      on(this.pace.every, () => {
        if (this.isAsking) this.askForStats();
      }),
    );
  }

  /** Asks for all there is to know, and for what comes, whenever the connection is open; `failed` hears what the lab refuses, and not that it is gone meanwhile. */
  follow(failed: (error: Error) => void = () => undefined): void {
    createEffect(
      on(this.control.state, (state) => {
        if (state === "open")
          this.begin().catch((error: Error) => {
            if (!(error instanceof Lost)) failed(error);
          });
      }),
    );
  }

  private async begin(): Promise<void> {
    // Of a connection that was lost and is there again: logs come from their beginning once more.
    this.lines.length = 0;
    const [topology, info, now] = await Promise.all([
      this.control.send<Topology>({ request: "topology" }),
      this.control.send<Info>({ request: "info" }),
      this.control.send<Now>({ request: "now" }),
    ]);
    batch(() => {
      this.set.setTopology(topology);
      this.set.setInfo(info);
      this.set.setNow(now);
    });
    void this.askForTasks();
    this.before = this.seen = null;
    const pipes = topology.links.reduce((sum, link) => sum + link.pipes.length, 0);
    if (this.history.pipes !== pipes || this.history.count === 0) this.history = new History(pipes);
    this.isAsking = false;
    this.pace.reset(Math.max(EVERY_NS, pipes * EVERY_PIPE_NS));
    this.kept = [];
    this.control.subscribe<Happened>("lab", { from_start: true }, (event) => this.happened(event));
    this.isAsking = true;
    this.askForStats();
  }

  private askForStats(): void {
    this.control.subscribe<Stats>("stats", { every_ns: this.pace.every() }, (sample) => this.sample(sample));
  }

  private sample(sample: Stats): void {
    this.pace.heard(performance.now());
    if (this.before && sample.at_ns <= this.before.at_ns) return;
    const flows = flowsOf(this.before, sample);
    if (this.before) this.history.add((sample.since_zero_ns ?? sample.at_ns) / 1e9, flows);
    this.before = sample;
    batch(() => {
      this.set.setFlows(flows);
      this.latest = flows;
      if (!this.figuresDue) this.showFigures();
      if (sample.lost) this.set.setLost((lost) => lost + (sample.lost ?? 0));
      this.set.setNow((known) =>
        known ? { ...known, at_ns: sample.at_ns, since_zero_ns: sample.since_zero_ns ?? known.since_zero_ns } : known,
      );
    });
  }

  private showFigures(): void {
    const { latest } = this;
    this.set.setFigures(latest);
    this.set.setPorts(this.before?.switches ?? []);
    if (this.before?.stations?.length && (this.seen === null || this.seen.at_ns < this.before.at_ns)) {
      this.set.setAir(airOf(this.seen, this.before));
      this.seen = this.before;
    }
    // The last sample before a pause is shown, too.
    this.figuresDue = setTimeout(() => {
      this.figuresDue = undefined;
      if (this.latest !== latest) this.showFigures();
    }, FIGURES_MS);
  }

  private happened(event: Happened): void {
    this.kept.push(event);
    if (this.kept.length > MOST_EVENTS * 2) this.kept = this.kept.slice(-MOST_EVENTS);
    // Many come at once when a page is opened late: they are shown together.
    if (!this.news) {
      this.news = new Set();
      setTimeout(() => {
        const news = this.news;
        this.news = null;
        this.set.setEvents(this.kept.slice(-MOST_EVENTS));
        if (news?.has("shape")) this.refresh();
        if (news?.has("task met")) void this.askForTasks();
      }, 60);
    }
    if (event.what.startsWith("link") || NODE_CHANGES.includes(event.what)) this.news.add("shape");
    else if (event.what === "task met") this.news.add(event.what);
  }

  /** Asks for the verdict as it is. A lab of an older program, and one that has not begun, tells none. */
  async askForVerdict(): Promise<void> {
    this.setSoFar(await this.control.send<SoFar>({ request: "verdict" }).catch(() => null));
  }

  /** Asks again and again for as long as this is shown. */
  watchVerdict(while_: () => boolean = () => true): void {
    const ask = (): void => {
      if (this.control.state() === "open" && while_()) void this.askForVerdict();
    };
    const timer = setInterval(ask, 2_000);
    onCleanup(() => clearInterval(timer));
    queueMicrotask(ask);
  }

  /** Lets a command, or the services of a node, end and start again. */
  async restart(name: string): Promise<void> {
    await this.control.send({ request: "restart", name });
  }

  /** Stops a node, or starts one that has stopped: resolves when it has, and its services are ready. */
  async changeNode(request: "stop" | "start", node: string): Promise<void> {
    try {
      await this.control.send({ request, node });
    } finally {
      this.refresh();
    }
  }

  /** Parts nodes, as an entry of the timeline says it. */
  async part(entry: string): Promise<void> {
    await this.control.send({ request: "partition", entry });
  }

  /** Does now what an entry of the timeline describes. */
  async fault(entry: string): Promise<void> {
    await this.control.send({ request: "fault", entry });
    this.refresh();
  }

  /** Ends all partitions that clients have made. */
  async heal(): Promise<void> {
    await this.control.send({ request: "heal" });
  }

  /** Asks how far the tasks are. A lab of an older program knows of none. */
  async askForTasks(): Promise<void> {
    const exercise = await this.control.send<Exercise>({ request: "exercise" }).catch(() => null);
    this.set.setExercise(exercise && exercise.tasks.length > 0 ? exercise : null);
  }

  private refreshing: ReturnType<typeof setTimeout> | undefined;

  /** Reads the settings in force again, once for many changes. */
  refresh(): void {
    clearTimeout(this.refreshing);
    this.refreshing = setTimeout(() => {
      this.control.send<Topology>({ request: "topology" }).then(
        (topology) => this.set.setTopology(topology),
        () => undefined,
      );
    }, 120);
  }

  /** Begins to read logs: they are asked for when they are looked at. */
  readLogs(): void {
    if (this.count > 0) return;
    this.count = 1;
    this.control.subscribe<Output>("output", { from_start: true }, (output) => {
      for (const text of output.lines)
        this.lines.push({
          command: output.command,
          node: output.node,
          stream: output.stream,
          text: text.length > 4000 ? `${text.slice(0, 4000)}…` : text,
        });
      if (this.lines.length > MOST_LINES * 2) this.lines.splice(0, this.lines.length - MOST_LINES);
      // Programs write faster than anybody reads: what came in a while is shown together.
      this.writtenDue ??= setTimeout(() => {
        this.writtenDue = undefined;
        this.set.setWritten((number) => number + 1);
      }, WRITTEN_MS);
    });
  }

  /** Changes a link, and reads what is in force then. */
  async change(link: string, changes: [string, string][], direction?: string): Promise<void> {
    await this.control.send({ request: "set", link, changes, ...(direction ? { direction } : {}) });
    this.refresh();
  }

  async time(request: "pause" | "resume" | "advance", by_ns?: number): Promise<void> {
    const now = await this.control.send<Now>(by_ns === undefined ? { request } : { request, by_ns });
    this.set.setNow(now);
  }

  close(): void {
    clearTimeout(this.refreshing);
    clearTimeout(this.figuresDue);
    clearTimeout(this.writtenDue);
    this.control.close();
  }
}
