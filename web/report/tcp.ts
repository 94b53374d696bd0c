// TCP connections over time: congestion window, round-trip time, goodput and the time-sequence diagram.
import type { TimeAxis } from "../components/axis";
import { choice, fresh, h, refill } from "../components/dom";
import { bytes, counted, rate, span, whole } from "../components/format";
import { type Line, sample, TimePlot } from "../components/plot";
import { type Connection, type Run, runLabel } from "./data";

const MOST_SHOWN = 6;

interface Curve {
  connection: Connection;
  label: string;
  total: number;
}

/** The time-sequence diagrams of a journal: every packet with data, where it enters its first link. */
export function journalPlots(run: Run, axis: TimeAxis): HTMLElement | null {
  const flows = run.journal?.flows ?? [];
  const [first] = flows;
  if (!first) return null;
  const plot = new TimePlot(axis, {
    title: "Time-sequence of packets",
    about: "from the journal: packets with data where they enter their first link",
    unit: "B",
    format: bytes,
    lines: [],
    fromZero: false,
    height: 300,
  });
  const show = (name: string): void => {
    const flow = flows.find((one) => one.name === name) ?? first;
    const points = (label: string, all: [number, number][], style: number): Line[] =>
      all.length > 0
        ? [
            {
              label: `${label}, ${whole(all.length)}`,
              t: all.map(([at]) => at),
              y: all.map(([, byte]) => byte),
              style,
              kind: "points",
            },
          ]
        : [];
    plot.update([
      { label: `${counted(flow.packets, "packet")} at ${flow.pipe}`, t: flow.t, y: flow.sequence, style: 0 },
      ...points("sent again", flow.again, 3),
      ...points("dropped", flow.dropped, 1),
    ]);
  };
  show(first.name);
  return h(
    "div",
    { id: "journal" },
    h("h3", {}, "Packets of a flow"),
    h(
      "p",
      { class: "controls" },
      choice(
        "flow",
        flows.map((flow) => ({ value: flow.name, text: `${flow.name} (${bytes(flow.bytes)})` })),
        first.name,
        show,
      ),
    ),
    plot.element,
  );
}

export function tcpPlots(runs: Run[], axis: TimeAxis): HTMLElement {
  const curves = curvesOf(runs);
  const plots = plotsOver(axis);
  let picked = pickedFirst(runs, curves);
  const boxes = curves.map((curve) =>
    chip(curve, (checked) => {
      picked = checked ? [...picked, curve].slice(-MOST_SHOWN) : picked.filter((one) => one !== curve);
      refresh();
    }),
  );
  const refresh = (): void => {
    for (const { curve, box, swatch } of boxes) {
      const style = picked.indexOf(curve);
      box.checked = style >= 0;
      refill(swatch, style >= 0 ? sample({ style }) : null);
    }
    for (const { plot, lines } of plots) plot.update(picked.flatMap(lines));
  };
  refresh();
  return h(
    "div",
    { id: "tcp" },
    h("h3", {}, "TCP connections"),
    h(
      "fieldset",
      { class: "chips" },
      h("legend", {}, `connections, at most ${MOST_SHOWN} at once`),
      boxes.map(({ item }) => item),
    ),
    plots.map(({ plot }) => plot.element),
  );
}

/** The connections of all runs, those that carried most first. */
function curvesOf(runs: Run[]): Curve[] {
  const curves = runs.flatMap((run, place) =>
    run.tcp.map(
      (connection): Curve => ({
        connection,
        label: `${runs.length > 1 ? `${runLabel(runs, place)}: ` : ""}${connection.node} ${connection.local} → ${connection.remote}`,
        total: last(connection.bytes_sent) ?? 0,
      }),
    ),
  );
  return curves.sort((one, other) => other.total - one.total);
}

/** The curves that are drawn at first: of several runs one each. */
function pickedFirst(runs: Run[], curves: Curve[]): Curve[] {
  if (runs.length === 1) return curves.slice(0, 2);
  return runs
    .flatMap((_, place) => curves.find((curve) => curve.label.startsWith(`${runLabel(runs, place)}: `)) ?? [])
    .slice(0, MOST_SHOWN);
}

/** A plot, and its lines of a connection. */
interface Panel {
  plot: TimePlot;
  lines: (curve: Curve, style: number) => Line[];
}

