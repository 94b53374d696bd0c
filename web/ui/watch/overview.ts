// Everything of a lab as lists to search in: what the map shows, for those who read.
import { counted, digits, rate, share } from "../../components/format";
import { grade } from "../../components/map";
import type { Lab } from "../lab";
import { heads, number, scrolled } from "../tables";
import { type Accessor, createMemo, createSignal, each, el, press, type View } from "../view";
import { stateBadge } from "./node";
import { stateOf } from "./states";

const MOST_ROWS = 200;
/** Links that are listed at first: each row is written anew with every sample. */
const FIRST_LINKS = 50;

/** What a link does, over all its pipes. */
interface LinkNow {
  use: number;
  drops: number;
  bits: number;
  down: boolean;
}

/** A list to search in; the busiest links first if nothing is looked for. */
export function overview(lab: Lab, openNode: (name: string) => void, openLink: (name: string) => void): View {
  const [wanted, setWanted] = createSignal("");
  const has = (name: string): boolean => name.toLowerCase().includes(wanted().toLowerCase());
  const input = el("input", {
    type: "search",
    class: "search",
    "aria-label": "search nodes and links",
    placeholder: "search nodes and links",
    oninput: () => setWanted(input.value),
  });
  return [input, linkList(lab, has, openLink), nodeList(lab, has, openNode)];
}

function linkList(lab: Lab, has: (name: string) => boolean, open: (name: string) => void): View {
  const [most, setMost] = createSignal(FIRST_LINKS);
  const links = createMemo(() => linksNow(lab, has));
  // Rows stay as long as the order does.
  const order = createMemo(() =>
    [...links().entries()]
      .sort(([, a], [, b]) => b.use - a.use || b.bits - a.bits)
      .slice(0, most())
      .map(([name]) => name)
      .join("\n"),
  );
  const names = createMemo(() => (order() ? order().split("\n") : []));
  return [
    el("h3", {}, () => counted(links().size, "link")),
    scrolled(
      "links",
      el(
        "table",
        { class: "figures" },
        heads(["link", "carries", "use", "drops/s"], (place) => place > 0),
        el(
          "tbody",
          {},
          each(names, (name) => linkRow(name, links, open)),
        ),
      ),
    ),
    () => (links().size > most() ? press(`show more of ${links().size}`, () => setMost(most() + MOST_ROWS)) : null),
  ];
}

/** What the links do that are looked for, or are at nodes that are. */
function linksNow(lab: Lab, has: (name: string) => boolean): Map<string, LinkNow> {
  const byLink = new Map<string, LinkNow>();
  for (const link of lab.topology()?.links ?? [])
    if (has(link.name) || link.ends.some(({ node }) => has(node)))
      byLink.set(link.name, { use: -1, drops: 0, bits: 0, down: false });
  for (const flow of lab.figures()) {
    const known = byLink.get(flow.total.link);
    if (!known || flow.total.pipe !== null) continue;
    known.use = Math.max(known.use, flow.use ?? -1);
    known.drops += flow.drops;
    known.bits = Math.max(known.bits, flow.bits);
    known.down ||= !flow.up;
  }
  return byLink;
}

function linkRow(name: string, links: Accessor<Map<string, LinkNow>>, open: (name: string) => void): View {
  const cell = (of: (link: LinkNow) => View) => (): View => {
    const link = links().get(name);
    return link ? of(link) : "";
  };
  return el(
    "tr",
    {},
    el(
      "th",
      { scope: "row" },
      press(name, () => open(name), { class: "plain" }),
      cell(({ down }) => (down ? el("span", { class: "badge bad" }, "down") : null)),
    ),
    number(cell(({ bits }) => rate(bits, 3))),
    number([cell(({ use }) => (use < 0 ? "–" : share(use))), meter(() => links().get(name)?.use ?? -1)]),
    number(cell(({ drops }) => (drops === 0 ? "0" : `▼ ${digits(drops, 2)}`))),
  );
}

function nodeList(lab: Lab, has: (name: string) => boolean, open: (name: string) => void): View {
  const nodes = createMemo(() => lab.topology()?.nodes.filter(({ name }) => has(name)) ?? []);
  return [
    el("h3", {}, () => counted(nodes().length, "node")),
    el(
      "ul",
      { class: "names" },
      each(
        () => nodes().slice(0, MOST_ROWS),
        (node) =>
          el(
            "li",
            {},
            press(node.name, () => open(node.name), { class: "plain" }),
            el("small", {}, node.kind),
            stateOf(node) === "running" ? null : stateBadge(node),
          ),
      ),
    ),
    () =>
      nodes().length > MOST_ROWS
        ? el("p", { class: "none" }, `and ${nodes().length - MOST_ROWS} more: search for them`)
        : null,
  ];
}

/** A bar beside a share. */
export function meter(use: () => number): View {
  const style = createMemo(
    () => `width:${Math.min(100, Math.max(use(), 0) * 100).toFixed(0)}%;background:var(--u${grade(use())})`,
  );
  return el("span", { class: "meter", "aria-hidden": "true", hidden: () => use() < 0 }, el("span", { style }));
}
