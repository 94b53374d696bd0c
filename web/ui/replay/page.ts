// A run, replayed: what happened to each packet, at any speed.
import { TimeAxis } from "../../components/axis";
import { announce, fileName, png, save } from "../../components/download";
import { counted, digits, span, whole } from "../../components/format";
import { map as reportMap } from "../../components/map";
import type { Run } from "../../report/data";
import { tcpPlots } from "../../report/tcp";
import { api, type Journal, Refusal, type Report, resultFileUrl, type Scene } from "../api";
import { offer } from "../commands";
import { endOf, endWords, namesOf } from "../ends";
import { MapCanvas } from "../map/canvas";
import { FALL_MS, NO_FLOW, swatch, wayOf } from "../map/dots";
import { graphOf, type Look } from "../map/model";
import { note, route } from "../route";
import { attempt, tell } from "../tell";
import { createEffect, createMemo, createSignal, each, el, keyed, onCleanup, press, untrack, type View } from "../view";
import { mapButtons } from "../watch/page";
import { reportView } from "../watch/verdict";
import { momentSvg, movingSvg, record } from "./export";
import { follow, type Hop } from "./follow";
import { decode, FATES, next, type Packets, Reader } from "./packets";
import { drawScene, nearest, type Shown } from "./stage";
import { Strip } from "./timeline";

/** Speeds in ns of the lab per second of the page, from one to ten seconds. */
const SPEEDS = Array.from({ length: 31 }, (_, step) => Math.round(10 ** (step / 3)));
/** Of how many packets each is drawn in the strip of the whole run: of more, blocks are. */
const MOST_DRAWN = 20_000;
const speedWords = (speed: number): string => `${span(speed, 2)} per second`;

export function replayPage(id: string): View {
  const [got, setGot] = createSignal<{ run: Run; scene: Scene | null } | null>(null);
  const [journal, setJournal] = createSignal<Journal | null>(null);
  const [why, setWhy] = createSignal("");
  let timer: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(timer));
  const ask = async (): Promise<void> => {
    const known = await api.journal(id);
    setJournal(known);
    if (known.state === "reading" || known.state === "unfinished") again(known.state === "reading" ? 400 : 4000);
  };
  /** A server that is away may be there again later; results that are gone stay gone. */
  const again = (after: number): void => {
    timer = setTimeout(
      () =>
        void ask().catch((error: unknown) => {
          if (error instanceof Refusal && (error.status === 0 || error.status === 401)) again(4000);
        }),
      after,
    );
  };
  api.result(id).then(
    ({ data, scene }) => {
      setGot({ run: data as unknown as Run, scene });
      ask().catch((error: Error) => setWhy(error.message));
    },
    (error: Error) => setWhy(error.message),
  );
  const has = createMemo(() => journal() !== null && (journal()?.packets ?? 0) > 0);
  return keyed(
    createMemo(() => [got(), has()] as const),
    ([known, ready]) => {
      if (!known)
        return el("div", { class: "page" }, el("h1", {}, id), () =>
          why()
            ? el("p", { class: "error", role: "alert" }, why())
            : el("p", { class: "loading", role: "status" }, "reading the results…"),
        );
      if (known.scene && ready) return stage(id, known.run, known.scene, journal as () => Journal);
      return without(
        id,
        known.run,
        () => why() || (journal()?.state === "reading" ? "The journal is being read…" : ""),
        () => journal()?.state === "reading",
      );
    },
  );
}

/** Results that have no journal: what else there is. */
function without(id: string, run: Run, why: () => string, isReading: () => boolean): View {
  const picture = run.map
    ? reportMap(
        run.map,
        run.lab,
        () => null,
        () => undefined,
      )
    : null;
  return el(
    "div",
    { class: "page" },
    el("h1", {}, run.lab),
    el("p", { class: "under" }, run.name),
    el(
      "p",
      { class: "note" },
      () => sentence(why() || "These results have no packets to replay"),
      () =>
        isReading()
          ? null
          : [" Give the lab file the key ", el("code", {}, "journal: all"), " to keep what happened to each packet."],
    ),
    links(id),
    reportView(run.report as Report | null),
    picture,
  );
}

