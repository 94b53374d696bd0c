// Copies of nodes and of the links between them.
import { counted } from "../../components/format";
import { tell } from "../tell";
import type { CheckedText } from "./checked";
import type { Chosen } from "./chosen";
import { type Change, freeName, type Path, set, valueAt } from "./spans";

/** How far from the original a copy is put, on the map. */
const ASIDE = 0.4;

interface Copied {
  nodes: { name: string; text: string | null; at: [number, number] }[];
  links: { name: string; text: string; ends: string[] }[];
}

export function copying(
  text: CheckedText,
  chosen: () => Chosen,
  select: (nodes: string[], links: string[]) => void,
): { copy: () => void; paste: () => void } {
  let copied: Copied | null = null;
  return {
    copy: () => {
      copied = copyOf(text, new Set(chosen().nodes));
      tell(`copied ${counted(copied.nodes.length, "node")} and ${counted(copied.links.length, "link")}`);
    },
    paste: text.soon(() => {
      if (!copied) return;
      const names = newNames(text.nodeNames(), copied);
      text.commit(pasted(text, copied, names));
      select([...names.values()], []);
    }),
  };
}

/** Nodes, and links all of whose ends are among them. */
function copyOf(text: CheckedText, names: ReadonlySet<string>): Copied {
  const value = (path: Path): string | null => {
    const part = valueAt(text.tree(), path);
    return part && !part.empty ? text.fresh().slice(part.from, part.to).trimEnd() : null;
  };
  return {
    nodes: text
      .nodes()
      .filter(({ name }) => names.has(name))
      .map(({ name, x, y }) => ({ name, text: value(["nodes", name]), at: [x, y] })),
    links: text
      .links()
      .filter(({ ends }) => ends.every((end) => names.has(end)))
      .map(({ name, ends }) => ({ name, ends, text: value(["links", name]) ?? "" }))
      .filter((link) => link.text.startsWith("{")),
  };
}

/** The names of copies by those of the originals. */
function newNames(known: string[], { nodes }: Copied): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set(known);
  for (const { name } of nodes) {
    const made = freeName(taken, name);
    taken.add(made);
    names.set(name, made);
  }
  return names;
}

function pasted(text: CheckedText, { nodes, links }: Copied, names: ReadonlyMap<string, string>): (Change | null)[] {
  const nameOf = (name: string): string => names.get(name) ?? name;
  const made: (Change | null)[] = nodes.map((node) =>
    text.newNode(nameOf(node.name), node.text?.startsWith("{") ? node.text : "{}"),
  );
  const taken = new Set(text.linkNames());
  for (const link of links) {
    const name = freeName(taken, link.name);
    taken.add(name);
    const value = link.text.replace(/ends:\s*\[[^\]]*\]/, `ends: [${link.ends.map(nameOf).join(", ")}]`);
    made.push(set(text.fresh(), text.tree(), ["links", name], value));
  }
  const places = nodes.map(({ name, at: [x, y] }): [string, [number, number]] => [
    nameOf(name),
    [x + ASIDE, y + ASIDE],
  ]);
  return [...made, ...text.places(new Map(places))];
}
