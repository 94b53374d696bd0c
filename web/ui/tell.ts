// Short messages that pass: what was done, and what was refused and why.
import { announce } from "../components/download";
import { createSignal, each, el, press } from "./view";

interface Note {
  text: string;
  bad: boolean;
  number: number;
  began: number;
}
const [notes, setNotes] = createSignal<Note[]>([]);
let last = 0;

/** How long a message is shown, in ms: in any case, of something that failed, and longer for each letter. */
const [SHOWN_MS, FAILED_MS, LETTER_MS] = [5_000, 15_000, 60];
/** What was said a moment before somebody goes elsewhere on the page is said of where they go, in ms. */
const FRESH_MS = 1_500;
/** Messages that somebody points at or is within stay. */
let held = false;

/** Shows a message for as long as it takes to read, and a longer time of something that failed; going elsewhere on the page ends it. */
export function tell(text: string, bad = false): void {
  last += 1;
  const note = {
    text: text.length > 2000 ? `${text.slice(0, 2000)}…` : text,
    bad,
    number: last,
    began: performance.now(),
  };
  setNotes((all) => [...all.filter((one) => one.text !== text).slice(-3), note]);
  announce(text);
  const end = (): void => {
    if (held) setTimeout(end, 1_000);
    else drop(note);
  };
  setTimeout(end, (bad ? FAILED_MS : SHOWN_MS) + note.text.length * LETTER_MS);
}

const drop = (note: Note): void => void setNotes((all) => all.filter((one) => one !== note));

/** Messages about the page that is left do not follow to the next one. */
export const leaveNotes = (): void =>
  void setNotes((all) => all.filter(({ began }) => performance.now() - began < FRESH_MS));

/** Does something that may be refused, and says why it was. */
export function attempt(act: () => Promise<unknown>, done = ""): void {
  act().then(
    () => done && tell(done),
    (error: unknown) => tell(error instanceof Error ? error.message : String(error), true),
  );
}

export function notesView(): HTMLElement {
  const hold = (is: boolean) => (): void => {
    held = is;
  };
  return el(
    "div",
    {
      class: "notes",
      "aria-label": "messages",
      role: "region",
      onpointerenter: hold(true),
      onpointerleave: hold(false),
      onfocusin: hold(true),
      onfocusout: hold(false),
    },
    each(notes, (note) =>
      el(
        "div",
        { class: note.bad ? "toast error" : "toast" },
        el("p", {}, note.text),
        press(
          "✕",
          () => {
            held = false;
            drop(note);
          },
          { "aria-label": "close the message", class: "plain" },
        ),
      ),
    ),
  );
}
