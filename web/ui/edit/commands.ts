// What can be done to a lab file, as commands with names and keys.
import { png, save } from "../../components/download";
import type { Command } from "../commands";
import { mapSvg } from "../map/export";
import { attempt } from "../tell";
import { exporter, generator, importer } from "./dialogs";
import type { Workbench } from "./workbench";

/** How many nodes and links have a command each. */
const MOST_NAMED = 300;

export const commandsOf = (workbench: Workbench): Command[] => [
  ...(workbench.canEdit ? changes(workbench) : []),
  ...pictures(workbench),
  { name: "Go to the map", keys: "m", act: () => workbench.map.element.focus() },
  { name: "Go to the text", keys: "e", act: () => workbench.source.view.focus() },
  ...found(workbench),
];

function changes({ source, act, joining, map, ground, save: saveFile, start }: Workbench): Command[] {
  return [
    { name: "Save the file", keys: "Mod+s", act: saveFile },
    { name: "Bring the lab up", act: () => start("up") },
    { name: "Run the lab", act: () => start("run") },
    { name: "Simulate the links", act: () => start("sim") },
    { name: "Undo", keys: "Mod+z", act: source.undo },
    { name: "Redo", keys: "Mod+y", act: source.redo },
    ...(["host", "router", "switch", "hub", "transit"] as const).map((kind, place) => ({
      name: `Add a ${kind}`,
      keys: ["n", "r", "s", "", ""][place] ?? "",
      act: () => act.addNode(kind),
    })),
    { name: joining.isOn() ? "Join no nodes" : "Join nodes by a link", keys: "j", act: joining.press },
    ...(joining.isOn() ? [{ name: "End joining", keys: "Escape", act: joining.end }] : []),
    ...(ground.isThere()
      ? [{ name: ground.isOn() ? "Hide the scene in metres" : "Draw the scene in metres", act: ground.press }]
      : []),
    { name: "Copy what is chosen", keys: "c", act: act.copy },
    { name: "Paste", keys: "v", act: act.paste },
    { name: "Remove what is chosen", keys: "Delete", act: act.removeChosen },
    { name: "Align chosen nodes in a row", act: () => act.align("row") },
    { name: "Align chosen nodes in a column", act: () => act.align("column") },
    { name: "Put chosen nodes around a circle", act: () => act.align("circle") },
    {
      name: "Keep all places in the file",
      act: () =>
        act.place(new Map(map.graph.spots.filter(({ name }) => name).map((spot) => [spot.name, [spot.x, spot.y]]))),
    },
    { name: "Forget all places of the file", act: act.forget },
    { name: "Generate a network…", act: () => generator(source.text().trim() === "" ? source.replace : null) },
    { name: "Import a file of another tool…", act: importer },
  ];
}

function pictures({ path, source, map }: Workbench): Command[] {
  const picture = (): string => mapSvg(map, [], `map of ${path}`);
  return [
    { name: "Export for another tool…", act: () => exporter(path, source.text()) },
    { name: "Save the map as SVG", act: () => save("lab.svg", "image/svg+xml", picture()) },
    { name: "Save the map as PNG", act: () => attempt(async () => save("lab.png", "image/png", await png(picture()))) },
  ];
}

/** What the text describes, to be gone to by name. */
function found({ checked, map }: Workbench): Command[] {
  const { nodes = [], links = [] } = checked()?.scene ?? {};
  return [
    ...nodes.slice(0, MOST_NAMED).map(({ name }) => ({ name: `Show node ${name}`, act: () => map.choose([name], []) })),
    ...links.slice(0, MOST_NAMED).map(({ name }) => ({ name: `Show link ${name}`, act: () => map.choose([], [name]) })),
  ];
}
