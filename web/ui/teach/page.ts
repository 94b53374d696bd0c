// Lessons: those that come with the program, and labs that are up whose files have an exercise.
import { counted } from "../../components/format";
import { api, controlUrl, type Lesson, Refusal } from "../api";
import { Lab } from "../lab";
import { address, go } from "../route";
import { attempt, tell } from "../tell";
import { createEffect, createMemo, createSignal, each, el, keyed, on, onCleanup, press, type View } from "../view";
import { jobs, labs, may } from "../world";
import { paragraphs, tasksView, watchTasks } from "./tasks";

export function lessonsPage(id: string): View {
  const [lessons, setLessons] = createSignal<Lesson[]>([]);
  api.lessons().then(setLessons, (error: Error) => tell(error.message, true));
  if (id) {
    return keyed(
      createMemo(() => lessons().find((one) => one.id === id)),
      (lesson) => (lesson ? lessonView(lesson) : el("p", { class: "none" }, "…")),
    );
  }
  const others = createMemo(() =>
    labs()
      .filter((row) => row.answers !== false && !lessons().some((one) => one.lab === row.name))
      .map(({ name }) => name),
  );
  return el(
    "div",
    { class: "page" },
    el("h1", {}, "Lessons"),
    el(
      "ol",
      { class: "lessons" },
      each(lessons, ({ id: own, exercise }) =>
        el(
          "li",
          {},
          el("h2", {}, el("a", { href: address("lessons", own) }, exercise.title)),
          el("p", {}, exercise.text.split(/\n\s*\n/)[0] ?? ""),
          el("small", {}, counted(exercise.tasks.length, "task")),
        ),
      ),
    ),
    () =>
      others().length > 0
        ? el(
            "p",
            {},
            "Labs that are up show their tasks, too, if their files have any: ",
            others()
              .slice(0, 60)
              .map((name, place) => [place > 0 ? ", " : "", el("a", { href: address("lab", name) }, name)]),
          )
        : null,
    el("p", { class: "about" }, "A lesson is a lab file with the key exercise: write your own."),
  );
}

function lessonView(lesson: Lesson): View {
  const up = createMemo(() => labs().find(({ name }) => name === lesson.lab)?.name ?? null);
  const [exercise, setExercise] = createSignal(lesson.exercise);
  const [job, setJob] = createSignal<number | null>(null);
  const begin = (): void =>
    attempt(async () => {
      await api.write(lesson.file, lesson.text, null).catch((error: unknown) => {
        // What is there already is the learner's own.
        if (!(error instanceof Refusal) || error.status !== 412) throw error;
      });
      setJob((await api.start({ command: "run", path: lesson.file })).id);
    }, "the lab comes up");
  return el(
    "div",
    { class: "page lesson" },
    el("p", {}, el("a", { href: address("lessons") }, "all lessons")),
    el("h1", {}, lesson.exercise.title),
    paragraphs(lesson.exercise.text),
    el(
      "div",
      { class: "controls" },
      () =>
        up()
          ? [
              el(
                "a",
                { class: "asbutton", href: address("lab", lesson.lab), target: "_blank", rel: "noopener" },
                "Open the lab beside this",
              ),
              press("Open it here", () => go("lab", lesson.lab)),
            ]
          : may("edit")
            ? press("Bring the lab up", begin, { class: "first" })
            : el("span", { class: "none" }, "somebody with the role edit has to bring the lab up"),
      el("a", { class: "asbutton", href: address("edit", lesson.file) }, "Lab file"),
    ),
    () => (up() ? null : starting(job())),
    el("h2", {}, "Tasks"),
    tasksView(exercise),
    keyed(up, (name) => {
      if (name) follow(name, setExercise);
      return null;
    }),
  );
}

/** What the command says that brings the lab up, until it is there; why it is not, if it failed. */
function starting(id: number | null): View {
  const job = id === null ? undefined : jobs()[id];
  const hasFailed = job?.state === "over" && job.exit_code !== 0 && !job.report?.verdict;
  if (!job || (job.state === "over" && !hasFailed)) return null;
  const lines = (job.lines ?? []).slice(hasFailed ? -20 : -1).join("\n");
  return hasFailed
    ? el(
        "div",
        { class: "note", role: "alert" },
        el("p", {}, `The lab did not come up (exit code ${job.exit_code}):`),
        el("pre", { class: "joblog", tabindex: 0 }, lines),
      )
    : el("p", { class: "under", role: "status" }, `The lab comes up. ${lines}`);
}

/** Follows the tasks of a lab that is up. */
function follow(name: string, set: (exercise: Lesson["exercise"]) => void): void {
  const lab = new Lab(name, controlUrl(name), async () => (await api.labs()).some((row) => row.name === name));
  onCleanup(() => lab.close());
  lab.follow((error) => tell(error.message, true));
  watchTasks(lab);
  createEffect(
    on(lab.exercise, (exercise) => {
      if (exercise) set(exercise);
    }),
  );
}
