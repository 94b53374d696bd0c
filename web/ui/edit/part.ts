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

type Kind = "nodes" | "links";

const one = (kind: Kind): string => (kind === "nodes" ? "node" : "link");

/** The form follows the name of what is chosen, and stays when that gets another one or another of its kind is chosen: so does the focus. */
export function partForm(given: Given): View {
  const { nodes, links } = untrack(given.chosen);
  const count = nodes.length + links.length;
  if (count === 0) return null;
  return count > 1 ? several(given, nodes, links) : single(given, nodes.length === 1 ? "nodes" : "links");
}

const several = ({ act, edit }: Given, nodes: string[], links: string[]): View =>
  el(
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

/** A node or link of the text, as it is chosen now. */
class Part {
  readonly name: () => string;
  /** The text in which the name stands: what has just been added or renamed is shown as it was until the text has been checked. */
  private readonly text: () => { name: string; text: string; tree: Tree | null };

  constructor(
    readonly given: Given,
    readonly kind: Kind,
  ) {
    const { chosen, checked, fresh } = given;
    this.name = createMemo((before: string) => chosen()[kind][0] ?? before, "");
    this.text = createMemo(
      (before: { name: string; text: string; tree: Tree | null }) => {
        const [now, tree] = [this.name(), checked()?.tree ?? null];
        const stands =
          entryAt(tree, [kind, now]) !== null || checked()?.scene?.[kind].some((one) => one.name === now) === true;
        return stands ? { name: now, text: fresh(), tree } : before;
      },
      { name: "", text: "", tree: null },
    );
  }

  value(key: string): string {
    const { name, text, tree } = this.text();
    return shown(text, tree, [this.kind, name, key]);
  }

  change(key: string, text: string): void {
    const { act } = this.given;
    if (text === "") act.unset([this.kind, this.name(), key]);
    else act.set([this.kind, this.name(), key], text);
  }

  /** Whether the file has no entry of it, but something that makes it. */
  isGenerated(): boolean {
    const found = this.given.checked();
    return !!found?.tree && !valueAt(found.tree, [this.kind]) && (found.scene?.[this.kind].length ?? 0) > 0;
  }

  /** The keys that have a field: all of them, or the usual ones and those that are set. */
  keys(all: boolean): Key[] {
    const usual = USUAL[this.kind];
    const rank = (key: Key): number => {
      const place = usual.indexOf(key.name);
      return place < 0 ? 99 : place;
    };
    return section(one(this.kind))
      .filter((key) => key.name !== "ends" && (all || rank(key) < 5 || this.value(key.name) !== ""))
      .sort((a, b) => rank(a) - rank(b));
  }
}

function single(given: Given, kind: Kind): View {
  const { act, edit } = given;
  const part = new Part(given, kind);
  const [all, setAll] = createSignal(false);
  const [help, setHelp] = createSignal("");
  createRenderEffect(
    on(part.name, () => {
      setAll(false);
      setHelp("");
    }),
  );
  const generated = createMemo(() => part.isGenerated());
  const wanted = createMemo(() => part.keys(all()));
  return el(
    "section",
    { class: "part", "aria-label": () => `${one(kind)} ${part.name()}` },
    el(
      "div",
      { class: "fields" },
      nameField(part, setHelp),
      // Fields stay while the text changes, and with them where the reader is.
      each(wanted, (key) => keyField(part, key, setHelp)),
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
      edit ? press(`Remove this ${one(kind)}`, act.removeChosen, { class: "danger" }) : null,
    ),
  );
}

function nameField({ given, kind, name }: Part, help: (text: string) => void): View {
  const id = freshId("name");
  const input = el("input", {
    id,
    type: "text",
    value: name,
    spellcheck: "false",
    disabled: !given.edit,
    onfocus: () => help("Its name; with another one, all references to it in the file change, too."),
    onchange: () => given.act.rename(kind, name(), input.value.trim()),
  });
  return el("div", { class: "field" }, el("label", { for: id }, one(kind)), input);
}

const keyField = (part: Part, key: Key, help: (text: string) => void): View =>
  keyed(
    createMemo(() => part.value(key.name).includes("\n")),
    (lines) =>
      field({
        key,
        lines,
        value: () => part.value(key.name),
        placeholder: `e.g. ${exampleOf(key)}`.slice(0, 60),
        disabled: !part.given.edit,
        help,
        change: (text) => part.change(key.name, text),
      }),
  );
