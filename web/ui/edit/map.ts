// The map of a lab file: what is wrong is marked, links say what they are set to.
import type { Checked } from "../api";
import { MapCanvas, type MapOptions } from "../map/canvas";
import { graphOf } from "../map/model";
import { createEffect, createMemo, on } from "../view";
import type { Actions } from "./actions";
import type { Chosen } from "./chosen";
import type { Joining } from "./joining";
import type { Source } from "./source";
import { entryAt } from "./spans";

interface Given {
  path: string;
  checked: () => Checked | null;
  source: Source;
  act: Actions;
  joining: Joining;
  choose: (chosen: Chosen) => void;
  canEdit: boolean;
}

export function editMap(given: Given): MapCanvas {
  const { path, checked, source, act, joining, canEdit } = given;
  const wrong = createMemo(() => namesOfErrors(checked()));
  const map: MapCanvas = new MapCanvas({
    label: `map of ${path}`,
    choose: ({ nodes, links }, open) => {
      given.choose({ nodes: [...nodes], links: [...links] });
      if (joining.isOn()) joining.next([...nodes]);
      else if (open) {
        const name = [...nodes, ...links][0];
        const span =
          name === undefined ? undefined : entryAt(checked()?.tree ?? null, [nodes.size > 0 ? "nodes" : "links", name]);
        if (span) source.goTo(span.from, span.to);
      }
    },
    words: (place) => wordsOf(map, checked(), place),
    ...(canEdit ? { move: (moved: Map<string, [number, number]>) => act.place(moved) } : {}),
    over: (_map, pen, colours): null => {
      pen.strokeStyle = colours.bad;
      markWrong(map, wrong(), pen);
      return null;
    },
    key: (event) => {
      if ((event.key === "Delete" || event.key === "Backspace") && canEdit) act.removeChosen();
      else if (event.key === "Escape" && joining.isOn()) joining.end();
      else return false;
      return true;
    },
  });
  createEffect(() => {
    const scene = checked()?.scene;
    if (scene) map.show(graphOf(scene));
  });
  createEffect(on(wrong, () => map.draw()));
  createEffect(() => map.look(looksOf(map, checked())));
  return map;
}

/** The nodes and links with errors. */
const namesOfErrors = (checked: Checked | null): Set<string> =>
  new Set((checked?.errors ?? []).flatMap(({ key }) => /^(?:nodes|links)\.([^.[]+)/.exec(key ?? "")?.[1] ?? []));

const linkWords = (checked: Checked | null, name: string | undefined): string[] =>
  checked?.scene?.links.find((link) => link.name === name)?.words ?? [];

/** What a node or link is, in words, with what is wrong with it. */
function wordsOf(map: MapCanvas, checked: Checked | null, { node, link }: Parameters<MapOptions["words"]>[0]): string {
  const error = checked?.errors.find(({ key }) =>
    key?.startsWith(node !== undefined ? `nodes.${node}` : `links.${link}`),
  );
  const words =
    node !== undefined
      ? `${map.graph.spots[map.graph.byNode.get(node) ?? -1]?.kind ?? "node"} ${node}`
      : `link ${link}: ${linkWords(checked, link).join("; ")}`;
  return error ? `${words} – ${error.message}` : words;
}

/** Draws a circle around what is wrong. */
function markWrong(map: MapCanvas, wrong: ReadonlySet<string>, pen: CanvasRenderingContext2D): void {
  const circle = ([x, y]: readonly [number, number], radius: number): void => {
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.stroke();
  };
  pen.lineWidth = 2.5;
  for (const spot of map.graph.spots) if (wrong.has(spot.name)) circle(map.place(spot), map.nodeSize + 8);
  for (const line of map.graph.lines) if (wrong.has(line.name)) circle(map.on(line, 0.5), 9);
}

/** Links with labels that say what they are set to. */
const looksOf = (map: MapCanvas, checked: Checked | null): Parameters<MapCanvas["look"]>[0] =>
  map.graph.links.map((name) => ({
    grade: 2,
    dropping: false,
    down: false,
    label: (linkWords(checked, name)[0] ?? "").split(", ").slice(0, 2).join(", "),
    queue: [0, 0],
    flow: [0, 0],
  }));
