// TCP connections of a lab that is up: a list to choose from, and the curves of one of them. Their nodes are asked for as long as this is looked at.
import { bytes, digits, rate, span, whole } from "../../components/format";
import { endWords, namesOf } from "../ends";
import type { Lab } from "../lab";
import { swatch } from "../map/dots";
import { busiest, type Connections, carried, curveOf, endsOf, type Known } from "../tcp";
import { type Accessor, createMemo, createSignal, each, el, keyed, onCleanup, press, type View } from "../view";
import { count, curves } from "./curves";
import type { FlowBook } from "./flows";
import type { LiveLine, LivePlot } from "./live";

/** Connections that are listed at first, and with each wish for more. */
const ROWS = 40;

/** The names of nodes by their addresses. */
export const namesIn = (lab: Lab): Accessor<Map<string, string>> =>
  createMemo(() =>
    namesOf(
      lab
        .topology()
        ?.nodes.map(({ name, interfaces }) => ({
          name,
          addresses: interfaces.flatMap(({ addresses }) => addresses),
        })) ?? [],
    ),
  );

export const connectionName = (
  { node, now }: Pick<Known, "node" | "now">,
  names: ReadonlyMap<string, string>,
): string => `${node}:${now.local.slice(now.local.lastIndexOf(":") + 1)} →\u00a0${endWords(now.remote, names)}`;

/** The part of a node's panel that is about its connections; asked for when it is scrolled to. */
export function nodeConnections(lab: Lab, node: string, book: FlowBook): View {
  const [seen, setSeen] = createSignal(false);
  const part = el("div", { class: "tcp" }, el("h3", {}, "TCP connections"), () =>
    seen() ? connections(lab, [node], book) : null,
  );
  const watch = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    watch.disconnect();
    setSeen(true);
  });
  watch.observe(part);
  onCleanup(() => watch.disconnect());
  return part;
}

/** All connections of the lab. */
export const allConnections = (lab: Lab, book: FlowBook): View =>
  el("div", { class: "tcp" }, el("h2", {}, "TCP connections"), connections(lab, null, book));

/** Connections as they are listed: all of the lab, or those of some nodes. */
interface List {
  tcp: Connections;
  book: FlowBook;
  /** Whether it is about some nodes alone. */
  isOfNodes: boolean;
  names: Accessor<Map<string, string>>;
  own: Accessor<readonly Known[]>;
  /** The one with curves. */
  chosen: Accessor<Known | null>;
}

function listOf(lab: Lab, nodes: readonly string[] | null, book: FlowBook): List {
  const { tcp } = lab;
  tcp.look(nodes);
  const own = createMemo(() => (nodes ? tcp.all().filter(({ node }) => nodes.includes(node)) : tcp.all()));
  let usual: Known | null = null;
  const chosen = createMemo(() => {
    const all = own();
    // Which one is shown changes when that is wished, and not whenever another is the busiest.
    if (!usual || usual.ended || !all.includes(usual))
      usual = busiest(all.filter(({ sends, receives }) => sends !== null || receives !== null)) ?? usual;
    const picked = tcp.picked();
    return (
      all.find(({ key, now }) => key === picked || endsOf(now.local, now.remote) === picked) ??
      (usual && all.includes(usual) ? usual : null)
    );
  });
  return { tcp, book, isOfNodes: nodes !== null, names: namesIn(lab), own, chosen };
}

function connections(lab: Lab, nodes: readonly string[] | null, book: FlowBook): View {
  const list = listOf(lab, nodes, book);
  const { tcp, own, chosen } = list;
  const [most, setMost] = createSignal(ROWS);
  return [
    () => (tcp.refused() ? el("p", { class: "note" }, tcp.refused()) : null),
    () => (tcp.failures() ? el("p", { class: "note lines" }, tcp.failures()) : null),
    () => (tcp.refused() || tcp.failures() || own().length > 0 ? null : nothing(list)),
    () => (own().length > 0 ? table(list, most) : null),
    () => (own().length > most() ? press(`show more of ${own().length}`, () => setMost(most() + ROWS)) : null),
    () => (tcp.leftOut() > 0 ? el("p", { class: "none" }, `and ${whole(tcp.leftOut())} more, which carry less`) : null),
    keyed(
      createMemo(() => chosen()?.key ?? null),
      () => {
        const one = chosen();
        return one ? details(list, one) : null;
      },
    ),
  ];
}

const nothing = ({ tcp, isOfNodes }: List): View =>
  el(
    "p",
    { class: "none", role: "status" },
    !tcp.heard()
      ? "asking for connections…"
      : isOfNodes
        ? "this node has no TCP connections now"
        : "there are no TCP connections now",
  );

const HEADS: [string, string][] = [
  ["connection", ""],
  ["window", "number"],
  ["RTT", "number"],
  ["carries", "number"],
  ["resent", "number"],
];

const table = (list: List, most: () => number): View =>
  el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "TCP connections" },
    el(
      "table",
      { class: "figures" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          HEADS.map(([head, kind]) => el("th", { scope: "col", class: kind }, head)),
        ),
      ),
      el(
        "tbody",
        {},
        each(
          () => list.own().slice(0, most()),
          (one) => row(list, one),
        ),
      ),
    ),
  );

