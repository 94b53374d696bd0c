// What one link does and is set to, and what can be done to it.
import { rate, digits as rounded, share, whole } from "../../components/format";
import { api, captureUrl } from "../api";
import type { TopologyLink } from "../control";
import { flowWords } from "../ends";
import type { Flow, Lab } from "../lab";
import { swatch } from "../map/dots";
import { endsOf } from "../tcp";
import { attempt } from "../tell";
import { type Accessor, createMemo, createSignal, each, el, keyed, onCleanup, press, type View } from "../view";
import { may } from "../world";
import { count, curves } from "./curves";
import type { FlowBook } from "./flows";
import { settings } from "./settings";
import { namesIn } from "./tcp";

export function linkPanel(
  lab: Lab,
  name: string,
  book: FlowBook,
  open: { node: (node: string) => void; connection: (ends: string) => void },
): View {
  const link = createMemo(() => lab.topology()?.links.find((one) => one.name === name) ?? null);
  const own: Accessor<Flow[]> = createMemo(() => lab.flows().filter(({ total }) => total.link === name));
  return [
    el("h2", {}, "Link ", el("span", { class: "what" }, name)),
    () => {
      const known = link();
      return known
        ? el(
            "p",
            { class: "under" },
            known.ends.map(({ node }, place) => [
              place > 0 ? " – " : "",
              press(node, () => open.node(node), { class: "plain" }),
            ]),
          )
        : el("p", { class: "none" }, "the lab has no such link any more");
    },
    () =>
      link()?.joined_in_kernel
        ? el(
            "p",
            { class: "note" },
            "This link is joined in the kernel (bypass): nothing of it is measured, and it cannot be changed.",
          )
        : null,
    figures(own),
    plots(lab, [name]),
    () => (link() && !link()?.joined_in_kernel ? flowsOn(lab, name, book, open.connection) : null),
    () => (may("use") && link() && !link()?.joined_in_kernel ? settings(lab, link, name) : null),
    () => (may("use") ? captures(lab, name, () => link()) : null),
  ];
}

function figures(own: Accessor<Flow[]>): View {
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "counters" },
    el(
      "table",
      { class: "figures" },
      el("caption", { class: "away" }, "counters of the link's pipes"),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ["", "carries", "use", "waits", "drops/s", "in all"].map((head) =>
            head ? el("th", { scope: "col", class: "number" }, head) : el("td", {}),
          ),
        ),
      ),
      el("tbody", {}, () =>
        own().map((flow) =>
          el(
            "tr",
            {},
            el(
              "th",
              { scope: "row" },
              flow.total.pipe ?? flow.total.direction,
              flow.up ? null : el("span", { class: "badge bad" }, "down"),
            ),
            [
              rate(flow.bits, 3),
              flow.use === null ? "–" : share(flow.use),
              whole(flow.queue),
              flow.drops === 0 ? "0" : flow.drops >= 10 ? whole(flow.drops) : rounded(flow.drops, 2),
            ].map((value) => el("td", { class: "number" }, value)),
            el("td", { class: "causes" }, causes(flow)),
          ),
        ),
      ),
    ),
  );
}

function causes({ total }: Flow): string {
  const parts = (
    [
      ["queue", total.dropped_queue_packets],
      ["loss", total.dropped_loss_packets],
      ["early", total.dropped_early_packets],
      ["down", total.dropped_down_packets],
      ["partition", total.dropped_partition_packets ?? 0],
      ["fault", total.dropped_fault_packets ?? 0],
      ["air", total.dropped_air_packets ?? 0],
    ] as const
  ).filter(([, count]) => count > 0);
  return parts.length === 0 ? "0" : parts.map(([cause, count]) => `${whole(count)}\n${cause}`).join("\n");
}

/** Lines that a plot has at most: so many colours and dashes are told apart. */
const MOST_LINES = 8;

