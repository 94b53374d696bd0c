// The tasks of an exercise: what is to be done, what the lab says of it, and hints.
import { span } from "../../components/format";
import type { Exercise } from "../control";
import type { Lab } from "../lab";
import { createMemo, createSignal, each, el, onCleanup, press, type View } from "../view";

/** How often the tasks are asked for while they are looked at, in ms: they say what was measured. */
const AGAIN = 1_000;

/** Paragraphs of a text: empty lines part them. */
export const paragraphs = (text: string): View =>
  text
    .split(/\n\s*\n/)
    .filter((part) => part.trim())
    .map((part) => el("p", {}, part.replace(/\n/g, " ")));

/** Hints that are open belong to whoever looks, and stay while the states of tasks change. */
export function tasksView(exercise: () => Exercise): View {
  const [shown, setShown] = createSignal<Record<number, number>>({});
  const places = createMemo(() => exercise().tasks.map((_task, place) => String(place)));
  const task = (place: number) => exercise().tasks[place];
  const met = (place: number): boolean => (task(place)?.met_ns ?? null) !== null;
  return [
    el(
      "ol",
      { class: "tasks", "aria-live": "polite" },
      each(places, (text) => {
        const place = Number(text);
        const open = (): number => shown()[place] ?? 0;
        const checks = createMemo(() =>
          (task(place)?.next ? (task(place)?.checks ?? []) : [])
            .map((one) => `${one.met ? "holds" : "not yet"}: ${one.explanation}`)
            .join("\n"),
        );
        return el(
          "li",
          { class: () => (met(place) ? "met" : "") },
          el("span", { class: () => `badge ${met(place) ? "good" : ""}` }, () =>
            met(place) ? `✓ met at ${span(task(place)?.met_ns ?? 0, 3)}` : "to do",
          ),
          el(
            "span",
            {},
            () => task(place)?.title ?? "",
            () => (task(place)?.text ? [el("br"), el("small", {}, task(place)?.text ?? "")] : null),
          ),
          el("small", { class: "found" }, () => checks()),
          () => (task(place)?.hints ?? []).slice(0, open()).map((hint) => el("small", { class: "hint" }, hint)),
          () =>
            met(place) || open() >= (task(place)?.hints.length ?? 0)
              ? null
              : press(
                  open() === 0 ? "hint" : "another hint",
                  () => setShown((all) => ({ ...all, [place]: open() + 1 })),
                  { class: "plain", "aria-label": `a hint for task ${place + 1}` },
                ),
        );
      }),
    ),
    () =>
      exercise().tasks.length > 0 && exercise().tasks.every((one) => one.met_ns !== null)
        ? el("p", { class: "verdict" }, el("span", { class: "badge good" }, "All tasks are met."))
        : null,
  ];
}

/** Asks a lab for its tasks as long as this is shown. */
export function watchTasks(lab: Lab): void {
  const timer = setInterval(() => {
    if (lab.control.state() === "open" && lab.exercise()) void lab.askForTasks();
  }, AGAIN);
  onCleanup(() => clearInterval(timer));
}

/** The tasks of a lab that is up, in the panel beside its map. */
export function tasksPanel(lab: Lab): View {
  watchTasks(lab);
  const has = createMemo(() => lab.exercise() !== null);
  // What was found changes every second, and the text does not: who has asked for a hint keeps it.
  const text = createMemo(() => lab.exercise()?.text ?? "");
  return () =>
    has()
      ? [
          el("h2", {}, () => lab.exercise()?.title ?? ""),
          () => paragraphs(text()),
          tasksView(() => lab.exercise() ?? { title: "", text: "", tasks: [] }),
        ]
      : el("p", { class: "none" }, "This lab has no tasks: its file has no key exercise.");
}
