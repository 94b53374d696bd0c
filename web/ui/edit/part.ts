// A form for the node or link that is chosen, made from the table of keys; each field is a span of the text.
import { fresh as freshId } from "../../components/dom";
import type { Checked, Key } from "../api";
import { exampleOf, field, section } from "../forms";
import { createMemo, createSignal, each, el, keyed, press, type View } from "../view";
import type { Actions } from "./actions";
import { shown, valueAt } from "./spans";

interface Given { chosen: () => { nodes: string[]; links: string[] }; checked: () => Checked | null; fresh: () => string; act: Actions; edit: boolean }

/** Keys that are asked for most come first. */
const USUAL: Record<"nodes" | "links", string[]> = { nodes: ["kind", "stack", "image", "cpus", "memory"], links: ["rate", "delay", "loss", "queue", "mtu", "forward", "backward"] };

export function partForm({ chosen, checked, fresh, act, edit }: Given): View {
  const { nodes, links } = chosen();
  if (nodes.length + links.length === 0) return null;
  if (nodes.length + links.length > 1) {
    return el("section", { class: "part", "aria-label": "what is chosen" }, el("p", {}, `${nodes.length} nodes, ${links.length} links`),
      edit ? el("div", { class: "controls" }, press("Row", () => act.align("row")), press("Column", () => act.align("column")), press("Circle", () => act.align("circle")), press("Copy", act.copy), press("Remove", act.removeChosen, { class: "danger" })) : null);
  }
  const kind = nodes.length === 1 ? "nodes" as const : "links" as const;
  const name = (kind === "nodes" ? nodes[0] : links[0]) ?? "";
  const [all, setAll] = createSignal(false);
  const id = freshId("name");
  const generated = createMemo(() => checked()?.tree !== null && checked()?.tree !== undefined && !valueAt(checked()?.tree ?? null, [kind]) );
  const value = (key: string): string => shown(fresh(), checked()?.tree ?? null, [kind, name, key]);
  const wanted = createMemo((): Key[] => {
    const table = section(kind === "nodes" ? "node" : "link").filter(({ name: key }) => key !== "ends");
    const rank = (key: Key): number => { const place = USUAL[kind].indexOf(key.name); return place < 0 ? 99 : place; };
    const set = (key: Key): boolean => value(key.name) !== "";
    return all() ? [...table].sort((a, b) => rank(a) - rank(b)) : table.filter((key) => rank(key) < 5 || set(key)).sort((a, b) => rank(a) - rank(b));
  });
  // Fields stay while the text changes, and with them where the reader is.
  const one = (key: Key): View => keyed(createMemo(() => value(key.name).includes("\n")), (lines) => field({
    key, lines, value: () => value(key.name), placeholder: `e.g. ${exampleOf(key)}`.slice(0, 60), disabled: !edit, change: (text) => (text === "" ? act.unset([kind, name, key.name]) : act.set([kind, name, key.name], text)),
  }));
  const input = el("input", { id, type: "text", value: name, spellcheck: "false", disabled: !edit, onchange: () => act.rename(kind, name, input.value.trim()) });
  return el("section", { class: "part", "aria-label": `${kind === "nodes" ? "node" : "link"} ${name}` },
    el("div", { class: "field" }, el("label", { for: id }, kind === "nodes" ? "node" : "link"), input),
    () => (generated() ? el("p", { class: "note" }, "It is made by generate: give it an entry in the text to change it.") : null),
    each(wanted, one),
    press(() => (all() ? "Fewer keys" : "All keys"), () => setAll(!all()), { class: "plain" }),
    edit ? press("Remove", act.removeChosen, { class: "danger" }) : null);
}
