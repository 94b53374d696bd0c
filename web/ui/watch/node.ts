// What one node is, and what can be done in it.
import { counted, rate, span, whole } from "../../components/format";
import type { SwitchPort } from "../control";
import type { Lab } from "../lab";
import { attempt } from "../tell";
import { createMemo, el, keyed, press, type View } from "../view";
import { may } from "../world";
import { curves } from "./curves";
import type { Dock } from "./dock";
import type { FlowBook } from "./flows";
import type { LiveLine } from "./live";
import { nodeConnections } from "./tcp";

/** What kinds of node run no programs. */
const SILENT = new Set(["switch", "hub", "transit", "openflow", "outside", "lan", "internet", "external", "tunnel"]);
export const runsPrograms = (kind: string): boolean => !SILENT.has(kind);

/** Signals to all programs of a node: `kill -1` reaches all processes of its namespace but the first and the sender. */
export const SIGNALS = [
  { name: "Pause programs", signal: "STOP" },
  { name: "Let programs go on", signal: "CONT" },
  { name: "Kill programs", signal: "KILL" },
] as const;

export const signalAll = (signal: string): string[] => [
  "sh",
  "-c",
  `kill -${signal} -1 && echo "SIG${signal} was sent to all programs of this node"`,
];

/** Interfaces with a curve each; of more, there is one of all. */
const MOST_CURVES = 5;
/** Groups that neighbour discovery makes of every address (RFC 4291, section 2.7.1): they are only counted. */
const SOLICITED = /^ff02::1:ff/i;
/** Groups of a port that are shown. */
const MOST_GROUPS = 12;

/** What the node sends and receives over time, as far as the packet engine carries it; of a node with one link in one plot. */
function traffic(lab: Lab, name: string): View {
  const pipes = (end: "from" | "to") =>
    lab
      .flows()
      .map(({ total }, place) => ({ total, place }))
      .filter(({ total }) => total[end] === name && total.pipe === null && !total.joined_in_kernel);
  const known = createMemo(() => pipes("from").length + pipes("to").length > 0);
  const sum = (places: number[]) => {
    const [first, ...others] = places.map((place) => lab.history.of(place, "bits"));
    return {
      t: first?.t ?? [],
      y: (first?.y ?? []).map((value, at) => others.reduce((all, { y }) => all + (y[at] ?? 0), value ?? 0)),
    };
  };
  const lines = (end: "from" | "to"): LiveLine[] => {
    const own = pipes(end);
    return own.length <= MOST_CURVES
      ? own.map(({ total, place }, style) => ({ label: total.link, style, data: () => lab.history.of(place, "bits") }))
      : [{ label: `all ${own.length} links`, style: 0, data: () => sum(own.map(({ place }) => place)) }];
  };
  const bits = (value: number): string => rate(value, 3);
  return keyed(known, (is) =>
    is
      ? curves((LivePlot) => {
          const [sends, receives] = [lines("from"), lines("to")];
          const [out, into] = [sends[0], receives[0]];
          if (sends.length === 1 && receives.length === 1 && out && into)
            return [
              new LivePlot(
                "Throughput",
                [
                  { ...out, label: "sends" },
                  { ...into, label: "receives", style: 1 },
                ],
                bits,
              ),
            ];
          return [new LivePlot("Sends", sends, bits), new LivePlot("Receives", receives, bits)];
        }, lab.flows)
      : null,
  );
}

