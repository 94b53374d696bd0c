// What is taken along of a replay: a link to the moment, pictures, a video.
import { fileName, png, save } from "../../components/download";
import { counted, digits } from "../../components/format";
import { api, type Journal } from "../api";
import { note } from "../route";
import { attempt, tell } from "../tell";
import { createSignal, el, onCleanup } from "../view";
import { momentSvg, movingSvg, record } from "./export";
import { decode } from "./packets";
import type { Player } from "./player";
import type { Screen } from "./screen";

/** How long a moving picture is, in seconds of the page. */
const MOVING_S = 6;

const seconds = (ns: number): string => `${digits(ns / 1e9, 10)} s`;

export class Takes {
  readonly recording: () => boolean;
  private readonly setRecording: (recording: boolean) => void;
  private stop: (() => void) | null = null;

  constructor(
    private readonly id: string,
    private readonly journal: () => Journal,
    private readonly player: Player,
    private readonly screen: Screen,
  ) {
    [this.recording, this.setRecording] = createSignal(false);
    onCleanup(() => this.stop?.());
  }

  readonly link = (): void => {
    const { chosen } = this.screen;
    note({ ...this.player.keys(), ...(chosen === null ? {} : { packet: String(chosen) }) });
    attempt(async () => navigator.clipboard.writeText(location.href), "the link to this moment is copied");
  };

  readonly svg = (): void => save(`${this.momentName()}.svg`, "image/svg+xml", this.picture());

  readonly png = (): void =>
    attempt(async () => save(`${this.momentName()}.png`, "image/png", await png(this.picture())));

  /** Saves the next seconds of the page. */
  readonly moving = (): void =>
    attempt(async () => {
      const { map, looks, ways, run } = this.screen;
      const speed = this.player.speed();
      const from = this.player.at();
      const to = Math.min(from + speed * MOVING_S, this.journal().to_ns);
      const packets = decode(
        await api.packets(this.id, `from_ns=${Math.floor(from)}&to_ns=${Math.ceil(to)}&limit=20000&thin=true`),
      );
      const title = `${run.lab} from ${seconds(from)} to ${seconds(to)}`;
      const { svg, left } = movingSvg(map, looks, packets, ways, from, to, 1e9 / speed, title);
      save(`${fileName(run.lab)}-moving.svg`, "image/svg+xml", svg);
      if (left > 0)
        tell(`left out of the picture: ${counted(left, "packet")}; choose a lower speed for a shorter span`);
    });

  /** Begins a video, or ends and saves it. */
  readonly video = (): void => {
    if (this.stop) {
      this.stop();
      this.stop = null;
      this.setRecording(false);
      return;
    }
    const canvas = this.screen.map.element.querySelector("canvas");
    this.stop = canvas ? record(canvas, (video) => this.saveVideo(video)) : null;
    if (!this.stop) tell("this browser records no video: save the span as moving SVG instead", true);
    else {
      this.setRecording(true);
      this.player.setPlaying(true);
    }
  };

  private saveVideo(video: Blob): void {
    const url = URL.createObjectURL(video);
    el("a", { href: url, download: `${fileName(this.screen.run.lab)}.webm` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  private momentName(): string {
    return `${fileName(this.screen.run.lab)}-${Math.round(this.player.at())}`;
  }

  private picture(): string {
    const { map, looks, ways, run, reader, chosen } = this.screen;
    const at = this.player.at();
    const packets = reader.stretch?.packets ?? decode(EMPTY);
    const scene = { at, trail: this.screen.trail(), packets, chosen, followed: new Set<number>() };
    return momentSvg(map, looks, scene, ways, `${run.lab} at ${seconds(at)}`);
  }
}

/** An answer without packets. */
const EMPTY = (() => {
  const buffer = new ArrayBuffer(32);
  new DataView(buffer).setUint32(0, 0x314a4c4e, true);
  return buffer;
})();
