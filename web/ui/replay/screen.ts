// What a replay shows: the map with its packets, the strip of the whole run, and the packet that is followed.
import { TimeAxis } from "../../components/axis";
import { announce } from "../../components/download";
import { digits, whole } from "../../components/format";
import type { Run } from "../../report/data";
import { api, type Journal, type Scene } from "../api";
import { MapCanvas } from "../map/canvas";
import { FALL_MS, type Way, wayOf } from "../map/dots";
import type { Colours } from "../map/glyphs";
import { graphOf, type Look } from "../map/model";
import { note } from "../route";
import { attempt, tell } from "../tell";
import { createEffect, createSignal, onCleanup, untrack } from "../view";
import { follow, type Hop } from "./follow";
import { decode, next, type Packets, Reader } from "./packets";
import type { Player } from "./player";
import { drawScene, nearest, type Shown } from "./stage";
import { Strip } from "./timeline";

/** Of how many packets each is drawn in the strip of the whole run: of more, blocks are. */
const MOST_DRAWN = 20_000;

export class Screen {
  readonly axis: TimeAxis;
  readonly map: MapCanvas;
  readonly strip: Strip;
  readonly reader: Reader;
  readonly ways: Way[];
  readonly looks: Look[];
  /** The pipes of the packet that is followed. */
  readonly hops: () => Hop[];
  /** What is said when not all packets are drawn. */
  readonly thinned: () => string;
  /** The number of the packet that is followed. */
  chosen: number | null;
  private readonly setHops: (hops: Hop[]) => void;
  private readonly setThinned: (words: string) => void;
  /** All packets of a run that is short enough for that. */
  private all: Packets | null = null;
  /** What was drawn last. */
  private shown: Shown[] = [];

  constructor(
    private readonly id: string,
    readonly run: Run,
    private readonly scene: Scene,
    private readonly journal: () => Journal,
    private readonly player: Player,
    keys: URLSearchParams,
  ) {
    const first = untrack(journal);
    const packet = Number(keys.get("packet") ?? NaN);
    this.chosen = Number.isInteger(packet) ? packet : null;
    [this.hops, this.setHops] = createSignal<Hop[]>([]);
    [this.thinned, this.setThinned] = createSignal("");
    this.axis = new TimeAxis(Math.max(run.end || first.to_ns / 1e9, 1e-6), run.marks ?? []);
    this.map = this.makeMap();
    const graph = graphOf(scene);
    this.map.show(graph);
    this.ways = first.pipes.map((pipe) => wayOf(this.map, pipe));
    this.looks = graph.links.map(() => ({ grade: 0, dropping: false, down: false, label: "", queue: [0, 0] }));
    this.map.look(this.looks);
    this.reader = new Reader(
      id,
      journal,
      () => this.read(),
      (message) => tell(message, true),
    );
    this.strip = new Strip(
      journal,
      () => this.all,
      run.marks ?? [],
      run.faults ?? [],
      player.seek,
      (now) => `${digits(now / 1e9, 10)} s`,
      (event) => this.key(event),
    );
    this.keepUp();
    onCleanup(() => {
      this.reader.close();
      this.strip.destroy();
      this.map.destroy();
    });
  }

  /** How long a packet is drawn behind its end, in ns of the lab. */
  trail(): number {
    return (this.player.speed() * FALL_MS) / 1000;
  }

  /** Goes to the next packet, or to the one before; where none is at hand, half a stretch on. */
  readonly step = (back: boolean): void => {
    const { player } = this;
    const { stretch } = this.reader;
    player.setPlaying(false);
    const to = stretch ? next(stretch.instants, player.at(), back) : null;
    const half = Math.max((stretch ? stretch.to - stretch.from : 1e6) / 2, 1);
    player.seek(to ?? player.at() + (back ? -1 : 1) * half);
    announce(`${digits(player.at() / 1e9, 10)} s, ${this.moment()}`);
  };