/** What a server says, as a sentence: others may follow it. */
const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;

const links = (id: string): View =>
  el(
    "p",
    { class: "controls" },
    el(
      "a",
      { class: "asbutton", href: resultFileUrl(id, "report.html"), target: "_blank", rel: "noopener" },
      "Open the report",
    ),
  );

function stage(id: string, run: Run, scene: Scene, journal: () => Journal): View {
  const first = untrack(journal);
  const wanted = Number(route().keys.get("at") ?? NaN);
  const [at, setAt] = createSignal(
    Number.isFinite(wanted) ? Math.min(Math.max(wanted, first.from_ns), first.to_ns) : first.from_ns,
  );
  const [speed, setSpeed] = createSignal(
    nearestSpeed(Number(route().keys.get("speed") ?? NaN), (first.to_ns - first.from_ns) / 60),
  );
  const [playing, setPlaying] = createSignal(false);
  const [hops, setHops] = createSignal<Hop[]>([]);
  const [thinned, setThinned] = createSignal("");
  let chosen: number | null = Number(route().keys.get("packet") ?? NaN);
  if (!Number.isInteger(chosen)) chosen = null;
  let all: Packets | null = null;
  let shown: Shown[] = [];
  let looks: Look[] = [];
  const graph = graphOf(scene);
  const axis = new TimeAxis(Math.max(run.end || first.to_ns / 1e9, 1e-6), run.marks ?? []);
  const trail = (): number => (speed() * FALL_MS) / 1000;
  const map: MapCanvas = new MapCanvas({
    label: `map of ${run.lab}`,
    choose: () => undefined,
    words: ({ node, link }) =>
      node !== undefined
        ? `node ${node}`
        : `link ${link ?? ""}: ${scene.links.find(({ name }) => name === link)?.words?.join("; ") ?? ""}`,
    over: (_map, pen, c): null => {
      const { stretch } = reader;
      if (!stretch) return null;
      shown = drawScene(
        map,
        {
          at: at(),
          trail: trail(),
          packets: stretch.packets,
          chosen,
          followed: new Set(hops().map(({ number }) => number)),
        },
        ways,
        pen,
        c,
      );
      map.element.dataset.at = String(at());
      map.element.dataset.shown = String(shown.length);
      return null;
    },
    hit: (x, y) => {
      const k = nearest(shown, x, y);
      if (k === null || !reader.stretch) return false;
      choose(k);
      return true;
    },
    key: (event) => keys(event),
  });
  const ways = (() => {
    map.show(graph);
    return first.pipes.map((pipe) => wayOf(map, pipe));
  })();
  const reader = new Reader(
    id,
    journal,
    () => {
      const stretch = reader.stretch;
      setThinned(
        stretch && stretch.packets.found > stretch.packets.n
          ? `${whole(stretch.packets.n)} of ${whole(stretch.packets.found)} packets of this stretch are drawn: queues are shown too short. Slow down to see all.`
          : "",
      );
      map.element.dataset.took = reader.took.toFixed(1);
      map.draw();
    },
    (message) => tell(message, true),
  );
  const strip = new Strip(
    journal,
    () => all,
    run.marks ?? [],
    (to) => seek(to),
    (now) => `${digits(now / 1e9, 10)} s`,
    (event) => keys(event),
  );
  looks = graph.links.map(() => ({ grade: 0, dropping: false, down: false, label: "", queue: [0, 0] }));
  map.look(looks);
  let noted: ReturnType<typeof setTimeout> | undefined;
  const seek = (to: number): void => {
    setAt(Math.min(Math.max(to, journal().from_ns), journal().to_ns));
    clearTimeout(noted);
    noted = setTimeout(() => note({ at: String(Math.round(at())), speed: String(speed()) }), 300);
  };
  const step = (back: boolean): void => {
    setPlaying(false);
    const to = reader.stretch ? next(reader.stretch.instants, at(), back) : null;
    if (to !== null) seek(to);
    else
      seek(at() + (back ? -1 : 1) * Math.max((reader.stretch ? reader.stretch.to - reader.stretch.from : 1e6) / 2, 1));
    announce(`${digits(at() / 1e9, 10)} s, ${moment()}`);
  };
  /** What can be seen now, in words. */
  const moment = (): string => {
    const count = new Map<string, number>();
    for (const { k } of shown) {
      const pipe = journal().pipes[reader.stretch?.packets.pipe[k] ?? 0];
      if (pipe) count.set(`${pipe.link} ${pipe.direction}`, (count.get(`${pipe.link} ${pipe.direction}`) ?? 0) + 1);
    }
    return count.size === 0
      ? "no packet is on its way"
      : [...count]
          .slice(0, 6)
          .map(([pipe, number]) => `${number} on ${pipe}`)
          .join(", ");
  };
  const faster = (by: number): void =>
    void setSpeed(SPEEDS[Math.min(Math.max(SPEEDS.indexOf(speed()) + by, 0), SPEEDS.length - 1)] ?? speed());
  const keys = (event: KeyboardEvent): boolean => {
    const acts: Record<string, () => void> = {
      ".": () => step(false),
      ",": () => step(true),
      " ": () => setPlaying(!playing()),
      "]": () => faster(1),
      "[": () => faster(-1),
    };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key];
    act?.();
    return act !== undefined;
  };
  const choose = (k: number): void => {
    const packets = reader.stretch?.packets;
    if (!packets) return;
    chosen = packets.number[k] ?? null;
    note({ packet: String(chosen ?? "") });
    map.draw();
    attempt(async () => {
      setHops(await follow(id, packets, k));
      map.draw();
    });
  };
  createEffect(() => {
    const now = at();
    strip.show(now);
    reader.want(now, playing() ? speed() * 0.6 : 0, trail());
    axis.point(now / 1e9);
    map.draw();
  });
  // More of the journal has been read.
  createEffect(() => {
    const { packets, state, from_ns, to_ns } = journal();
    if (packets) strip.draw();
    if (all || state === "reading" || state === "unfinished" || packets === 0 || packets > MOST_DRAWN) return;
    api.packets(id, `from_ns=${from_ns}&to_ns=${to_ns}&limit=${MOST_DRAWN}`).then(
      (buffer) => {
        all = decode(buffer);
        strip.draw();
      },
      () => undefined,
    );
  });
  let frame = 0;
  let last = 0;
  const run_ = (now: number): void => {
    frame = 0;
    if (!playing()) return;
    const passed = Math.min(now - last, 250);
    last = now;
    const to = at() + (passed / 1000) * speed();
    if (to >= journal().to_ns) setPlaying(false);
    setAt(Math.min(to, journal().to_ns));
    frame = requestAnimationFrame(run_);
  };
  createEffect(() => {
    if (!playing()) return;
    if (untrack(at) >= journal().to_ns) setAt(journal().from_ns);
    last = performance.now();
    frame ||= requestAnimationFrame(run_);
  });
  let stopRecording: (() => void) | null = null;
  const [recording, setRecording] = createSignal(false);
  const video = (): void => {
    if (stopRecording) {
      stopRecording();
      stopRecording = null;
      setRecording(false);
      return;
    }
    const canvas = map.element.querySelector("canvas");
    stopRecording = canvas
      ? record(canvas, (blob) => {
          const url = URL.createObjectURL(blob);
          const link = el("a", { href: url, download: `${fileName(run.lab)}.webm` });
          link.click();
          setTimeout(() => URL.revokeObjectURL(url), 10_000);
        })
      : null;
    if (!stopRecording) tell("this browser records no video: save the span as moving SVG instead", true);
    else {
      setRecording(true);
      setPlaying(true);
    }
  };
  const sceneNow = () => ({
    at: at(),
    trail: trail(),
    packets: reader.stretch?.packets ?? decode(EMPTY),
    chosen,
    followed: new Set<number>(),
  });
  const picture = (): string => momentSvg(map, looks, sceneNow(), ways, `${run.lab} at ${digits(at() / 1e9, 10)} s`);
  const momentName = (): string => `${fileName(run.lab)}-${Math.round(at())}`;
  const saveMoment = (): void => save(`${momentName()}.svg`, "image/svg+xml", picture());
  const saveDots = (): void => attempt(async () => save(`${momentName()}.png`, "image/png", await png(picture())));
  const saveMoving = (): void =>
    attempt(async () => {
      const [from, to] = [at(), Math.min(at() + speed() * 6, journal().to_ns)];
      const packets = decode(
        await api.packets(id, `from_ns=${Math.floor(from)}&to_ns=${Math.ceil(to)}&limit=20000&thin=true`),
      );
      const { svg, left } = movingSvg(
        map,
        looks,
        packets,
        ways,
        from,
        to,
        1e9 / speed(),
        `${run.lab} from ${digits(from / 1e9, 10)} s to ${digits(to / 1e9, 10)} s`,
      );
      save(`${fileName(run.lab)}-moving.svg`, "image/svg+xml", svg);
      if (left > 0)
        tell(`left out of the picture: ${counted(left, "packet")}; choose a lower speed for a shorter span`);
    });
  offer(() => [
    { name: playing() ? "Pause the replay" : "Play the replay", keys: " ", act: () => setPlaying(!playing()) },
    { name: "Step to the next packet", keys: ".", act: () => step(false) },
    { name: "Step to the packet before", keys: ",", act: () => step(true) },
    { name: "Faster", keys: "]", act: () => faster(1) },
    { name: "Slower", keys: "[", act: () => faster(-1) },
    { name: "Copy a link to this moment", act: () => share() },
    { name: "Save this moment as SVG", act: saveMoment },
    { name: "Save this moment as PNG", act: saveDots },
    { name: "Save the next six seconds of the page as moving SVG", act: saveMoving },
    { name: recording() ? "Stop recording" : "Record a video", act: video },
    { name: "Go to the map", keys: "m", act: () => map.element.focus() },
    ...(run.marks ?? [])
      .slice(0, 200)
      .map((mark) => ({ name: `Go to ${digits(mark.t, 6)} s: ${mark.text}`, act: () => seek(mark.t * 1e9) })),
  ]);
  const share = (): void => {
    note({
      at: String(Math.round(at())),
      speed: String(speed()),
      ...(chosen === null ? {} : { packet: String(chosen) }),
    });
    attempt(async () => navigator.clipboard.writeText(location.href), "the link to this moment is copied");
  };
  onCleanup(() => {
    cancelAnimationFrame(frame);
    clearTimeout(noted);
    stopRecording?.();
    reader.close();
    strip.destroy();
    map.destroy();
  });
  const curves = run.tcp && run.tcp.length > 0 ? tcpPlots([run], axis) : null;
  curves?.addEventListener("click", (event) => {
    if ((event.target as Element).closest(".plot") && axis.cursor !== null) seek(axis.cursor * 1e9);
  });
  return el(
    "div",
    { class: "lab replay" },
    el(
      "div",
      { class: "labbar" },
      el("h1", {}, run.lab),
      el("small", {}, run.name),
      el(
        "output",
        { class: "time", "aria-label": "time of the replay", "aria-live": "off" },
        () => `${(at() / 1e9).toFixed(9)} s`,
      ),
      el("span", { class: "grow" }),
      links(id),
    ),
    () => notes(run, journal()),
    el(
      "div",
      { class: "labmain replaymain" },
      el("div", { class: "mapside" }, map.element, mapButtons(map)),
      el(
        "div",
        { class: "side" },
        el(
          "div",
          { class: "panel", tabindex: 0, role: "region", "aria-label": "about the packets" },
          () =>
            hops().length > 0
              ? way(hops(), journal(), seek)
              : el(
                  "p",
                  { class: "about" },
                  "Press a packet to follow it through all pipes. Full stop and comma go packet by packet, space plays, brackets change the speed.",
                ),
          () => (thinned() ? el("p", { class: "note" }, thinned()) : null),
          flows(journal, scene),
          marks(run, seek),
          curves ? el("details", {}, el("summary", {}, "TCP connections"), curves) : null,
        ),
      ),
    ),
    el(
      "div",
      { class: "player" },
      el(
        "div",
        { class: "controls", role: "group", "aria-label": "replay" },
        press(
          () => (playing() ? "‖ Pause" : "▶ Play"),
          () => setPlaying(!playing()),
          { class: "first" },
        ),
        press("◂ packet", () => step(true), { "aria-label": "to the packet before" }),
        press("packet ▸", () => step(false), { "aria-label": "to the next packet" }),
        el(
          "span",
          { class: "choice" },
          el("label", { for: "speed" }, "speed"),
          el("input", {
            id: "speed",
            type: "range",
            min: 0,
            max: SPEEDS.length - 1,
            step: 1,
            value: () => SPEEDS.indexOf(speed()),
            "aria-valuetext": () => speedWords(speed()),
            oninput: (event: Event) => setSpeed(SPEEDS[Number((event.target as HTMLInputElement).value)] ?? 1),
          }),
          el("output", {}, () => speedWords(speed())),
        ),
        el(
          "span",
          { class: "exports" },
          press("Link to here", share),
          press("SVG", saveMoment, { "aria-label": "save this moment as SVG" }),
          press("PNG", saveDots, { "aria-label": "save this moment as PNG" }),
          press("Moving SVG", saveMoving, { "aria-label": "save a span as moving SVG" }),
          press(() => (recording() ? "■ Stop" : "● Video"), video),
        ),
      ),
      strip.element,
    ),
  );
}

