// Short messages that pass: what was done, and what was refused and why.
import { announce } from "../components/download";
import { createSignal, each, el, press } from "./view";

interface Note { text: string; bad: boolean; number: number }
const [notes, setNotes] = createSignal<Note[]>([]);
let last = 0;

/** Shows a message for some seconds; one of something that failed until it is closed. */
export function tell(text: string, bad = false): void {
  last += 1;
  const note = { text: text.length > 2000 ? `${text.slice(0, 2000)}…` : text, bad, number: last };
  setNotes((all) => [...all.filter((one) => one.text !== text).slice(-3), note]);
  announce(text);
  if (!bad) setTimeout(() => drop(note), 5000);
}

const drop = (note: Note): void => void setNotes((all) => all.filter((one) => one !== note));

/** Does something that may be refused, and says why it was. */
export function attempt(act: () => Promise<unknown>, done = ""): void {
  act().then(() => done && tell(done), (error: unknown) => tell(error instanceof Error ? error.message : String(error), true));
}

export function notesView(): HTMLElement {
  return el("div", { class: "notes", "aria-label": "messages", role: "region" }, each(notes, (note) =>
    el("div", { class: note.bad ? "toast error" : "toast" }, el("p", {}, note.text), press("✕", () => drop(note), { "aria-label": "close the message", class: "plain" }))));
}
