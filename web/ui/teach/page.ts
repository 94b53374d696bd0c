// Lessons: what there is to know, a lab to try it in, and tasks that are met by doing.
import { api, controlUrl, Refusal } from "../api";
import { Lab } from "../lab";
import { address, go } from "../route";
import { attempt } from "../tell";
import { createEffect, createMemo, createSignal, el, keyed, on, onCleanup, press, type View } from "../view";
import { labs, may } from "../world";
import { LESSONS, type Lesson } from "./lessons";

export function lessonsPage(id: string): View {
  const lesson = LESSONS.find((one) => one.id === id);
  if (lesson) return lessonView(lesson);
  return el("div", { class: "page" }, el("h1", {}, "Lessons"),
    el("ol", { class: "lessons" }, LESSONS.map((one) => el("li", {}, el("h2", {}, el("a", { href: address("lessons", one.id) }, one.title)), el("p", {}, one.about[0]), el("small", {}, `${one.tasks.length} tasks`)))));
}

function lessonView(lesson: Lesson): View {
  const up = createMemo(() => labs().find(({ name }) => name === lesson.lab)?.name ?? null);
  const [met, setMet] = createSignal<boolean[]>(lesson.tasks.map(() => false));
  const [hints, setHints] = createSignal<Set<number>>(new Set());
  const begin = (): void => attempt(async () => {
    await api.write(lesson.file, lesson.text, null).catch((error: unknown) => {
      // What is there already is the learner's own.
      if (!(error instanceof Refusal) || error.status !== 412) throw error;
    });
    await api.start({ command: "run", path: lesson.file });
  }, "the lab comes up");
  return el("div", { class: "page lesson" },
    el("p", {}, el("a", { href: address("lessons") }, "all lessons")),
    el("h1", {}, lesson.title), lesson.about.map((text) => el("p", {}, text)),
    el("div", { class: "controls" },
      () => (up() ? [el("a", { class: "asbutton", href: address("lab", lesson.lab), target: "_blank", rel: "noopener" }, "Open the lab beside this"), press("Open it here", () => go("lab", lesson.lab))]
        : may("edit") ? press("Bring the lab up", begin, { class: "first" }) : el("span", { class: "none" }, "somebody with the role edit has to bring the lab up")),
      el("a", { class: "asbutton", href: address("edit", lesson.file) }, "its file")),
    el("h2", {}, "Tasks"),
    el("ol", { class: "tasks", "aria-live": "polite" }, lesson.tasks.map((task, place) => el("li", { class: () => (met()[place] ? "met" : "") },
      el("span", { class: () => `badge ${met()[place] ? "good" : ""}` }, () => (met()[place] ? "✓ met" : "to do")), el("span", {}, task.text),
      () => (hints().has(place) ? el("small", {}, task.hint) : press("hint", () => setHints((all) => new Set([...all, place])), { class: "plain", "aria-label": `a hint for task ${place + 1}` }))))),
    () => (met().every(Boolean) ? el("p", { class: "verdict" }, el("span", { class: "badge good" }, "All tasks are met.")) : null),
    keyed(up, (name) => { if (name) judge(name, lesson, setMet, met); return null; }));
}

/** Watches the lab, and says which tasks have been met. */
function judge(name: string, lesson: Lesson, set: (met: boolean[]) => void, met: () => boolean[]): void {
  const lab = new Lab(name, controlUrl(name), async () => (await api.labs()).some((row) => row.name === name));
  onCleanup(() => lab.close());
  createEffect(on(lab.control.state, (state) => { if (state === "open") attempt(() => lab.begin()); }));
  const since = new Map<string, number>();
  const held = (key: string, is: boolean): number => {
    if (!is) since.delete(key);
    else if (!since.has(key)) since.set(key, performance.now());
    return is ? (performance.now() - (since.get(key) ?? 0)) / 1000 : 0;
  };
  createEffect(on(lab.flows, () => {
    const before = met();
    // One after the other: a later task counts when those before it are met.
    let open = true;
    const now = lesson.tasks.map((task, place) => {
      if (before[place]) return true;
      const is = open && task.met({ lab, held });
      open &&= is;
      return is;
    });
    if (now.some((is, place) => is !== before[place])) set(now);
  }));
}