const EMPTY = (() => {
  const buffer = new ArrayBuffer(32);
  new DataView(buffer).setUint32(0, 0x314a4c4e, true);
  return buffer;
})();

function nearestSpeed(given: number, usual: number): number {
  const wanted = Number.isFinite(given) && given >= 1 ? given : usual;
  return SPEEDS.reduce(
    (best, one) => (Math.abs(Math.log(one / wanted)) < Math.abs(Math.log(best / wanted)) ? one : best),
    SPEEDS[0] ?? 1,
  );
}

function notes(run: Run, journal: Journal): View {
  const said = [...(run.notes ?? [])];
  if (journal.state === "damaged")
    said.push(`The journal is damaged: ${journal.problem ?? ""}. What is before is shown.`);
  if (journal.state === "unfinished")
    said.push("The run was cut off or goes on: what is in the journal so far is shown.");
  if (journal.state === "too long")
    said.push("The journal is longer than can be replayed: its first packets are shown.");
  if (journal.state === "reading")
    said.push(`The journal is being read: ${counted(journal.packets, "packet")} so far.`);
  return said.map((text) => el("p", { class: "note strip" }, text));
}

/** The pipes of a packet, one after the other. */
function way(hops: Hop[], journal: Journal, seek: (at: number) => void): View {
  const time = (from: number, to: number): string => (Number.isNaN(to - from) ? "–" : span(to - from, 6));
  const instant = (at: number): View =>
    Number.isNaN(at)
      ? "–"
      : press((at / 1e9).toFixed(9), () => seek(at), {
          class: "plain",
          "aria-label": `go to ${(at / 1e9).toFixed(9)} s`,
        });
  const [first, last] = [hops[0], hops[hops.length - 1]];
  return el(
    "section",
    { class: "way", "aria-labelledby": "way-heading" },
    el("h2", { id: "way-heading" }, "One packet"),
    el(
      "p",
      {},
      last && last.fate !== 0
        ? el("span", { class: "badge bad" }, FATES[last.fate])
        : el("span", { class: "badge good" }, "delivered"),
      ` after ${first && last ? time(first.arrived, last.ended) : "–"} in ${counted(hops.length, "pipe")}`,
    ),
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "the way of a packet" },
      el(
        "table",
        { class: "figures" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ["pipe", "arrived at (s)", "waited", "transmitted", "travelled", "late", "ended at (s)"].map((head) =>
              el("th", { scope: "col" }, head),
            ),
          ),
        ),
        el(
          "tbody",
          {},
          hops.map((hop) => {
            const pipe = journal.pipes[hop.pipe];
            return el(
              "tr",
              {},
              el("th", { scope: "row" }, `${pipe?.link ?? "?"} ${pipe?.direction ?? ""} ${pipe?.pipe ?? ""}`),
              el("td", {}, instant(hop.arrived)),
              el("td", {}, time(hop.arrived, Number.isNaN(hop.started) ? hop.ended : hop.started)),
              el("td", {}, time(hop.started, hop.sent)),
              el("td", {}, time(hop.sent, hop.due)),
              el("td", {}, hop.fate === 0 ? time(hop.due, hop.ended) : "–"),
              el(
                "td",
                {},
                instant(hop.ended),
                hop.fate > 1 ? el("span", { class: "badge bad" }, FATES[hop.fate]) : null,
                Number.isNaN(hop.marked) ? null : el("span", { class: "badge caution" }, "marked"),
              ),
            );
          }),
        ),
      ),
    ),
  );
}

