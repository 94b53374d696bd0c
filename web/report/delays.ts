// Propagation delays: what packets had, beside the distribution that is described.
import { chart, type Key, line, PAPER, type Palette, SCREEN, text } from "../components/chart";
import { type Child, choice, h, refill, section } from "../components/dom";
import { type Sheet, saves } from "../components/download";
import { counted, digits, span, whole } from "../components/format";
import { before } from "../components/plot";
import { pipeName, type Run, runLabel, samePipe, type Delays as Told } from "./data";

/** Of each pipe that packets of known delays went through; a journal knows those of every pipe, and exactly. */
function known(run: Run): Delays[] {
  const all = [...(run.delays ?? [])];
  for (const exact of run.journal?.delays ?? []) {
    const place = all.findIndex((one) => samePipe(one, exact));
    const described = all[place]?.described_ns ?? null;
    const better: Delays = {
      ks: null,
      drawn_packets: null,
      note: "no distribution is described",
      ...all[place],
      ...exact,
      described_ns: described,
      exact: true,
    };
    if (described) better.ks = distance(exact.measured_ns, described);
    if (place < 0) all.push(better);
    else all[place] = better;
  }
  return all.filter((one) => one.measured_ns.length > 1);
}

/** The largest difference of two distribution functions, given by as many quantiles each. */
export function distance(one: number[], other: number[]): number {
  const share = (values: number[], ns: number): number => (before(values, ns) + 1) / values.length;
  return [...one, ...other].reduce((most, ns) => Math.max(most, Math.abs(share(one, ns) - share(other, ns))), 0);
}

export function delaySection(given: Run[]): HTMLElement | null {
  const runs = given.map((run) => ({ ...run, delays: known(run) }));
  const names: string[] = [];
  for (const delays of runs.flatMap((run) => run.delays))
    if (!names.includes(pipeName(delays))) names.push(pipeName(delays));
  // Those with a distribution to compare with come first, then what carried most.
  const rank = (name: string): number =>
    Math.max(
      ...runs
        .flatMap((run) => run.delays ?? [])
        .filter((one) => pipeName(one) === name)
        .map((one) => (one.ks === null ? 0 : 1e15) + one.packets),
    );
  names.sort((one, other) => rank(other) - rank(one));
  const [first] = names;
  if (first === undefined) return null;
  const place = h("div");
  const show = (name: string): void => {
    const all = runs.map((run) => (run.delays ?? []).find((one) => pipeName(one) === name) ?? null);
    refill(place, figure(name, all, runs));
  };
  show(first);
  return section(
    "delays",
    "Distribution of delays",
    h(
      "p",
      { class: "controls" },
      choice(
        "link",
        names.map((value) => ({ value, text: value })),
        first,
        show,
      ),
    ),
    place,
  );
}

type Delays = Told & { exact?: boolean };

const PARTS = (values: number[]): (readonly [number, number])[] =>
  values.map((ns, part) => [ns, part / (values.length - 1)] as const);

function figure(name: string, all: (Delays | null)[], runs: Run[]): Child {
  const curves: { key: Key; values: number[] }[] = [];
  all.forEach((delays, style) => {
    if (!delays) return;
    const whose = runs.length > 1 ? `${runLabel(runs, style)}, ` : "";
    curves.push({
      key: { label: `${whose}measured, ${counted(delays.packets, "packet")}`, style },
      values: delays.measured_ns,
    });
    if (delays.described_ns && (runs.length === 1 || !curves.some(({ key }) => key.plain))) {
      curves.push({ key: { label: "described", style, plain: true, dash: [6, 3] }, values: delays.described_ns });
    }
  });
  const most = Math.max(...curves.map(({ values }) => values[Math.floor((values.length - 1) * 0.995)] ?? 0));
  const least = Math.min(...curves.map(({ values }) => values[0] ?? 0));
  const room = Math.max((most - least) * 0.04, most * 0.002, 1);
  const draw = (palette: Palette, width: number): SVGSVGElement => {
    const made = chart({
      title: palette === PAPER ? `Delay of ${name}` : "",
      about: summary(all, runs),
      palette,
      width,
      height: 320,
      keys: curves.map(({ key }) => key),
      x: {
        kind: "linear",
        from: Math.max(least - room, 0),
        to: most + room,
        format: (value) => span(value),
        name: "from the end of the transmission to delivery",
      },
      y: { kind: "linear", from: 0, to: 1, format: (value) => `${digits(value * 100)} %`, name: "share of packets" },
    });
    for (const { key, values } of curves) {
      const inside = PARTS(values).filter(([ns]) => ns <= most + room);
      made.add(line(made, inside, palette, key));
    }
    return made.svg;
  };
  const sheet = (): Sheet => ({
    head: ["share", ...curves.map(({ key }) => `${key.label} [ns]`)],
    rows: (curves[0]?.values ?? []).map((_, part) => [
      part / ((curves[0]?.values.length ?? 2) - 1),
      ...curves.map(({ values }) => values[part]),
    ]),
  });
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("span", { class: "title" }, `Delay of ${name}`),
      saves(`delay of ${name}`, () => text(draw(PAPER, 720)), sheet),
    ),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": `delay of ${name}` },
      draw(SCREEN, Math.min(Math.max(document.documentElement.clientWidth - 60, 320), 1100)),
    ),
    all.map(
      (delays, style) => delays && h("p", {}, runs.length > 1 ? `${runLabel(runs, style)}: ` : null, verdict(delays)),
    ),
  );
}

function summary(all: (Delays | null)[], runs: Run[]): string {
  return all
    .map((delays, style) =>
      delays ? `${runs.length > 1 ? `${runLabel(runs, style)}: ` : ""}median ${span(middle(delays.measured_ns))}` : "",
    )
    .filter(Boolean)
    .join("; ");
}

const middle = (values: number[]): number => values[Math.floor(values.length / 2)] ?? 0;

function verdict(delays: Delays): Child {
  const { ks, packets, drawn_packets: drawn } = delays;
  if (ks === null)
    return `There is nothing to compare with: ${delays.note ?? "no distribution is described"}. Median ${span(middle(delays.measured_ns))}.`;
  // Smirnov's limit for two samples, at 5 %.
  const limit = drawn ? 1.358 * Math.sqrt((packets + drawn) / (packets * drawn)) : null;
  const from = delays.exact ? " The measured one is that of the journal." : "";
  const known =
    limit === null
      ? ""
      : ks <= Math.max(limit, 0.01)
        ? `, within what chance and a resolution of 1 % explain (${digits(Math.max(limit, 0.01), 2)})`
        : `, more than chance explains (${digits(limit, 2)}): packets that are late or keep their order behind others have longer delays than are drawn`;
  return [
    h("strong", {}, `K-S distance ${digits(ks, 3)}`),
    `: the largest difference of the two curves${known}. The described one is of ${whole(drawn ?? 0)} packets that were drawn for this.${from}`,
  ];
}
