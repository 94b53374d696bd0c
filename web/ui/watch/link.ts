// What one link does and is set to, and what can be done to it.
import { rate, digits as rounded, share, span, whole } from "../../components/format";
import { api, captureUrl } from "../api";
import type { TopologyLink } from "../control";
import { flowWords } from "../ends";
import { exampleOf, field, flow, section } from "../forms";
import type { Flow, Lab } from "../lab";
import { swatch } from "../map/dots";
import { endsOf } from "../tcp";
import { attempt } from "../tell";
import {
  type Accessor,
  createMemo,
  createRenderEffect,
  createSignal,
  each,
  el,
  keyed,
  onCleanup,
  press,
  type View,
} from "../view";
import { may } from "../world";
import { count, curves } from "./curves";
import type { FlowBook } from "./flows";
import { namesIn } from "./tcp";

type Way = "both" | "forward" | "backward";

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
            "This lab was brought up by an older version of Netloom, which tells nothing of its packets.",
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

/** Keys that have a slider: from, to, and how a place on it becomes a value. */
const SLIDERS: Record<string, { text: (part: number) => string; part: (text: string) => number }> = {
  rate: {
    text: (part) =>
      digits(10 ** (4 + part * 6), [
        [1e9, "Gbit/s"],
        [1e6, "Mbit/s"],
        [1e3, "kbit/s"],
      ]),
    part: (text) =>
      (Math.log10(Math.max(scaled(text, { "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9 }), 1)) - 4) / 6,
  },
  delay: {
    text: (part) =>
      part <= 0
        ? "0 ms"
        : digits(10 ** (5 + part * 4), [
            [1e6, "ms"],
            [1e3, "us"],
          ]),
    part: (text) => {
      const ns = scaled(text, { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 });
      return ns <= 0 ? 0 : (Math.log10(ns) - 5) / 4;
    },
  },
  loss: {
    text: (part) => `${(part ** 3 * 50).toFixed(part < 0.3 ? 2 : 1).replace(/\.?0+$/, "") || "0"} %`,
    part: (text) => Math.cbrt(scaled(text, { "%": 1 }) / 50),
  },
};

const digits = (value: number, units: [number, string][]): string => {
  const [size, unit] =
    units.find(([factor]) => value >= factor * 0.9995) ?? (units[units.length - 1] as [number, string]);
  return `${Number((value / size).toPrecision(2))} ${unit}`;
};

function scaled(text: string, units: Record<string, number>): number {
  const found = /^\s*([\d.]+)\s*(\S+)?\s*$/.exec(text);
  return found ? Number(found[1]) * (units[found[2] ?? ""] ?? 1) : NaN;
}

/** A slider sends what it shows while it is moved, one change at a time. */
const SLIDE_MS = 40;

function settings(lab: Lab, link: Accessor<TopologyLink | null>, name: string): View {
  const [way, setWay] = createSignal<Way>("both");
  const [all, setAll] = createSignal(false);
  const shared = (): boolean => link()?.pipes.some(({ direction }) => direction === "shared") ?? false;
  const own = (wanted: Way) =>
    link()?.pipes.filter(
      ({ direction, pipe }) => pipe === null && (direction === wanted || direction === "shared" || wanted === "both"),
    ) ?? [];
  const value = (key: string): string => {
    const values = [
      ...new Set(
        own(way()).map(({ settings }) =>
          settings[key] === undefined ? "" : flow(settings[key]).replace(/^"|"$/g, ""),
        ),
      ),
    ];
    return values.length === 1 ? (values[0] ?? "") : "";
  };
  const differs = (key: string): boolean =>
    new Set(own(way()).map(({ settings }) => JSON.stringify(settings[key]))).size > 1;
  const send = (changes: [string, string][]): Promise<void> =>
    lab.change(name, changes, way() === "both" || shared() ? undefined : way());
  const up = (): boolean => own(way()).every((pipe) => pipe.up);
  const usual = ["rate", "delay", "loss", "queue"];
  const shown = (): string[] =>
    all()
      ? section("direction")
          .map((key) => key.name)
          .filter((key) => !["pipes", "netem", "tbf", "dummynet", "state"].includes(key))
      : usual;
  const list = createMemo(() => (section("direction").length === 0 ? "" : shown().join("\n")));
  const names = createMemo(() => list().split("\n").filter(Boolean));
  return el(
    "section",
    { class: "settings", "aria-labelledby": "settings-heading" },
    el("h3", { id: "settings-heading" }, "Settings"),
    el(
      "div",
      { class: "controls" },
      () =>
        shared()
          ? null
          : el(
              "fieldset",
              { class: "segmented" },
              el("legend", { class: "away" }, "direction"),
              (["both", "forward", "backward"] as const).map((one) =>
                el(
                  "label",
                  {},
                  el("input", {
                    type: "radio",
                    name: `way-${name}`,
                    value: one,
                    checked: () => way() === one,
                    onchange: () => setWay(one),
                  }),
                  el("span", {}, one),
                ),
              ),
            ),
      press(
        () => (up() ? "Cut" : "Heal"),
        () => attempt(() => send([["state", up() ? "down" : "up"]])),
      ),
      press("Cut for 1 s", () => attempt(() => send([["down", "1 s"]])), {
        hidden: () => !up(),
        title: "of lab time; the lab heals it by itself",
      }),
    ),
    // A field stays while values change: somebody may be typing into it.
    each(names, (key) =>
      setting(
        key,
        () => value(key),
        () => differs(key),
        send,
      ),
    ),
    press(
      () => (all() ? "Fewer settings" : "All settings"),
      () => setAll(!all()),
      { class: "plain" },
    ),
  );
}

function setting(
  name: string,
  value: () => string,
  differs: () => boolean,
  send: (changes: [string, string][]) => Promise<void>,
): View {
  const key = section("direction").find((one) => one.name === name) ?? {
    name,
    doc: "",
    example: "",
    required: false,
    kind: {},
  };
  const change = (text: string): void => {
    if (text !== "" && text !== value()) attempt(() => send([[name, text]]));
  };
  const made = field({
    key,
    value,
    placeholder: () => (differs() ? "directions differ" : `not set, e.g. ${exampleOf(key)}`),
    change,
  });
  const slider = SLIDERS[name];
  if (!slider) return made;
  const range = el("input", {
    type: "range",
    min: 0,
    max: 1,
    step: 0.01,
    "aria-label": `${name} by a slider`,
    class: "slider",
  });
  createRenderEffect(() => {
    const part = slider.part(value());
    range.setAttribute("aria-valuetext", value() || "not set");
    // Who holds it decides where it is.
    if (document.activeElement !== range)
      range.value = String(Number.isFinite(part) ? Math.min(Math.max(part, 0), 1) : 0);
  });
  let busy = false;
  let waiting: string | null = null;
  const next = (text: string): void => {
    if (busy) {
      waiting = text;
      return;
    }
    busy = true;
    attempt(async () => {
      try {
        await send([[name, text]]);
        await new Promise((done) => setTimeout(done, SLIDE_MS));
      } finally {
        busy = false;
        const last = waiting;
        waiting = null;
        if (last !== null && last !== text) next(last);
      }
    });
  };
  range.addEventListener("input", () => {
    const text = slider.text(Number(range.value));
    range.setAttribute("aria-valuetext", text);
    const box = range.parentElement?.querySelector<HTMLInputElement>("input[type=text]");
    if (box) box.value = text;
    next(text);
  });
  return el("div", { class: "slid" }, made, range);
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

export const delayWords = (ns: number): string => span(ns);