/** The curves of some links, all of them in one plot of each kind. */
export function plots(lab: Lab, names: readonly string[]): View {
  return curves((LivePlot) => {
    const places = lab
      .flows()
      .map((flow, place) => ({ flow, place }))
      .filter(({ flow }) => names.includes(flow.total.link) && flow.total.pipe === null)
      .slice(0, MOST_LINES);
    const label = ({ total }: Flow): string =>
      names.length > 1 ? `${total.link} ${total.direction}` : total.direction;
    const lines = (series: "bits" | "queue" | "drops") =>
      places.map(({ flow, place }, style) => ({
        label: label(flow),
        style,
        data: () => lab.history.of(place, series),
      }));
    return [
      new LivePlot("Throughput", lines("bits"), (value) => rate(value, 3)),
      new LivePlot("Packets in the queue", lines("queue"), count),
      new LivePlot("Drops per second", lines("drops"), count),
    ];
  }, lab.flows);
}

/** Which flows cross the link, as far as the packets tell that the lab picks; those of TCP lead to their connections. */
function flowsOn(lab: Lab, name: string, book: FlowBook, open: (ends: string) => void): View {
  const names = namesIn(lab);
  const pipes = createMemo(() =>
    lab
      .flows()
      .map((flow, pipe) => (flow.total.link === name ? pipe : -1))
      .filter((pipe) => pipe >= 0)
      .join(" "),
  );
  // What came long ago is forgotten though nothing comes any more.
  const timer = setInterval(() => book.note([], performance.now()), 1_000);
  onCleanup(() => clearInterval(timer));
  return el(
    "section",
    { "aria-labelledby": "link-flows" },
    el("h3", { id: "link-flows" }, "Flows"),
    keyed(pipes, () => {
      book.watch(pipes().split(" ").filter(Boolean).map(Number));
      return null;
    }),
    () =>
      lab.control.offers()?.includes("packets") === false
        ? el(
            "p",
            { class: "none" },
            "This lab reports no packets while it is up: it is over several machines in virtual time, or an older version of Netloom has brought it up.",
          )
        : book.lately().length === 0
          ? el("p", { class: "none", role: "status" }, "no packet was seen in the last ten seconds")
          : null,
    el(
      "ul",
      { class: "flows" },
      each(book.lately, (one) => {
        const words = (): string => flowWords(one, names());
        const total = lab.flows()[one.pipe]?.total;
        return el(
          "li",
          {},
          swatch(one.flow),
          el(
            "span",
            {},
            one.protocol === "tcp"
              ? press(words, () => open(endsOf(one.source, one.destination)), {
                  class: "plain",
                  title: "show this connection",
                })
              : words,
          ),
          el("small", {}, total?.pipe ?? total?.direction ?? ""),
        );
      }),
    ),
  );
}

function captures(lab: Lab, name: string, link: () => TopologyLink | null): View {
  const [command, setCommand] = createSignal("");
  const [way, setWay] = createSignal("");
  const query = (): string => (way() ? `?direction=${way()}` : "");
  const copy = (): void =>
    attempt(async () => {
      const text = await api.captureCommand(lab.name, name, query());
      setCommand(text);
      await navigator.clipboard?.writeText(text).catch(() => undefined);
    }, "the command is copied: run it in a terminal of this machine");
  return el(
    "section",
    { "aria-labelledby": "capture-heading" },
    el("h3", { id: "capture-heading" }, "Packets"),
    el(
      "div",
      { class: "controls" },
      () =>
        link()?.pipes.some(({ direction }) => direction === "forward")
          ? el(
              "span",
              { class: "choice" },
              el("label", { for: `capture-${name}` }, "capture"),
              el(
                "select",
                {
                  id: `capture-${name}`,
                  onchange: (event: Event) => setWay((event.target as HTMLSelectElement).value),
                },
                [
                  ["", "both directions"],
                  ["forward", "forward"],
                  ["backward", "backward"],
                ].map(([value, text]) => el("option", { value: value ?? "" }, text)),
              ),
            )
          : null,
      el(
        "a",
        {
          class: "asbutton",
          download: true,
          href: () => captureUrl(lab.name, name, `${query()}${query() ? "&" : "?"}seconds=10`),
        },
        "Download 10 s",
      ),
      el(
        "a",
        { class: "asbutton", download: true, href: () => captureUrl(lab.name, name, query()) },
        "Download until stopped",
      ),
      press("Copy command for Wireshark", copy),
    ),
    () => (command() ? el("pre", {}, command()) : null),
  );
}
