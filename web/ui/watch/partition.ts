// Partitions by hand: the chosen nodes are parted from all others, whatever joins them, until they are healed.
import { fresh } from "../../components/dom";
import { flow } from "../forms";
import type { Lab } from "../lab";
import { attempt } from "../tell";
import { createMemo, createSignal, el, keyed, press, type View } from "../view";
import { choice, text } from "./fields";

/** Kinds of node that join others and say nothing themselves: a partition is not about them. */
const JOINTS = new Set(["switch", "hub", "lan"]);

type Fate = "drop" | "slow" | "jam";
type Side = "both" | "to" | "from";

const FATES: readonly (readonly [Fate, string])[] = [
  ["drop", "are dropped"],
  ["slow", "come later"],
  ["jam", "are held"],
];
const SIDES: readonly (readonly [Side, string])[] = [
  ["both", "both ways"],
  ["to", "only to them"],
  ["from", "only from them"],
];

/** What is wanted of a partition. */
export interface Wanted {
  nodes: readonly string[];
  fate: Fate;
  /** How much later packets come, of `slow`. */
  slow: string;
  side: Side;
  /** For how long; empty: until it is healed. */
  lasting: string;
}

/** A partition as an entry of the timeline has it. */
export const entryOf = ({ nodes, fate, slow, side, lasting }: Wanted): string =>
  flow({
    partition: [nodes],
    ...(side === "both" ? {} : { direction: side }),
    ...(fate === "slow" ? { slow } : {}),
    ...(fate === "jam" ? { jam: true } : {}),
    ...(lasting.trim() === "" ? {} : { for: lasting.trim() }),
  });

/** Those of some nodes that can be parted from others. */
export const partable = (lab: Lab, names: readonly string[]): string[] => {
  const kinds = new Map((lab.topology()?.nodes ?? []).map(({ name, kind }) => [name, kind]));
  return names.filter((name) => !JOINTS.has(kinds.get(name) ?? "switch"));
};

/** What clients have parted, as it is in force. */
export const inForce = (lab: Lab): string[] => {
  const own = lab.events().filter(({ what, details }) => what === "partition" && details.by === "client");
  const names = own[own.length - 1]?.details.in_force;
  return Array.isArray(names) ? names.map(String) : [];
};

export const part = (lab: Lab, wanted: Wanted): void =>
  attempt(() => lab.part(entryOf(wanted)), `parted from the others: ${wanted.nodes.join(", ")}`);
export const heal = (lab: Lab): void => attempt(() => lab.heal(), "healed: no partition made by hand is in force");

/** How the chosen nodes can be parted from the others, and what is parted now. */
export function partitionPanel(lab: Lab, names: readonly string[]): View {
  const nodes = createMemo(() => partable(lab, names).join("\n"));
  const held = createMemo(() => inForce(lab).join(", and "));
  const [fate, setFate] = createSignal<Fate>("drop");
  const [side, setSide] = createSignal<Side>("both");
  const [slow, setSlow] = createSignal("200 ms");
  const [lasting, setLasting] = createSignal("");
  const heading = fresh("partition");
  // A form stays while the lab changes: somebody may be typing into it.
  return keyed(nodes, (own) =>
    own === ""
      ? null
      : el(
          "section",
          { class: "settings", "aria-labelledby": heading },
          el("h3", { id: heading }, "Partition"),
          el(
            "div",
            { class: "controls" },
            choice("packets", FATES, fate, setFate),
            () => (fate() === "slow" ? text("by", slow, setSlow, "200 ms") : null),
            choice("direction", SIDES, side, setSide),
            text("for", lasting, setLasting, "until healed"),
          ),
          el(
            "div",
            { class: "controls" },
            press(
              "Part from the others",
              () => part(lab, { nodes: own.split("\n"), fate: fate(), slow: slow(), side: side(), lasting: lasting() }),
              { title: "what these nodes and all others send each other, whatever joins them" },
            ),
            () => (held() ? press("Heal", () => heal(lab)) : null),
          ),
          () => (held() ? el("p", { class: "note", role: "status" }, `parted by hand: ${held()}`) : null),
        ),
  );
}