const NAMES: Record<number, string> = { 1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6", 132: "SCTP" };

/** Protocols whose numbers are no ports. */
const WITHOUT_PORTS = [1, 58];

function flows(journal: () => Journal, scene: Scene): View {
  const shown = createMemo(() => journal().flows.slice(0, 40));
  const names = namesOf(scene.nodes.map(({ name, addresses }) => ({ name, addresses: addresses ?? [] })));
  const end = (address: string | null, port: number | null, protocol: number | null): string =>
    address === null
      ? "?"
      : port === null || WITHOUT_PORTS.includes(protocol ?? -1)
        ? (names.get(address) ?? address)
        : endWords(endOf(address, port), names);
  return el(
    "section",
    { "aria-labelledby": "flows-heading" },
    el("h2", { id: "flows-heading" }, "Flows"),
    el(
      "ul",
      { class: "flows" },
      each(shown, (flow) =>
        el(
          "li",
          {},
          swatch(flow.flow),
          el(
            "span",
            {},
            `${NAMES[flow.protocol ?? -1] ?? (flow.protocol === null ? "no IP" : `protocol ${flow.protocol}`)} ${end(flow.source, flow.source_port, flow.protocol)} →\u00a0${end(flow.destination, flow.destination_port, flow.protocol)}`,
          ),
          el("small", {}, counted(flow.packets, "packet")),
        ),
      ),
    ),
    () =>
      journal().flows_left_out + Math.max(journal().flows.length - 40, 0) > 0
        ? el(
            "p",
            { class: "none" },
            `and ${counted(journal().flows_left_out + Math.max(journal().flows.length - 40, 0), "smaller one")}`,
          )
        : null,
    el("p", { class: "about" }, `colour and shape tell flows apart; without one: `, swatch(NO_FLOW)),
  );
}

function marks(run: Run, seek: (at: number) => void): View {
  if (!run.marks || run.marks.length === 0) return null;
  return el(
    "details",
    { open: run.marks.length <= 12 },
    el("summary", {}, "Timeline"),
    el(
      "ol",
      { class: "marklist" },
      run.marks.slice(0, 300).map((mark) =>
        el(
          "li",
          {},
          press(`${digits(mark.t, 6)} s`, () => seek(mark.t * 1e9), { class: "plain" }),
          " ",
          mark.text,
        ),
      ),
    ),
  );
}
