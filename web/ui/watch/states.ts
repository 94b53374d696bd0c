// Whether nodes of a lab run, and which of them can be stopped.
import type { Topology } from "../control";
import type { Lab } from "../lab";

export type TopologyNode = Topology["nodes"][number];

/** What leads out of the lab is none of its own to stop. */
const OUTSIDE = new Set(["external", "internet", "outside", "tunnel"]);

/** The state of a node; labs of an older program tell of none, and nothing in them stops. */
export const stateOf = ({ state }: Pick<TopologyNode, "state">): NonNullable<TopologyNode["state"]> =>
  state ?? "running";

/** Nodes that do not run, and what they do instead. */
export const offIn = (topology: Topology | null): Map<string, string> =>
  new Map(
    (topology?.nodes ?? []).filter((node) => stateOf(node) !== "running").map((node) => [node.name, stateOf(node)]),
  );

/** What can be done to a node now; null: it changes just now, or is nothing that stops. */
export function changeOf(lab: Lab, node: TopologyNode): "stop" | "start" | null {
  if (!lab.control.offers()?.includes("stop") || OUTSIDE.has(node.kind)) return null;
  const state = stateOf(node);
  return state === "running" ? "stop" : state === "stopped" || state === "crashed" ? "start" : null;
}

/** What is said when it is done. */
export const doneWords = (change: "stop" | "start", node: string): string =>
  change === "stop" ? `${node} has stopped` : `${node} runs again`;
