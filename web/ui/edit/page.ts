// A lab file: its map and its text side by side, each change in one at once in the other.
import { counted } from "../../components/format";
import { api, type Checked, type Problem, Refusal } from "../api";
import { offer } from "../commands";
import { drafts } from "../drafts";
import { mapButtons } from "../map/buttons";
import { address } from "../route";
import { createMemo, createSignal, el, keyed, press, untrack, type View } from "../view";
import { labs } from "../world";
import { formOf } from "./chosen";
import { commandsOf } from "./commands";
import type { Loaded } from "./file";
import { jobView } from "./job";
import { partForm } from "./part";
import type { Source } from "./source";
import { valueAt } from "./spans";
import { makeWorkbench, type Workbench } from "./workbench";

export function editPage(path: string): View {
  const [loaded, setLoaded] = createSignal<Loaded | null>(null);
  const [why, setWhy] = createSignal("");
  api.read(path).then(setLoaded, (error: Error) => {
    // Of a file that is gone, what was written here is left.
    if (untrack(drafts).includes(path) && error instanceof Refusal && error.status === 404)
      setLoaded({ text: "", etag: null });
    else setWhy(error.message);
  });
  return () => {
    const known = loaded();
    if (!known)
      return el(
        "div",
        { class: "page" },
        el("h1", {}, path),
        why()
          ? el("p", { class: "error", role: "alert" }, why())
          : el("p", { class: "loading", role: "status" }, "reading the file…"),
      );
    return untrack(() => editor(path, known));
  };
}

function editor(path: string, loaded: Loaded): View {
  const workbench = makeWorkbench(path, loaded);
  offer(() => commandsOf(workbench));
  return el(
    "div",
    { class: "lab edit" },
    bar(workbench),
    el(
      "div",
      { class: "editmain" },
      el(
        "div",
        { class: "mapside" },
        workbench.map.element,
        mapButtons(workbench.map),
        () => (workbench.canEdit ? workbench.ground.view() : null),
        workbench.canEdit ? tools(workbench) : null,
      ),
      textSide(workbench),
    ),
  );
}

function bar({ path, canEdit, file, checked, save, start }: Workbench): View {
  const lab = createMemo(() => labs().find((row) => row.path === path));
  return el(
    "div",
    { class: "labbar" },
    el("h1", {}, path),
    () => (file.dirty() ? el("span", { class: "badge caution" }, "not saved") : null),
    () => verdict(checked()),
    el("span", { class: "grow" }),
    canEdit
      ? el(
          "span",
          { class: "controls" },
          press("Save", save, { disabled: () => !file.dirty() }),
          press("Up", () => start("up"), { title: "bring the lab up and watch it" }),
          press("Run", () => start("run"), { class: "first" }),
          press("Simulate", () => start("sim")),
        )
      : null,
    () => (lab() ? el("a", { href: address("lab", lab()?.name ?? "") }, "watch it") : null),
  );
}

/** What draws on the map. */
function tools({ act, joining, source, checked, ground }: Workbench): View {
  const isEmpty = createMemo(
    () =>
      checked() !== null &&
      (valueAt(checked()?.tree ?? null, ["nodes"])?.map ?? []).length === 0 &&
      (checked()?.scene?.nodes ?? []).length === 0,
  );
  const hint = (): string =>
    joining.isOn()
      ? joining.words()
      : isEmpty()
        ? "Nothing is drawn yet: add hosts, routers and switches, then join them by links."
        : "";
  return el(
    "div",
    { class: "maptools", role: "group", "aria-label": "add" },
    (["host", "router", "switch"] as const).map((kind) =>
      press(`+ ${kind}`, () => act.addNode(kind), {
        title: `add a ${kind} (${kind === "host" ? "N" : kind === "router" ? "R" : "S"})`,
      }),
    ),
    press("Join", joining.press, {
      "aria-pressed": () => String(joining.isOn()),
      title: "join two nodes by a link (J)",
    }),
    () =>
      ground.isThere()
        ? press("Scene", ground.press, {
            "aria-pressed": () => String(ground.isOn()),
            title: "draw the scene of the radio media in metres",
          })
        : null,
    press("Undo", source.undo, { title: "undo the last change (Ctrl Z)" }),
    () => (hint() ? el("p", { class: "hint" }, hint()) : null),
  );
}

function textSide({ source, chosen, checked, fresh, act, canEdit, job, setJob }: Workbench): View {
  return el(
    "div",
    { class: "textside" },
    el(
      "div",
      { class: "partbox" },
      keyed(
        createMemo(() => formOf(chosen())),
        () => partForm({ chosen, checked, fresh, act, edit: canEdit }),
      ),
    ),
    source.view.dom,
    () => problems(checked()?.errors ?? [], source),
    () => jobView(job(), setJob),
  );
}

function verdict(checked: Checked | null): View {
  if (!checked) return null;
  const count = checked.errors.length;
  return count === 0
    ? el("span", { class: "badge good" }, "valid")
    : el("span", { class: "badge bad" }, counted(count, "error"));
}

function problems(errors: readonly Problem[], source: Source): View {
  if (errors.length === 0) return null;
  return el(
    "ol",
    { class: "problems", "aria-label": "errors" },
    errors.slice(0, 100).map((error) =>
      el(
        "li",
        {},
        press(error.line > 0 ? `line ${error.line}` : "file", () => source.goTo(error.from ?? 0, error.to), {
          class: "plain",
        }),
        " ",
        error.key ? [el("code", {}, error.key), ": "] : null,
        error.message,
      ),
    ),
  );
}
