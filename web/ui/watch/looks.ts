// How a lab's links look on the map: by what they carry, drop or hold, in colours, widths, dashes and numbers.

import { counted, digits, rate, span } from "../../components/format";
import { grade } from "../../components/map";
import type { SoFar, Topology, TopologyLink } from "../control";
import type { Flow } from "../lab";
import type { Graph, Look } from "../map/model";

export const MODES = ["use", "throughput", "drops", "queue", "delay", "lateness"] as const;
export type Mode = (typeof MODES)[number];

/** Which samples belong to a link: pipes have the order of the lab file, own ones first. */
export function pipesOf(topology: Topology, flows: readonly Flow[]): Map<string, number[]> {
  const known = new Map<string, number[]>(topology.links.map(({ name }) => [name, []]));
  flows.forEach((flow, place) => {
    if (flow.total.pipe === null) known.get(flow.total.link)?.push(place);
  });
  return known;
}

/** The state of one link, of its two directions together. */
export function lookOf(flows: readonly Flow[], mode: Mode, late = 0): Look {
  const most = (of: (flow: Flow) => number): number => flows.reduce((sum, flow) => Math.max(sum, of(flow)), 0);
  const use = flows.some((flow) => flow.use !== null) ? most((flow) => flow.use ?? 0) : null;
  const bits = most((flow) => flow.bits);
  const drops = flows.reduce((sum, flow) => sum + flow.drops, 0);
  const queue = most((flow) => flow.queue);
  const look: Look = {
    grade: grade(use !== null && use > 0.0005 ? use : null),
    dropping: drops > 0,
    down: flows.length > 0 && flows.every((flow) => !flow.up),
    label: "",
    queue: [flows[0]?.queue ?? 0, flows[1]?.queue ?? 0],
  };
  if (mode === "use")
    look.label =
      use !== null && use > 0.0005 ? `${use < 0.095 ? (use * 100).toPrecision(1) : Math.round(use * 100)} %` : "";
  else if (mode === "throughput") look.label = bits > 0 ? rate(bits, 3) : "";
  else if (mode === "drops")
    [look.label, look.grade] = [
      drops > 0 ? `${digits(drops, 2)}/s` : "",
      drops === 0 ? 0 : drops < 1 ? 3 : drops < 50 ? 4 : 5,
    ];
  else if (mode === "queue")
    [look.label, look.grade] = [
      queue > 0 ? counted(queue, "packet") : "",
      queue === 0 ? 0 : queue < 10 ? 2 : queue < 50 ? 3 : queue < 200 ? 4 : 5,
    ];
  else if (mode === "lateness")
    [look.label, look.grade] = [
      late > 0 ? `${span(late, 2)} late` : "",
      late === 0 ? 0 : late < 1e4 ? 1 : late < 1e5 ? 2 : late < 1e6 ? 3 : late < 1e7 ? 4 : 5,
    ];
  else {
    const delay = most((flow) => flow.total.delay_ns);
    [look.label, look.grade] = [
      span(delay, 2),
      delay === 0 ? 0 : delay < 1e6 ? 1 : delay < 1e7 ? 2 : delay < 5e7 ? 3 : delay < 2e8 ? 4 : 5,
    ];
  }
  if (look.dropping && mode !== "drops") look.label = `${look.label} ▼`.trim();
  return look;
}

export function looksOf(
  graph: Graph,
  topology: Topology,
  flows: readonly Flow[],
  mode: Mode,
  soFar: SoFar | null = null,
): Look[] {
  const places = pipesOf(topology, flows);
  const late = new Map<string, number>();
  for (const pipe of soFar?.pipes ?? []) late.set(pipe.link, Math.max(late.get(pipe.link) ?? 0, pipe.p99_ns ?? 0));
  return graph.links.map((name) =>
    lookOf(
      (places.get(name) ?? []).map((place) => flows[place]).filter((flow): flow is Flow => flow !== undefined),
      mode,
      late.get(name),
    ),
  );
}

/** What is said of a link, for pointers and screen readers. */
export function linkWords(link: TopologyLink, flows: readonly Flow[]): string {
  const ends = link.ends.map(({ node }) => node).join(" – ");
  if (link.joined_in_kernel) return `link ${link.name}, ${ends}: joined in the kernel, not measured`;
  const own = flows.filter((flow) => flow.total.link === link.name && flow.total.pipe === null);
  return `link ${link.name}, ${ends}: ${own
    .map((flow) => {
      const parts = [flow.up ? rate(flow.bits, 3) : "down"];
      if (flow.use !== null && flow.up)
        parts.push(`${Math.round(flow.use * 100)} % of ${rate(flow.total.rate_bits_per_second ?? 0)}`);
      if (flow.queue > 0) parts.push(`${counted(flow.queue, "packet")} waiting`);
      if (flow.drops > 0) parts.push(`${digits(flow.drops, 2)} drops per second`);
      return `${flow.total.direction} ${parts.join(", ")}`;
    })
    .join("; ")}`;
}
