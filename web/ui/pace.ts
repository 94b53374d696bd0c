// How much lab time lies between two samples: what is wished, and more while virtual time runs so fast that samples would come closer than a page can show them.
import { type Accessor, createEffect, createSignal, onCleanup } from "./view";

/** For so long samples are counted before anything is changed, in ms of the page: a short step of virtual time is told whole. */
const WINDOW_MS = 700;
/** Who hears nothing for so long knows nothing of the pace. */
const SILENCE_MS = 3_000;
/** Samples may come so much closer than is well, and so much further apart. */
const [CLOSE, FAR] = [0.3, 4];

export class Pace {
  /** Lab time between two samples, in ns. */
  readonly every: Accessor<number>;
  private readonly setEvery: (every: number) => void;
  private since = NaN;
  private last = NaN;
  private count = 0;

  /** `well`: how far samples should be apart, in ms of the page; `least`: lab time between two that is wished, in ns. */
  constructor(
    private readonly well: number,
    private least: number,
    isPaused: Accessor<boolean>,
  ) {
    const [every, setEvery] = createSignal(least);
    [this.every, this.setEvery] = [every, setEvery];
    // The next steps of time that stands still may be short.
    createEffect(() => {
      if (isPaused()) this.reset();
    });
    // Time that runs slowly all of a sudden would be told late.
    const timer = setInterval(() => {
      if (performance.now() - this.last > this.well * FAR && every() > this.least) this.reset();
    }, 500);
    onCleanup(() => clearInterval(timer));
  }

  /** A sample has come at this instant of the page. */
  heard(ms: number): void {
    const goesOn = ms - this.last < SILENCE_MS;
    this.last = ms;
    this.count += 1;
    if (goesOn && ms - this.since < WINDOW_MS) return;
    const apart = (ms - this.since) / this.count;
    [this.since, this.count] = [ms, 0];
    if (goesOn && (apart <= this.well * CLOSE || apart >= this.well * FAR))
      this.setEvery(Math.max(this.least, Math.round((this.every() * this.well) / apart)));
  }

  /** As is wished, once more. */
  reset(least = this.least): void {
    this.least = least;
    this.since = this.last = NaN;
    this.setEvery(least);
  }
}
