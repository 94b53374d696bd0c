// Faults of a node by hand: each is an entry of the timeline that happens now. What a node cannot have, the lab says with its reason.
import { fresh } from "../../components/dom";
import { flow } from "../forms";
import type { Lab } from "../lab";
import { attempt } from "../tell";
import { createMemo, createSignal, el, keyed, press, type View } from "../view";
import { choice, text } from "./fields";
import { eventRow } from "./lists";
import { stateOf, type TopologyNode } from "./states";

/** A value of a fault: one of some words, or a text. */
interface Field {
  key: string;
  first: string;
  /** What stands in the field while it is empty. */
  empty?: string;
  words?: readonly (readonly [string, string])[];
  /** The kind of fault without which a node has no such value. */
  needs?: string;
}

/** A fault that makes sense by hand. */
interface Fault {
  /** The kind by which the lab says whether a node can have it. */
  kind: string;
  name: string;
  about: string;
  fields: readonly Field[];
  entry: (node: string, values: Record<string, string>) => Record<string, unknown>;
  done: string;
}

const KEEPS = [
  ["flushed", "what was flushed"],
  ["all", "all that was written"],
  ["some", "some of the rest"],
  ["torn", "all but a torn end"],
] as const;

/** Calls that programs seldom expect to fail; another may be written into the lab file. */
const CALLS = [
  ["fsync", "fsync"],
  ["write", "write"],
  ["read", "read"],
  ["open", "open"],
  ["connect", "connect"],
  ["accept", "accept"],
  ["[mmap, brk]", "memory"],
] as const;

const ERRORS = ["EIO", "ENOSPC", "ENOMEM", "EINTR", "EMFILE", "EACCES", "ECONNREFUSED"].map(
  (name) => [name, name] as const,
);

/** Those that have a value. */
const given = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ""));

export const FAULTS: readonly Fault[] = [
  {
    kind: "crash",
    name: "Crash",
    about: "a power cut: its kernel is gone at once, with all that was not on its disk",
    fields: [
      { key: "keep", first: "flushed", words: KEEPS, needs: "disk" },
      { key: "for", first: "", empty: "until started" },
    ],
    entry: (node, values) => ({ crash: node, ...given(values) }),
    done: "has crashed",
  },
  {
    kind: "freeze",
    name: "Freeze",
    about: "its kernel and programs stand still and do not notice, as a virtual machine that is paused",
    fields: [{ key: "for", first: "1 s" }],
    entry: (node, values) => ({ freeze: node, ...values }),
    done: "stands still",
  },
  {
    kind: "clock",
    name: "Step the clock",
    about: "its CLOCK_REALTIME is set forward, or back with a minus sign",
    fields: [{ key: "by", first: "3 s" }],
    entry: (node, { by }) => ({ on: node, clock: { step: by } }),
    done: "has another time",
  },
  {
    kind: "clock",
    name: "Let the clock drift",
    about: "its clock runs so much faster than lab time, or slower with a minus sign; 0 ends it",
    fields: [{ key: "drift", first: "200 ppm" }],
    entry: (node, { drift }) => ({ on: node, clock: { drift } }),
    done: "has a clock of another speed",
  },
  {
    kind: "disk",
    name: "Fill the disk",
    about: "its file system has no room any more (ENOSPC)",
    fields: [{ key: "for", first: "", empty: "until it works" }],
    entry: (node, values) => ({ disk: node, full: true, ...given(values) }),
    done: "has a disk without room",
  },
  {
    kind: "disk",
    name: "Let the disk work",
    about: "all faults of its disk end",
    fields: [],
    entry: (node) => ({ disk: node, works: true }),
    done: "has a disk that works",
  },
  {
    kind: "fail",
    name: "Let calls fail",
    about: "system calls of its programs get an error, and are not made",
    fields: [
      { key: "call", first: "fsync", words: CALLS },
      { key: "error", first: "EIO", words: ERRORS },
      { key: "process", first: "", empty: "all" },
      { key: "for", first: "5 s", empty: "until ended" },
    ],
    entry: (node, { call = "", error, process = "", for: span = "" }) => ({
      on: node,
      fail: { call: call.startsWith("[") ? call.slice(1, -1).split(", ") : call, error, ...given({ process }) },
      ...given({ for: span }),
    }),
    done: "has calls that fail",
  },
  {
    kind: "fail",
    name: "Let calls work",
    about: "all faults of its programs' system calls end",
    fields: [],
    entry: (node) => ({ on: node, fail: "none" }),
    done: "has calls that work",
  },
  {
    kind: "starve",
    name: "Starve",
    about: "programs that could run get no processor, while others do",
    fields: [
      { key: "process", first: "", empty: "all" },
      { key: "for", first: "50 ms" },
    ],
    entry: (node, { process = "", for: span }) => ({
      on: node,
      starve: process === "" ? true : { process },
      for: span,
    }),
    done: "has programs without a processor",
  },
];