const plotsOver = (axis: TimeAxis): Panel[] => [
  {
    plot: new TimePlot(axis, {
      title: "Congestion window",
      about: "and the slow-start threshold, where it is in sight",
      unit: "packets",
      format: whole,
      lines: [],
    }),
    lines: windowLines,
  },
  {
    plot: new TimePlot(axis, {
      title: "Round-trip time",
      about: "smoothed, and the least so far",
      unit: "ns",
      format: (value) => span(value),
      lines: [],
    }),
    lines: rttLines,
  },
  {
    plot: new TimePlot(axis, {
      title: "Goodput",
      about: "bytes newly acknowledged per second; points: the kernel's delivery rate",
      unit: "bit/s",
      format: (value) => rate(value),
      lines: [],
    }),
    lines: goodputLines,
  },
  {
    plot: new TimePlot(axis, {
      title: "Time-sequence",
      about: "bytes acknowledged; circles: retransmissions, at the bytes sent by then",
      unit: "B",
      format: bytes,
      lines: [],
      fromZero: false,
      height: 240,
    }),
    lines: sequence,
  },
];

/** A box that picks a curve. */
function chip(curve: Curve, changed: (checked: boolean) => void) {
  const id = fresh("tcp");
  const box = h("input", { type: "checkbox", id, onchange: () => changed(box.checked) });
  const swatch = h("span", { class: "swatch" });
  const words = `${curve.label} (${curve.connection.congestion}, ${bytes(curve.total)})`;
  return { curve, box, swatch, item: h("span", { class: "chip" }, box, h("label", { for: id }, swatch, words)) };
}

const rttLines = ({ connection, label }: Curve, style: number): Line[] => [
  nanoseconds(label, connection, connection.srtt_us, style),
  { ...nanoseconds(`least, ${label}`, connection, connection.min_rtt_us, style), plain: true },
];

const goodputLines = ({ connection, label }: Curve, style: number): Line[] => [
  { label, style, ...goodput(connection), kind: "steps" },
  { label: `delivery rate, ${label}`, t: connection.t, y: connection.delivery_rate, style, plain: true, dash: [1, 3] },
];

function last(values: (number | null)[]): number | null {
  for (let place = values.length - 1; place >= 0; place -= 1) if (values[place] !== null) return values[place] ?? null;
  return null;
}

function windowLines({ connection, label }: Curve, style: number): Line[] {
  const most = Math.max(...connection.cwnd_packets.map((value) => value ?? 0), 1);
  const threshold = connection.ssthresh_packets.map((value) => (value !== null && value <= most * 2 ? value : null));
  const lines: Line[] = [{ label, t: connection.t, y: connection.cwnd_packets, style }];
  if (threshold.some((value) => value !== null))
    lines.push({ label: `threshold, ${label}`, t: connection.t, y: threshold, style, plain: true, dash: [4, 3] });
  return lines;
}

function nanoseconds(label: string, connection: Connection, us: (number | null)[], style: number): Line {
  return { label, t: connection.t, y: us.map((value) => (value === null ? null : value * 1000)), style };
}

/** Over stretches of at least a hundredth of what was sampled, since acknowledgements come in bursts. */
export function goodput(connection: Pick<Connection, "t" | "bytes_acked">): { t: number[]; y: (number | null)[] } {
  const [t, y]: [number[], (number | null)[]] = [[], []];
  const all = connection.t;
  const width = ((all[all.length - 1] ?? 0) - (all[0] ?? 0)) / 120;
  let [from, acked] = [all[0] ?? 0, connection.bytes_acked[0] ?? 0];
  all.forEach((at, place) => {
    const now = connection.bytes_acked[place] ?? null;
    const isLast = place === all.length - 1;
    if (now === null || at <= from || (at - from < width && !isLast)) return;
    const bits = (Math.max(now - acked, 0) * 8) / (at - from);
    // A step reaches back to the point before it, which has to be there.
    if (t.length === 0) {
      t.push(from);
      y.push(bits);
    }
    t.push(at);
    y.push(bits);
    [from, acked] = [at, now];
  });
  return { t, y };
}

function sequence({ connection, label }: Curve, style: number): Line[] {
  const again: [number, number][] = [];
  connection.retransmissions.forEach((count, place) => {
    const earlier = connection.retransmissions[place - 1] ?? 0;
    const sent = connection.bytes_sent[place];
    if (count !== null && count > earlier && sent != null && place > 0) again.push([connection.t[place] ?? 0, sent]);
  });
  const lines: Line[] = [{ label, t: connection.t, y: connection.bytes_acked, style }];
  if (again.length > 0)
    lines.push({
      label: `retransmissions, ${label}`,
      t: again.map(([at]) => at),
      y: again.map(([, sent]) => sent),
      style,
      kind: "points",
    });
  return lines;
}
