// TCP connections of a lab that is up: a list to choose from, and the curves of one of them. Their nodes are asked for as long as this is looked at.
import { bytes, digits, rate, span, whole } from "../../components/format";
import { endWords, namesOf } from "../ends";
import type { Lab } from "../lab";
import { swatch } from "../map/dots";
import { busiest, carried, curveOf, endsOf, type Known } from "../tcp";
import { type Accessor, createMemo, createSignal, each, el, keyed, onCleanup, press, type View } from "../view";
import { count, curves } from "./curves";
import type { FlowBook } from "./flows";

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

function connections(lab: Lab, nodes: readonly string[] | null, book: FlowBook): View {
  const { tcp } = lab;
  tcp.look(nodes);
  const names = namesIn(lab);
  const [most, setMost] = createSignal(ROWS);
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
  /** What is known of a connection changes with each sample of all. */
  const followed = <T>(value: () => T): T => {
    tcp.all();
    return value();
  };
  return [
    () => (tcp.refused() ? el("p", { class: "note" }, tcp.refused()) : null),
    () => (tcp.failures() ? el("p", { class: "note lines" }, tcp.failures()) : null),
    () =>
      tcp.refused() || tcp.failures() || own().length > 0
        ? null
        : el(
            "p",
            { class: "none", role: "status" },
            !tcp.heard()
              ? "asking for connections…"
              : nodes
                ? "this node has no TCP connections now"
                : "there are no TCP connections now",
          ),
    () => (own().length > 0 ? table() : null),
    () => (own().length > most() ? press(`show more of ${own().length}`, () => setMost(most() + ROWS)) : null),
    () => (tcp.leftOut() > 0 ? el("p", { class: "none" }, `and ${whole(tcp.leftOut())} more, which carry less`) : null),
    keyed(
      createMemo(() => chosen()?.key ?? null),
      () => {
        const one = chosen();
        return one ? plots(one) : null;
      },
    ),
  ];

  function table(): View {
    const heads: [string, string][] = [
      ["connection", ""],
      ["window", "number"],
      ["RTT", "number"],
      ["carries", "number"],
      ["resent", "number"],
    ];
    return el(
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
            heads.map(([head, kind]) => el("th", { scope: "col", class: kind }, head)),
          ),
        ),
        el(
          "tbody",
          {},
          each(() => own().slice(0, most()), row),
        ),
      ),
    );
  }

  function row(one: Known): View {
    // What a connection is stays, what it does is told anew.
    const now =
      <T>(of: (figures: Record<string, number | undefined>) => T) =>
      (): T => {
        tcp.all();
        return of(one.now.figures);
      };
    const cell = (text: () => string): View => el("td", { class: "number" }, text);
    const name = (): string => (nodes ? endWords(one.now.remote, names()) : connectionName(one, names()));
    return el(
      "tr",
      { class: () => followed(() => (one.ended ? "ended" : "")) },
      el(
        "th",
        { scope: "row" },
        press(
          [
            () => {
              const flow = book.known("tcp", one.now.local, one.now.remote);
              return flow === null ? null : swatch(flow);
            },
            name,
          ],
          () => tcp.pick(one.key),
          {
            class: "plain",
            title: `${one.node}: ${one.now.local} → ${one.now.remote}`,
            "aria-pressed": () => String(chosen() === one),
          },
        ),
        el("small", {}, () =>
          followed(
            () =>
              `${one.now.congestion}, ${one.ended ? "ended" : one.now.state}${one.now.ca_state === "open" || one.ended ? "" : `, ${one.now.ca_state}`}`,
          ),
        ),
      ),
      cell(now(({ cwnd_packets }) => (cwnd_packets === undefined ? "–" : whole(cwnd_packets)))),
      cell(now(({ srtt_us }) => (srtt_us === undefined ? "–" : span(srtt_us * 1e3, 3)))),
      cell(
        now(() => {
          const bits = Math.max(one.sends ?? -1, one.receives ?? -1);
          return bits < 0 || one.ended ? "–" : rate(bits, 3);
        }),
      ),
      cell(now(({ retransmissions }) => (retransmissions === undefined ? "–" : whole(retransmissions)))),
    );
  }

  function plots(one: Known): View {
    const line = (label: string, style: number, curve: Parameters<typeof curveOf>[1]) => ({
      label,
      style,
      data: () => curveOf(one, curve),
    });
    return el(
      "section",
      { "aria-labelledby": "connection-heading" },
      el("h3", { id: "connection-heading", class: "what" }, () => connectionName(one, names())),
      el("p", { class: "under" }, () =>
        followed(
          () =>
            `${one.now.congestion}, ${one.ended ? "has ended" : one.now.state}, ${bytes(carried(one))} carried${one.now.app_limited && !one.ended ? "; the program has nothing to send" : ""}`,
        ),
      ),
      curves(
        (LivePlot) => [
          new LivePlot(
            "Congestion window",
            [
              line("window", 0, "window"),
              {
                label: "slow-start threshold",
                style: 1,
                data: () => below(curveOf(one, "threshold"), curveOf(one, "window")),
              },
            ],
            (value) => `${count(value)} packets`,
          ),
          new LivePlot("Round-trip time", [line("smoothed", 0, "rtt"), line("least", 1, "least")], (value) =>
            span(value, 3),
          ),
          new LivePlot("Delivery rate", [line("as the kernel measures it", 0, "delivered")], (value) => rate(value, 3)),
          new LivePlot("Retransmissions per second", [line("packets", 3, "again")], count),
        ],
        tcp.all,
      ),
      el(
        "details",
        {},
        el("summary", {}, "All figures of the kernel"),
        el("dl", { class: "list" }, () => {
          tcp.all();
          return Object.entries(one.now.figures).map(([key, value]) => [
            el("dt", {}, words(key)),
            el("dd", {}, quantity(key, value)),
          ]);
        }),
      ),
    );
  }
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