/** What a fault of a node is called in the events of a lab. */
const TOLD = new Set([
  ...["crashed", "boots", "starts again", "runs again", "has stopped", "asked to stop", "frozen", "goes on"],
  ...["clock", "killed", "paused", "limited", "restarted", "asked to restart", "fail", "starve", "fault ends"],
]);
/** How many of them are shown. */
const MOST_TOLD = 5;

/** The last events that tell what was done to a node. */
const toldOf = (lab: Lab, node: string) =>
  lab
    .events()
    .filter(({ what, details }) => details.node === node && (TOLD.has(what) || what.startsWith("disk")))
    .slice(-MOST_TOLD)
    .reverse();

/** An entry as it is written in a timeline, without an instant. */
export const entryOf = (fault: Fault, node: string, values: Record<string, string>): string =>
  flow(fault.entry(node, Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value.trim()]))));

/** Why a node cannot have a fault now; null: it can. */
export function whyNot(node: TopologyNode, kind: string): string | null {
  const refusal = node.faults?.[kind];
  if (refusal) return refusal;
  const state = stateOf(node);
  return state === "running" ? null : `${node.name} does not run: it is ${state}`;
}

/** What can be done to a node by hand, and what it did. A lab of an older program knows of none. */
export function faultsPanel(lab: Lab, name: string): View {
  const node = (): TopologyNode | undefined => nodeOf(lab, name);
  const kinds = createMemo(() => Object.keys(node()?.faults ?? {}).join(" "));
  const heading = fresh("faults");
  // A form stays while the lab changes: somebody may be typing into it.
  return keyed(kinds, (known) => {
    const own = FAULTS.filter(({ kind }) => known.split(" ").includes(kind));
    if (own.length === 0 || !lab.control.offers()?.includes("fault")) return null;
    return el(
      "section",
      { class: "settings", "aria-labelledby": heading },
      el("h3", { id: heading }, "Faults"),
      own.map((fault) => row(lab, name, fault, () => reason(node(), fault.kind))),
      () => told(lab, name),
    );
  });
}

const reason = (node: TopologyNode | undefined, kind: string): string | null =>
  node ? whyNot(node, kind) : "the lab has no such node any more";

/** The faults that a node can have now. */
export const possible = (lab: Lab, node: TopologyNode): readonly Fault[] =>
  lab.control.offers()?.includes("fault")
    ? FAULTS.filter(({ kind }) => node.faults?.[kind] !== undefined && whyNot(node, kind) === null)
    : [];

const nodeOf = (lab: Lab, name: string): TopologyNode | undefined =>
  lab.topology()?.nodes.find((node) => node.name === name);

/** The values that a fault of a node has: a crash keeps nothing of a disk that is not there. */
const fieldsOf = (lab: Lab, node: string, fault: Fault): readonly Field[] => {
  const kinds = nodeOf(lab, node)?.faults;
  return fault.fields.filter(({ needs }) => needs === undefined || !kinds?.[needs]);
};

/** Lets a fault happen now; values that are not given are those that its form begins with. */
export const make = (lab: Lab, node: string, fault: Fault, values: Record<string, string> = {}): void => {
  const first = Object.fromEntries(fieldsOf(lab, node, fault).map(({ key, first }) => [key, first]));
  attempt(() => lab.fault(entryOf(fault, node, { ...first, ...values })), `${node} ${fault.done}`);
};

function row(lab: Lab, node: string, fault: Fault, why: () => string | null): View {
  const values = fieldsOf(lab, node, fault).map((field) => ({ field, signal: createSignal(field.first) }));
  const act = (): void =>
    make(lab, node, fault, Object.fromEntries(values.map(({ field, signal: [value] }) => [field.key, value()])));
  return el(
    "div",
    { class: "controls" },
    press(fault.name, act, { disabled: () => why() !== null, title: () => why() ?? fault.about }),
    values.map(({ field, signal: [value, set] }) =>
      field.words
        ? choice(field.key, field.words, value, set)
        : text(field.key, value, set, field.empty ?? field.first, `${fault.name}: ${field.key}`),
    ),
  );
}

/** What was done to the node, as the events tell it. */
function told(lab: Lab, node: string): View {
  const events = toldOf(lab, node);
  return events.length === 0
    ? null
    : el(
        "div",
        { role: "status", "aria-label": `what was done to ${node}` },
        el("ol", { class: "events" }, events.map(eventRow)),
      );
}
