// What nodes use over time: processor, memory, packets that their kernels dropped.
import type { TimeAxis } from "../components/axis";
import { h } from "../components/dom";
import { bytes, share, whole } from "../components/format";
import { type Line, TimePlot } from "../components/plot";
import { type NodeUse, type Run, runLabel } from "./data";

const MOST_SHOWN = 8;

interface Curve {
  node: NodeUse;
  label: string;
  total: number;
}

export function nodePlots(runs: Run[], axis: TimeAxis): HTMLElement | null {
  const all = runs.flatMap((run, place) =>
    run.nodes.map(
      (node): Curve => ({
        node,
        label: `${runs.length > 1 ? `${runLabel(runs, place)}: ` : ""}${node.node}`,
        total: last(node.processor_ns) - (node.processor_ns[0] ?? 0),
      }),
    ),
  );
  if (all.length === 0) return null;
  all.sort((one, other) => other.total - one.total);
  const curves = all.slice(0, MOST_SHOWN);
  const more = all.length - curves.length + runs.reduce((sum, run) => sum + run.nodes_left_out, 0);
  const memory = curves.some(({ node }) => node.has_kernel)
    ? "what processes have for themselves; of nodes with a kernel of their own, what that cannot give them"
    : "what processes have for themselves";
  const plot = (
    title: string,
    about: string,
    unit: string,
    format: (value: number) => string,
    lines: Line[],
  ): HTMLElement => new TimePlot(axis, { title, about, unit, format, lines }).element;
  const line = ({ label, node }: Curve, style: number, y: number[]): Line => ({
    label,
    t: [...node.t, axis.end],
    y: [...y, last(y)],
    style,
    kind: "steps",
  });
  const isDropping = curves.some(({ node }) => grown(node.dropped_packets).some((count) => count > 0));
  return h(
    "div",
    { id: "nodes" },
    h("h3", {}, "Nodes"),
    more > 0 ? h("p", { class: "about" }, `Those that computed most; nodes.csv has ${whole(more)} more.`) : null,
    plot(
      "Processor",
      "programs and kernel; 100 % is all of one processor",
      "%",
      share,
      curves.map((curve, style) => ({ label: curve.label, style, kind: "steps", ...use(curve.node, axis.end) })),
    ),
    plot(
      "Memory",
      memory,
      "B",
      bytes,
      curves.map((curve, style) => line(curve, style, curve.node.memory_bytes)),
    ),
    isDropping
      ? plot(
          "Drops in nodes",
          "packets that kernels of nodes dropped so far, at their interfaces and between these and protocols",
          "packets",
          whole,
          curves.map((curve, style) => line(curve, style, grown(curve.node.dropped_packets))),
        )
      : null,
  );
}

const last = (values: number[]): number => values[values.length - 1] ?? 0;
const grown = (counts: number[]): number[] => counts.map((count) => count - (counts[0] ?? 0));

/** Processor time by time, over stretches in which a kernel that counts in steps of 10 ms is exact to some percent. A node without a sample has used nothing. */
export function use(
  { t, processor_ns }: Pick<NodeUse, "t" | "processor_ns">,
  end: number,
): { t: number[]; y: (number | null)[] } {
  const first = t[0] ?? 0;
  const width = Math.max((last(t) - first) / 200, 0.1);
  const [times, shares]: [number[], (number | null)[]] = [[first], [null]];
  let [from, used] = [first, processor_ns[0] ?? 0];
  t.forEach((at, place) => {
    if (at <= from || (at - from < width && place < t.length - 1)) return;
    const now = processor_ns[place] ?? used;
    times.push(at);
    shares.push(Math.max(now - used, 0) / 1e9 / (at - from));
    [from, used] = [at, now];
  });
  // A step reaches back to the point before it, which has to be there.
  shares[0] = shares[1] ?? null;
  if (end - from >= width) {
    times.push(end);
    shares.push(0);
  }
  return { t: times, y: shares };
}
