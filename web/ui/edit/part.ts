// A form for the node or link that is chosen, made from the table of keys; each field is a span of the text.
import { fresh as freshId } from "../../components/dom";
import { counted } from "../../components/format";
import type { Checked, Key, Tree } from "../api";
import { exampleOf, field, section } from "../forms";
import { createMemo, createRenderEffect, createSignal, each, el, keyed, on, press, untrack, type View } from "../view";
import type { Actions } from "./actions";
import { entryAt, shown, valueAt } from "./spans";

interface Given {
  chosen: () => { nodes: string[]; links: string[] };
  checked: () => Checked | null;
  fresh: () => string;
  act: Actions;
  edit: boolean;
}

/** Keys that are asked for most come first. */
const USUAL: Record<"nodes" | "links", string[]> = {
  nodes: ["kind", "stack", "image", "cpus", "memory"],
  links: ["rate", "delay", "loss", "queue", "mtu", "forward", "backward"],
};

/** The form follows the name of what is chosen, and stays when that gets another one or another of its kind is chosen: so does the focus. */
export function partForm({ chosen, checked, fresh, act, edit }: Given): View {
  const { nodes, links } = untrack(chosen);
  if (nodes.length + links.length === 0) return null;
  if (nodes.length + links.length > 1) {
    return el(
      "section",
      { class: "part", "aria-label": "what is chosen" },
      el(
        "p",
        {},
        [nodes.length > 0 ? counted(nodes.length, "node") : "", links.length > 0 ? counted(links.length, "link") : ""]
          .filter(Boolean)
          .join(", "),
      ),
      edit
        ? el(
            "div",
            { class: "controls" },
            press("Row", () => act.align("row")),
            press("Column", () => act.align("column")),
            press("Circle", () => act.align("circle")),
            press("Copy", act.copy),
            press("Remove", act.removeChosen, { class: "danger" }),
          )
        : null,
    );
  }
  const kind = nodes.length === 1 ? ("nodes" as const) : ("links" as const);
  const name = createMemo((before: string) => chosen()[kind][0] ?? before, "");
  const [all, setAll] = createSignal(false);
  const [help, setHelp] = createSignal("");
  createRenderEffect(
    on(name, () => {
      setAll(false);
      setHelp("");
    }),
  );
  const id = freshId("name");
  const generated = createMemo(() => {
    const tree = checked()?.tree;
    return tree !== null && tree !== undefined && !valueAt(tree, [kind]) && (checked()?.scene?.[kind].length ?? 0) > 0;
  });
  /** The text in which the name stands: what has just been added or renamed is shown as it was until the text has been checked. */
  const text = createMemo(
    (before: { name: string; text: string; tree: Tree | null }) => {
      const [now, tree] = [name(), checked()?.tree ?? null];
      const stands =
        entryAt(tree, [kind, now]) !== null || checked()?.scene?.[kind].some((one) => one.name === now) === true;
      return stands ? { name: now, text: fresh(), tree } : before;
    },
    { name: "", text: "", tree: null },
  );
  const value = (key: string): string => shown(text().text, text().tree, [kind, text().name, key]);
  const wanted = createMemo((): Key[] => {
    const table = section(kind === "nodes" ? "node" : "link").filter(({ name: key }) => key !== "ends");
    const rank = (key: Key): number => {
      const place = USUAL[kind].indexOf(key.name);
      return place < 0 ? 99 : place;
    };
    const set = (key: Key): boolean => value(key.name) !== "";
    return all()
      ? [...table].sort((a, b) => rank(a) - rank(b))
      : table.filter((key) => rank(key) < 5 || set(key)).sort((a, b) => rank(a) - rank(b));
  });
  // Fields stay while the text changes, and with them where the reader is.
  const one = (key: Key): View =>
    keyed(
      createMemo(() => value(key.name).includes("\n")),
      (lines) =>
        field({
          key,
          lines,
          value: () => value(key.name),
          placeholder: `e.g. ${exampleOf(key)}`.slice(0, 60),
          disabled: !edit,
          help: setHelp,
          change: (text) =>
            text === "" ? act.unset([kind, name(), key.name]) : act.set([kind, name(), key.name], text),
        }),
    );
  const input = el("input", {
    id,
    type: "text",
    value: name,
    spellcheck: "false",
    disabled: !edit,
    onfocus: () => setHelp("Its name; with another one, the file names it so wherever it is meant."),
    onchange: () => act.rename(kind, name(), input.value.trim()),
  });
  return el(
    "section",
    { class: "part", "aria-label": () => `${kind === "nodes" ? "node" : "link"} ${name()}` },
    el(
      "div",
      { class: "fields" },
      el("div", { class: "field" }, el("label", { for: id }, kind === "nodes" ? "node" : "link"), input),
      each(wanted, one),
    ),
    () =>
      generated()
        ? el("p", { class: "note" }, "It is made by generate: give it an entry in the text to change it.")
        : null,
    el("p", { class: "help", "aria-hidden": "true" }, () => help() || "Go into a field to read what it means."),
    el(
      "div",
      { class: "controls" },
      press(
        () => (all() ? "Fewer keys" : "All keys"),
        () => setAll(!all()),
      ),
      edit ? press(`Remove this ${kind === "nodes" ? "node" : "link"}`, act.removeChosen, { class: "danger" }) : null,
    ),
  );
}
