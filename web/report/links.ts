// What links were described as, and what they did.
import { type Child, h, section } from "../components/dom";
import { quantity, rate, span, whole } from "../components/format";
import { type Column, table } from "../components/table";
import { type PipeRow, pipeName, type Run, use } from "./data";

/** A count; none at all is not worth a look. */
export const zero = (value: unknown): Child =>
  Number(value ?? 0) === 0 ? h("span", { class: "none" }, "0") : whole(Number(value));

export function linkSection(run: Run): HTMLElement | null {
  if (run.pipes.length === 0) return null;
  return section(
    "links",
    "Links: described and achieved",
    table(`links of ${run.lab}`, [...NAMES_AND_RATES, ...DELAYS_AND_QUEUE, ...causes(run), LATENESS], run.pipes, {
      most: 60,
    }),
    run.pipes_left_out > 0
      ? h(
          "p",
          { class: "note" },
          `${whole(run.pipes_left_out)} more pipes carried less: `,
          h("code", {}, "pipes.csv"),
          " has all.",
        )
      : null,
  );
}

/** Described against achieved, with a bar. */
function meter(row: PipeRow): Child {
  const part = use(row);
  if (part === null) return null;
  const wide = Math.min(Math.max(part, 0), 1) * 100;
  return h("span", { class: "meter", "aria-hidden": "true" }, h("span", { style: `width:${wide.toFixed(1)}%` }));
}

const NAMES_AND_RATES: Column<PipeRow>[] = [
  {
    name: "link",
    show: (row: PipeRow): Child => [
      h("span", { class: "name" }, row.pipe ? `${row.link} ${row.pipe}` : row.link),
      h("br"),
      h("small", {}, `${row.from} → ${row.to}`),
    ],
    value: pipeName,
  },
  {
    name: "described rate",
    numeric: true,
    show: (row: PipeRow): Child => (row.rate_bits_per_second === null ? "unlimited" : rate(row.rate_bits_per_second)),
    value: (row: PipeRow) => row.rate_bits_per_second,
  },
  {
    name: "achieved",
    numeric: true,
    about: "the rate while packets waited; judged from a second on",
    show: (row: PipeRow): Child =>
      row.achieved_bits_per_second === null
        ? "–"
        : [rate(row.achieved_bits_per_second), row.rate_judged ? null : h("small", {}, " not judged")],
    value: (row: PipeRow) => row.achieved_bits_per_second,
  },
  {
    name: "carried",
    numeric: true,
    about: "delivered over the whole run",
    show: (row: PipeRow): Child =>
      row.joined_in_kernel ? "not measured" : [rate(row.throughput_bits_per_second), meter(row)],
    value: (row: PipeRow) => (row.joined_in_kernel ? null : Math.round(row.throughput_bits_per_second)),
  },
];

const DELAYS_AND_QUEUE: Column<PipeRow>[] = [
  {
    name: "described delay",
    numeric: true,
    show: (row: PipeRow): Child => span(row.delay_ns),
    value: (row: PipeRow) => row.delay_ns,
  },
  {
    name: "mean delay",
    numeric: true,
    show: (row: PipeRow): Child => quantity(row.measured_delay_mean_ns, "ns"),
    value: (row: PipeRow) => row.measured_delay_mean_ns,
  },
  {
    name: "99 % delay",
    numeric: true,
    show: (row: PipeRow): Child => quantity(row.measured_delay_p99_ns, "ns"),
    value: (row: PipeRow) => row.measured_delay_p99_ns,
  },
  {
    name: "longest queue",
    numeric: true,
    about: "packets that waited at once",
    show: (row: PipeRow): Child => zero(row.queue_peak_packets),
    value: (row: PipeRow) => row.queue_peak_packets,
  },
];

const LATENESS: Column<PipeRow> = {
  name: "99 % lateness",
  numeric: true,
  about: "delivered later than due",
  show: (row: PipeRow): Child => quantity(row.lateness_p99_ns, "ns"),
  value: (row: PipeRow) => row.lateness_p99_ns,
};

/** What became of packets on their way: a column each for what happened to any. */
const CAUSES: [string, keyof PipeRow][] = [
  ["queue full", "dropped_queue_packets"],
  ["dropped early", "dropped_early_packets"],
  ["lost", "dropped_loss_packets"],
  ["link down", "dropped_down_packets"],
  ["parted", "dropped_partition_packets"],
  ["by faults", "dropped_fault_packets"],
  ["on the air", "dropped_air_packets"],
  ["marked", "marked_packets"],
  ["duplicated", "duplicated_packets"],
  ["corrupted", "corrupted_packets"],
  ["reordered", "reordered_packets"],
];

const causes = ({ pipes }: Run): Column<PipeRow>[] =>
  CAUSES.filter(([, key]) => pipes.some((row) => Number(row[key] ?? 0) > 0)).map(([name, key]) => ({
    name,
    numeric: true,
    show: (row) => zero(row[key]),
    value: (row) => Number(row[key] ?? 0),
  }));
