// The time of the lab that a replay shows, and how it goes on.
import { span } from "../../components/format";
import type { Journal } from "../api";
import { note } from "../route";
import { createEffect, createSignal, onCleanup, untrack } from "../view";

/** Speeds in ns of the lab per second of the page, from one to ten seconds. */
export const SPEEDS = Array.from({ length: 31 }, (_, step) => Math.round(10 ** (step / 3)));
/** How long somebody who seeks has to rest before the address says where, in ms. */
const NOTED_MS = 300;
/** The longest time between two frames that is played, in ms: a page that was not in sight goes on where it was. */
const LONGEST_FRAME_MS = 250;

export const speedWords = (speed: number): string => `${span(speed, 2)} per second`;

export class Player {
  /** The instant that is shown, in ns. */
  readonly at: () => number;
  readonly speed: () => number;
  readonly playing: () => boolean;
  readonly setSpeed: (speed: number) => void;
  readonly setPlaying: (playing: boolean) => void;
  private readonly setAt: (at: number) => void;
  private frame = 0;
  private last = 0;
  private noted: ReturnType<typeof setTimeout> | undefined;

  /** Begins where the keys of the address say. */
  constructor(
    private readonly journal: () => Journal,
    keys: URLSearchParams,
  ) {
    const { from_ns, to_ns } = untrack(journal);
    const wanted = Number(keys.get("at") ?? NaN);
    [this.at, this.setAt] = createSignal(
      Number.isFinite(wanted) ? Math.min(Math.max(wanted, from_ns), to_ns) : from_ns,
    );
    [this.speed, this.setSpeed] = createSignal(nearestSpeed(Number(keys.get("speed") ?? NaN), (to_ns - from_ns) / 60));
    [this.playing, this.setPlaying] = createSignal(false);
    createEffect(() => {
      if (this.playing()) this.begin();
    });
    onCleanup(() => {
      cancelAnimationFrame(this.frame);
      clearTimeout(this.noted);
    });
  }

  readonly toggle = (): void => this.setPlaying(!this.playing());

  /** Takes the next higher speed, or the next lower one. */
  faster(by: number): void {
    const place = Math.min(Math.max(SPEEDS.indexOf(this.speed()) + by, 0), SPEEDS.length - 1);
    this.setSpeed(SPEEDS[place] ?? this.speed());
  }

  readonly seek = (to: number): void => {
    this.setAt(Math.min(Math.max(to, this.journal().from_ns), this.journal().to_ns));
    clearTimeout(this.noted);
    this.noted = setTimeout(() => note(this.keys()), NOTED_MS);
  };

  /** What the address says of this moment. */
  keys(): Record<string, string> {
    return { at: String(Math.round(this.at())), speed: String(this.speed()) };
  }

  private begin(): void {
    if (untrack(this.at) >= this.journal().to_ns) this.setAt(this.journal().from_ns);
    this.last = performance.now();
    this.frame ||= requestAnimationFrame(this.play);
  }

  private readonly play = (now: number): void => {
    this.frame = 0;
    if (!this.playing()) return;
    const passed = Math.min(now - this.last, LONGEST_FRAME_MS);
    this.last = now;
    const to = this.at() + (passed / 1000) * this.speed();
    if (to >= this.journal().to_ns) this.setPlaying(false);
    this.setAt(Math.min(to, this.journal().to_ns));
    this.frame = requestAnimationFrame(this.play);
  };
}

function nearestSpeed(given: number, usual: number): number {
  const wanted = Number.isFinite(given) && given >= 1 ? given : usual;
  return SPEEDS.reduce(
    (best, one) => (Math.abs(Math.log(one / wanted)) < Math.abs(Math.log(best / wanted)) ? one : best),
    SPEEDS[0] ?? 1,
  );
}