/** Which groups of multicast a switch that looks at them has found behind which port, and what leads there else. */
function groups(lab: Lab, name: string, openLink: (link: string) => void): View {
  const ports = createMemo(() => lab.ports().filter(({ node, snooping }) => node === name && snooping));
  const links = createMemo(() =>
    ports()
      .map(({ link }) => link)
      .join("\n"),
  );
  const cell = (link: string, of: (port: NonNullable<SwitchPort["snooping"]>) => View) => (): View => {
    const found = ports().find((port) => port.link === link)?.snooping;
    return found ? of(found) : null;
  };
  return keyed(links, (known) =>
    known === ""
      ? null
      : [
          el("h3", {}, "Multicast groups"),
          el(
            "div",
            { class: "scroll", tabindex: 0, role: "region", "aria-label": "multicast groups" },
            el(
              "table",
              { class: "figures groups" },
              el(
                "thead",
                {},
                el(
                  "tr",
                  {},
                  ["port", "has members of", "router", "unasked frames"].map((head, place) =>
                    el("th", { scope: "col", class: place === 3 ? "number" : "" }, head),
                  ),
                ),
              ),
              el(
                "tbody",
                {},
                known.split("\n").map((link) =>
                  el(
                    "tr",
                    {},
                    el(
                      "th",
                      { scope: "row" },
                      press(link, () => openLink(link), { class: "plain" }),
                    ),
                    el(
                      "td",
                      {},
                      cell(link, ({ groups, known_groups }) => {
                        const own = groups.filter(({ group }) => !SOLICITED.test(group));
                        const shown = own.slice(0, MOST_GROUPS);
                        const left = known_groups - groups.length + own.length - shown.length;
                        return known_groups === 0
                          ? "–"
                          : [
                              shown.map(({ group, vlan, remaining_ns }) =>
                                el(
                                  "div",
                                  {},
                                  group,
                                  vlan === undefined || vlan === null ? "" : ` in VLAN ${vlan}`,
                                  " ",
                                  el(
                                    "small",
                                    { title: "for so long, unless a member reports again" },
                                    span(remaining_ns, 2),
                                  ),
                                ),
                              ),
                              left > 0 ? el("div", {}, `and ${counted(left, "more group")}`) : null,
                              groups.length > own.length
                                ? el("div", {}, el("small", {}, `${groups.length - own.length} of neighbour discovery`))
                                : null,
                            ];
                      }),
                    ),
                    el(
                      "td",
                      {},
                      cell(link, ({ is_router_port, queriers }) =>
                        is_router_port ? [...new Set(queriers)].join(", ") || "yes" : "–",
                      ),
                    ),
                    el(
                      "td",
                      { class: "number" },
                      cell(link, ({ unasked_frames }) => whole(unasked_frames)),
                    ),
                  ),
                ),
              ),
            ),
          ),
        ],
  );
}

export function nodePanel(lab: Lab, name: string, dock: Dock, book: FlowBook, openLink: (link: string) => void): View {
  const node = createMemo(() => lab.topology()?.nodes.find((one) => one.name === name) ?? null);
  const runs = createMemo(() => runsPrograms(node()?.kind ?? "lan"));
  const services = createMemo(() => lab.topology()?.services.filter((service) => service.node === name) ?? []);
  return [
    el("h2", {}, "Node ", el("span", { class: "what" }, name)),
    () => {
      const known = node();
      if (!known) return el("p", { class: "none" }, "the lab has no such node any more");
      const hasAddresses = known.interfaces.some(({ addresses }) => addresses.length > 0);
      return [
        el(
          "p",
          { class: "under" },
          `${known.kind}${known.stack && known.stack !== known.kind ? `, stack: ${known.stack}` : ""}`,
        ),
        may("use") && runsPrograms(known.kind)
          ? el(
              "div",
              { class: "controls" },
              press("Open a terminal", () => dock.open(name), { class: "first" }),
              SIGNALS.map(({ name: text, signal }) =>
                press(text, () => dock.open(name, { command: signalAll(signal) })),
              ),
              press("Restart its services", () =>
                attempt(() => lab.restart(name), `what runs on ${name} starts again`),
              ),
            )
          : null,
        el("h3", {}, "Interfaces"),
        el(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-label": "interfaces" },
          el(
            "table",
            {},
            el(
              "thead",
              {},
              el(
                "tr",
                {},
                ["interface", "link", "sends", ...(hasAddresses ? ["addresses"] : [])].map((head) =>
                  el("th", { scope: "col", class: head === "sends" ? "number" : "" }, head),
                ),
              ),
            ),
            el(
              "tbody",
              {},
              known.interfaces.map((face) =>
                el(
                  "tr",
                  {},
                  el("th", { scope: "row" }, face.name),
                  el(
                    "td",
                    {},
                    press(face.link, () => openLink(face.link), { class: "plain" }),
                  ),
                  el("td", { class: "number" }, () =>
                    rate(
                      lab
                        .flows()
                        .filter(({ total }) => total.link === face.link && total.from === name && total.pipe === null)
                        .reduce((sum, flow) => sum + flow.bits, 0),
                      3,
                    ),
                  ),
                  hasAddresses
                    ? el(
                        "td",
                        {},
                        face.addresses.map((address) => el("div", {}, address)),
                      )
                    : null,
                ),
              ),
            ),
          ),
        ),
      ];
    },
    groups(lab, name, openLink),
    traffic(lab, name),
    () =>
      services().length === 0
        ? null
        : [
            el("h3", {}, "Services"),
            el(
              "ul",
              {},
              services().map((service) =>
                el(
                  "li",
                  {},
                  `${service.name}: ${typeof service.state === "string" ? service.state.replaceAll("_", " ") : JSON.stringify(service.state)} `,
                  may("use")
                    ? press("restart", () => attempt(() => lab.restart(service.name), `${service.name} starts again`), {
                        class: "plain",
                        "aria-label": `restart ${service.name}`,
                      })
                    : null,
                ),
              ),
            ),
          ],
    () => (runs() ? nodeConnections(lab, name, book) : null),
  ];
}
