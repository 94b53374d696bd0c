// A run, replayed: what happened to each packet, at any speed.
import { digits } from "../../components/format";
import { map as reportMap } from "../../components/map";
import type { Run } from "../../report/data";
import { tcpPlots } from "../../report/tcp";
import { api, type Journal, Refusal, type Report, resultFileUrl, type Scene } from "../api";
import { type Command, offer } from "../commands";
import { mapButtons } from "../map/buttons";
import { route } from "../route";
import { createMemo, createSignal, el, keyed, onCleanup, press, type View } from "../view";
import { airMap } from "../watch/air";
import { reportView } from "../watch/verdict";
import { airStrip } from "./air";
import { faults, flows, marks, notes, way } from "./panel";
import { Player, SPEEDS, speedWords } from "./player";
import { Screen } from "./screen";
import { Takes } from "./take";

/** Between two looks at the map in metres, in ms. */
const MAP_MS = 150;

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
    airMap({ name: run.lab, id: async () => id, at: () => 0, every: MAP_MS, heading: "h2" }),
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
  const { keys } = route();
  const player = new Player(journal, keys);
  const screen = new Screen(id, run, scene, journal, player, keys);
  const takes = new Takes(id, journal, player, screen);
  offer(() => commandsOf(player, screen, takes));
  return el(
    "div",
    { class: "lab replay" },
    bar(id, run, player),
    () => notes(run, journal()),
    el(
      "div",
      { class: "labmain replaymain" },
      el("div", { class: "mapside" }, screen.map.element, mapButtons(screen.map)),
      el("div", { class: "side" }, panel(id, run, scene, journal, player, screen)),
    ),
    el("div", { class: "player" }, controls(player, screen, takes), screen.strip.element),
  );
}

const commandsOf = (player: Player, screen: Screen, takes: Takes): Command[] => [
  { name: player.playing() ? "Pause the replay" : "Play the replay", keys: " ", act: player.toggle },
  { name: "Step to the next packet", keys: ".", act: () => screen.step(false) },
  { name: "Step to the packet before", keys: ",", act: () => screen.step(true) },
  { name: "Faster", keys: "]", act: () => player.faster(1) },
  { name: "Slower", keys: "[", act: () => player.faster(-1) },
  { name: "Copy a link to this moment", act: takes.link },
  { name: "Save this moment as SVG", act: takes.svg },
  { name: "Save this moment as PNG", act: takes.png },
  { name: "Save the next six seconds of the page as moving SVG", act: takes.moving },
  { name: takes.recording() ? "Stop recording" : "Record a video", act: takes.video },
  { name: "Go to the map", keys: "m", act: () => screen.map.element.focus() },
  ...(screen.run.marks ?? [])
    .slice(0, 200)
    .map((mark) => ({ name: `Go to ${digits(mark.t, 6)} s: ${mark.text}`, act: () => player.seek(mark.t * 1e9) })),
];

const bar = (id: string, run: Run, player: Player): View =>
  el(
    "div",
    { class: "labbar" },
    el("h1", {}, run.lab),
    el("small", {}, run.name),
    el(
      "output",
      { class: "time", "aria-label": "time of the replay", "aria-live": "off" },
      () => `${(player.at() / 1e9).toFixed(9)} s`,
    ),
    el("span", { class: "grow" }),
    links(id),
  );

function panel(id: string, run: Run, scene: Scene, journal: () => Journal, player: Player, screen: Screen): View {
  const curves = run.tcp && run.tcp.length > 0 ? tcpPlots([run], screen.axis) : null;
  curves?.addEventListener("click", (event) => {
    const { cursor } = screen.axis;
    if ((event.target as Element).closest(".plot") && cursor !== null) player.seek(cursor * 1e9);
  });
  return el(
    "div",
    { class: "panel", tabindex: 0, role: "region", "aria-label": "about the packets" },
    () =>
      screen.hops().length > 0
        ? way(screen.hops(), journal(), player.seek)
        : el(
            "p",
            { class: "about" },
            "Press a packet to follow it through all pipes. Full stop and comma go packet by packet, space plays, brackets change the speed.",
          ),
    airMap({ name: run.lab, id: async () => id, at: player.at, every: MAP_MS, heading: "h2" }),
    airStrip(id, journal, player),
    () => (screen.thinned() ? el("p", { class: "note" }, screen.thinned()) : null),
    faults(run, player.at, player.seek),
    flows(journal, scene),
    marks(run, player.seek),
    curves ? el("details", {}, el("summary", {}, "TCP connections"), curves) : null,
  );
}

const controls = (player: Player, screen: Screen, takes: Takes): View =>
  el(
    "div",
    { class: "controls", role: "group", "aria-label": "replay" },
    press(() => (player.playing() ? "‖ Pause" : "▶ Play"), player.toggle, { class: "first" }),
    press("◂ packet", () => screen.step(true), { "aria-label": "to the packet before" }),
    press("packet ▸", () => screen.step(false), { "aria-label": "to the next packet" }),
    speedChoice(player),
    el(
      "span",
      { class: "exports" },
      press("Link to here", takes.link),
      press("SVG", takes.svg, { "aria-label": "save this moment as SVG" }),
      press("PNG", takes.png, { "aria-label": "save this moment as PNG" }),
      press("Moving SVG", takes.moving, { "aria-label": "save a span as moving SVG" }),
      press(() => (takes.recording() ? "■ Stop" : "● Video"), takes.video),
    ),
  );

const speedChoice = (player: Player): View =>
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
      value: () => SPEEDS.indexOf(player.speed()),
      "aria-valuetext": () => speedWords(player.speed()),
      oninput: (event: Event) => player.setSpeed(SPEEDS[Number((event.target as HTMLInputElement).value)] ?? 1),
    }),
    el("output", {}, () => speedWords(player.speed())),
  );
