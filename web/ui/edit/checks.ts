// What the server says of the text: errors, places, the lab that it describes.
import { api, type Checked } from "../api";
import { tell } from "../tell";
import { createSignal } from "../view";
import type { Source } from "./source";

/** How long after the last letter the text is checked, in ms. */
const CHECK_MS = 200;

export class Checks {
  // What was found and the text that it was found in are one: places of the one in the other text would be wrong.
  private readonly found: () => { checked: Checked; text: string } | null;
  private readonly setFound: (found: { checked: Checked; text: string }) => void;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking: AbortController | null = null;

  /** `done` is called when the text as it stands has been checked. */
  constructor(
    private readonly path: string,
    private readonly source: Source,
    private readonly done: () => void,
  ) {
    [this.found, this.setFound] = createSignal<{ checked: Checked; text: string } | null>(null);
  }

  /** What was found last. */
  readonly checked = (): Checked | null => this.found()?.checked ?? null;
  /** The text that it was found in. */
  readonly text = (): string => this.found()?.text ?? "";

  /** Checks the text when nothing has changed for a moment. */
  soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), CHECK_MS);
  }

  now(): void {
    this.asking?.abort();
    const abort = new AbortController();
    this.asking = abort;
    const text = this.source.text();
    api.check(this.path, text, abort.signal).then(
      (checked) => {
        if (text !== this.source.text()) return;
        this.setFound({ checked, text });
        this.source.show(checked);
        this.done();
      },
      (error: Error) => {
        if (!abort.signal.aborted) tell(error.message, true);
      },
    );
  }

  close(): void {
    clearTimeout(this.timer);
    this.asking?.abort();
  }
}