/** What is known of a connection, followed: the connection stays the same object, and changes with each sample of all. */
const followed =
  <T>({ tcp }: List, value: () => T) =>
  (): T => {
    tcp.all();
    return value();
  };

function row(list: List, one: Known): View {
  const cell = (text: (figures: Record<string, number | undefined>) => string): View =>
    el(
      "td",
      { class: "number" },
      followed(list, () => text(one.now.figures)),
    );
  const carries = (): string => {
    const bits = Math.max(one.sends ?? -1, one.receives ?? -1);
    return bits < 0 || one.ended ? "–" : rate(bits, 3);
  };
  return el(
    "tr",
    { class: followed(list, () => (one.ended ? "ended" : "")) },
    el(
      "th",
      { scope: "row" },
      connectionButton(list, one),
      el(
        "small",
        {},
        followed(list, () => `${one.now.congestion}, ${stateOf(one)}`),
      ),
    ),
    cell(({ cwnd_packets }) => (cwnd_packets === undefined ? "–" : whole(cwnd_packets))),
    cell(({ srtt_us }) => (srtt_us === undefined ? "–" : span(srtt_us * 1e3, 3))),
    cell(carries),
    cell(({ retransmissions }) => (retransmissions === undefined ? "–" : whole(retransmissions))),
  );
}

const stateOf = ({ ended, now }: Known): string =>
  ended ? "ended" : `${now.state}${now.ca_state === "open" ? "" : `, ${now.ca_state}`}`;

function connectionButton({ tcp, book, isOfNodes, names, chosen }: List, one: Known): View {
  const sign = (): View => {
    const flow = book.known("tcp", one.now.local, one.now.remote);
    return flow === null ? null : swatch(flow);
  };
  const name = (): string => (isOfNodes ? endWords(one.now.remote, names()) : connectionName(one, names()));
  return press([sign, name], () => tcp.pick(one.key), {
    class: "plain",
    title: `${one.node}: ${one.now.local} → ${one.now.remote}`,
    "aria-pressed": () => String(chosen() === one),
  });
}

/** All that is known of a connection, with its curves. */
function details(list: List, one: Known): View {
  const { tcp, names } = list;
  const about = (): string =>
    `${one.now.congestion}, ${one.ended ? "has ended" : one.now.state}, ${bytes(carried(one))} carried${one.now.app_limited && !one.ended ? "; the program has nothing to send" : ""}`;
  const figures = (): View =>
    Object.entries(one.now.figures).map(([key, value]) => [
      el("dt", {}, words(key)),
      el("dd", {}, quantity(key, value)),
    ]);
  return el(
    "section",
    { "aria-labelledby": "connection-heading" },
    el("h3", { id: "connection-heading", class: "what" }, () => connectionName(one, names())),
    el("p", { class: "under" }, followed(list, about)),
    curves((LivePlot) => plotsOf(LivePlot, one), tcp.all),
    el(
      "details",
      {},
      el("summary", {}, "All figures of the kernel"),
      el("dl", { class: "list" }, followed(list, figures)),
    ),
  );
}

function plotsOf(Plot: typeof LivePlot, one: Known): LivePlot[] {
  const line = (label: string, style: number, curve: Parameters<typeof curveOf>[1]): LiveLine => ({
    label,
    style,
    data: () => curveOf(one, curve),
  });
  const threshold: LiveLine = {
    label: "slow-start threshold",
    style: 1,
    data: () => below(curveOf(one, "threshold"), curveOf(one, "window")),
  };
  return [
    new Plot("Congestion window", [line("window", 0, "window"), threshold], (value) => `${count(value)} packets`),
    new Plot("Round-trip time", [line("smoothed", 0, "rtt"), line("least", 1, "least")], (value) => span(value, 3)),
    new Plot("Delivery rate", [line("as the kernel measures it", 0, "delivered")], (value) => rate(value, 3)),
    new Plot("Retransmissions per second", [line("packets", 3, "again")], count),
  ];
}

/** A threshold that is far above all windows is out of sight, and says nothing but that. */
function below(
  threshold: { t: number[]; y: (number | null)[] },
  window: { y: (number | null)[] },
): { t: number[]; y: (number | null)[] } {
  const most = window.y.reduce<number>((sum, value) => Math.max(sum, value ?? 0), 1) * 2;
  return { t: threshold.t, y: threshold.y.map((value) => (value !== null && value <= most ? value : null)) };
}

const UNITS: [RegExp, (value: number) => string][] = [
  [/_bits_per_second$/, (value) => rate(value)],
  [/_us$/, (value) => span(value * 1e3)],
  [/(^|_)bytes(_|$)/, (value) => bytes(value)],
  [/(^|_)packets$/, (value) => whole(value)],
];
/** A figure by the unit in its name, as in tcp.csv. */
const quantity = (key: string, value: number): string =>
  (UNITS.find(([name]) => name.test(key))?.[1] ?? ((one: number) => digits(one, 6)))(value);
const words = (key: string): string => key.replace(/_(bits_per_second|us|packets|bytes)$/, "").replaceAll("_", " ");