  private makeMap(): MapCanvas {
    return new MapCanvas({
      label: `map of ${this.run.lab}`,
      choose: () => undefined,
      words: ({ node, link }) =>
        node !== undefined
          ? `node ${node}`
          : `link ${link ?? ""}: ${this.scene.links.find(({ name }) => name === link)?.words?.join("; ") ?? ""}`,
      over: (map, pen, colours): null => {
        this.draw(map, pen, colours);
        return null;
      },
      hit: (x, y) => {
        const place = nearest(this.shown, x, y);
        if (place === null || !this.reader.stretch) return false;
        this.choose(place);
        return true;
      },
      key: (event) => this.key(event),
    });
  }

  private draw(map: MapCanvas, pen: CanvasRenderingContext2D, colours: Colours): void {
    const { stretch } = this.reader;
    if (!stretch) return;
    const at = this.player.at();
    const followed = new Set(this.hops().map(({ number }) => number));
    const scene = { at, trail: this.trail(), packets: stretch.packets, chosen: this.chosen, followed };
    this.shown = drawScene(map, scene, this.ways, pen, colours);
    map.element.dataset.at = String(at);
    map.element.dataset.shown = String(this.shown.length);
  }

  /** A stretch of packets has come. */
  private read(): void {
    const { stretch, took } = this.reader;
    this.setThinned(
      stretch && stretch.packets.found > stretch.packets.n
        ? `${whole(stretch.packets.n)} of ${whole(stretch.packets.found)} packets of this stretch are drawn: queues are shown too short. Slow down to see all.`
        : "",
    );
    this.map.element.dataset.took = took.toFixed(1);
    this.map.draw();
  }

  /** Keeps what is shown up with the player and the journal. */
  private keepUp(): void {
    const { player, strip, reader, axis, map } = this;
    createEffect(() => {
      const now = player.at();
      strip.show(now);
      reader.want(now, player.playing() ? player.speed() * 0.6 : 0, this.trail());
      axis.point(now / 1e9);
      map.draw();
    });
    createEffect(() => this.readAll(this.journal()));
  }

  /** More of the journal has been read. */
  private readAll({ packets, state, from_ns, to_ns }: Journal): void {
    if (packets) this.strip.draw();
    if (this.all || state === "reading" || state === "unfinished" || packets === 0 || packets > MOST_DRAWN) return;
    api.packets(this.id, `from_ns=${from_ns}&to_ns=${to_ns}&limit=${MOST_DRAWN}`).then(
      (buffer) => {
        this.all = decode(buffer);
        this.strip.draw();
      },
      () => undefined,
    );
  }

  private choose(place: number): void {
    const packets = this.reader.stretch?.packets;
    if (!packets) return;
    this.chosen = packets.number[place] ?? null;
    note({ packet: String(this.chosen ?? "") });
    this.map.draw();
    attempt(async () => {
      this.setHops(await follow(this.id, packets, place));
      this.map.draw();
    });
  }

  /** What can be seen now, in words. */
  private moment(): string {
    const count = new Map<string, number>();
    for (const { k } of this.shown) {
      const pipe = this.journal().pipes[this.reader.stretch?.packets.pipe[k] ?? 0];
      if (!pipe) continue;
      const name = `${pipe.link} ${pipe.direction}`;
      count.set(name, (count.get(name) ?? 0) + 1);
    }
    const words = [...count].slice(0, 6).map(([pipe, number]) => `${number} on ${pipe}`);
    return words.length === 0 ? "no packet is on its way" : words.join(", ");
  }

  private key(event: KeyboardEvent): boolean {
    const { player } = this;
    const acts: Record<string, () => void> = {
      ".": () => this.step(false),
      ",": () => this.step(true),
      " ": player.toggle,
      "]": () => player.faster(1),
      "[": () => player.faster(-1),
    };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key];
    act?.();
    return act !== undefined;
  }
}
