// The air of a radio medium around the moment that is shown: who sends when, what was not decoded, and what is on the air at this instant. It comes from a capture with
// headers of radiotap.
import { h } from "../../components/dom";
import { bytes, counted, share, span } from "../../components/format";
import { colour, onTheme } from "../../components/theme";
import { type Air, type AirFrame, api, type Journal } from "../api";
import { heads, number, scrolled } from "../tables";
import {
  createEffect,
  createMemo,
  createSignal,
  each,
  el,
  inSight,
  on,
  onCleanup,
  press,
  untrack,
  type View,
} from "../view";
import type { Player } from "./player";

/** Widths of what is shown, in ns; 0: the whole run. */
const SPANS = [1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 0];
const USUAL_SPAN = 1e7;
/** Between two questions, and after one that failed, in ms. */
const [EVERY_MS, AGAIN_MS] = [60, 4_000];
/** The height of a station, of the axis, and the room for names, in pixels. */
const [ROW, AXIS, NAMES] = [20, 18, 76];
/** So many stations have a row in the picture. */
const MOST_ROWS = 24;
const KINDS: Record<AirFrame["kind"], string> = {
  data: "data",
  rts: "RTS",
  cts: "CTS",
  ack: "ACK",
  "block-ack": "BlockAck",
  beacon: "beacon",
  management: "association",
};

/** Nothing, if the lab has no radio media of 802.11. */
export function airStrip(id: string, journal: () => Journal, player: Player): View {
  const [air, setAir] = createSignal<Air | null>(null);
  const [why, setWhy] = createSignal("");
  const [width, setWidth] = createSignal(USUAL_SPAN);
  const [link, setLink] = createSignal<string | null>(null);
  const limits = (): [number, number] => {
    const { from_ns, to_ns } = journal();
    if (width() === 0) return [Math.max(0, from_ns), Math.max(0, to_ns)];
    const from = Math.max(0, Math.round(player.at() - width() / 2));
    return [from, from + width()];
  };
  ask(limits, link, (query) =>
    api.air(id, query).then(
      (found) => {
        setAir(found);
        setWhy("");
        return found.captured.length > 0;
      },
      (error: Error) => {
        setWhy(error.message);
        return null;
      },
    ),
  );
  const isRadio = createMemo(() => (air()?.media.length ?? 0) > 0);
  const isCaptured = createMemo(() => (air()?.captured.length ?? 0) > 0);
  return () =>
    isRadio()
      ? el(
          "section",
          { class: "airtime", "aria-labelledby": "airtime-heading" },
          el("h2", { id: "airtime-heading" }, "Who has the air"),
          () =>
            isCaptured() ? strip(air, player, [width, setWidth], [link, setLink]) : missing(air()?.media[0] ?? ""),
          () => (why() ? el("p", { class: "error", role: "alert" }, why()) : null),
        )
      : null;
}

const missing = (medium: string): View =>
  el(
    "p",
    { class: "note" },
    "The key ",
    el("code", {}, `capture: [{link: ${medium}, headers: radiotap}]`),
    " of the lab file keeps what is on the air, to be shown here.",
  );

/** Asks whenever what is to be shown has changed, one question at a time. `question` says whether there is anything to ask for again, and null if that failed. */
function ask(
  limits: () => [number, number],
  link: () => string | null,
  question: (query: string) => Promise<boolean | null>,
): void {
  let [isAsking, isOver, last, timer] = [false, false, "", 0];
  const query = (): string => {
    const [from, to] = limits();
    const own = link();
    return `from_ns=${from}&to_ns=${to}&parts=160${own === null ? "" : `&link=${encodeURIComponent(own)}`}`;
  };
  const next = (): void => {
    const wanted = untrack(query);
    if (isAsking || isOver || wanted === last || !untrack(inSight)) return;
    isAsking = true;
    last = wanted;
    void question(wanted).then((goes) => {
      if (goes === null) last = "";
      isOver ||= goes === false;
      timer = window.setTimeout(
        () => {
          isAsking = false;
          next();
        },
        goes === null ? AGAIN_MS : EVERY_MS,
      );
    });
  };
  createEffect(on([query, inSight], next));
  onCleanup(() => {
    isOver = true;
    window.clearTimeout(timer);
  });
}

type Pair<T> = [() => T, (to: T) => void];

function strip(
  air: () => Air | null,
  player: Player,
  [width, setWidth]: Pair<number>,
  [, setLink]: Pair<string | null>,
): View {
  const stations = createMemo(() => (air()?.stations ?? []).join("\n"));
  const frames = createMemo(() => air()?.span?.frames ?? null);
  const step = steps(air, frames, player);
  const names = (): string[] => stations().split("\n");
  return [
    el(
      "div",
      { class: "controls", role: "group", "aria-label": "the air" },
      (air()?.captured.length ?? 0) > 1
        ? el(
            "select",
            { "aria-label": "medium", onchange: (event: Event) => setLink((event.target as HTMLSelectElement).value) },
            (air()?.captured ?? []).map((one) => el("option", { value: one }, one)),
          )
        : null,
      el(
        "select",
        {
          "aria-label": "how much time is shown",
          onchange: (event: Event) => setWidth(Number((event.target as HTMLSelectElement).value)),
          value: () => String(width()),
        },
        SPANS.map((one) => el("option", { value: one }, one === 0 ? "the whole run" : span(one, 3))),
      ),
      press("◂ frame", () => step(true), { "aria-label": "to the frame before", disabled: () => frames() === null }),
      press("frame ▸", () => step(false), { "aria-label": "to the next frame", disabled: () => frames() === null }),
    ),
    picture(air, player, names),
    el("p", { class: "about key", "aria-hidden": "true" }, legend()),
    now(frames, names, player),
    table(air, names),
    () =>
      air()?.is_partial
        ? el(
            "p",
            { class: "note" },
            "The capture is longer than can be shown, goes on, or is damaged: what is before is shown.",
          )
        : null,
  ];
}

/** So many spans are looked through for a frame. */
const MOST_SPANS = 50;

/** Goes to the next frame, or the one before; where none is in what is shown, through the spans beside it. */
function steps(air: () => Air | null, frames: () => AirFrame[] | null, player: Player): (isBack: boolean) => void {
  let [wanted, left] = [0, 0];
  const go = (): void => {
    const [at, from, to] = [player.at(), air()?.from_ns ?? 0, air()?.to_ns ?? 0];
    const known = frames();
    // An answer to an earlier question: another one comes.
    if (known === null || at < from || at > to) return;
    const begins = known.filter(({ sender }) => sender !== null).map(({ from_ns }) => from_ns);
    const all = begins.filter((begin) => (wanted < 0 ? begin < at - 1 : begin > at + 1));
    left -= 1;
    const next = all.length > 0 ? (wanted < 0 ? Math.max(...all) : Math.min(...all)) : at + wanted * (to - from) * 0.45;
    if (all.length > 0 || left <= 0) wanted = 0;
    player.seek(next);
  };
  createEffect(on(air, () => wanted !== 0 && untrack(go), { defer: true }));
  return (isBack) => {
    [wanted, left] = [isBack ? -1 : 1, MOST_SPANS];
    untrack(go);
  };
}

const legend = (): View =>
  [
    ["sent", "data"],
    ["answer", "RTS, CTS, ACK"],
    ["again", "retry"],
    ["lost", "not decoded"],
    ["collided", "collision"],
  ].map(([name, words]) => el("span", {}, el("i", { class: `airkey ${name}` }), words));

/** A row for each station over time, the moment as a line. A press goes to its time. */
function picture(air: () => Air | null, player: Player, names: () => string[]): View {
  const canvas = h("canvas", { role: "img" });
  const box = h("div", { class: "airbox" }, canvas);
  const [size, setSize] = createSignal(0);
  const [theme, setTheme] = createSignal(0);
  let alive = true;
  onTheme(() => alive && setTheme((count) => count + 1));
  const resize = new ResizeObserver(() => setSize(box.clientWidth));
  resize.observe(box);
  onCleanup(() => {
    alive = false;
    resize.disconnect();
  });
  canvas.addEventListener("click", (event) => {
    const found = air();
    const wide = canvas.clientWidth - NAMES;
    const part = (event.offsetX - NAMES) / wide;
    if (found?.from_ns !== undefined && found.to_ns !== undefined && part >= 0)
      player.seek(found.from_ns + part * (found.to_ns - found.from_ns));
  });
  createEffect(() => {
    size();
    theme();
    const found = air();
    if (found?.span && box.clientWidth > 0) draw(canvas, box.clientWidth, found, names(), player.at());
  });
  createEffect(() => canvas.setAttribute("aria-label", words(air(), names())));
  return box;
}

function words(air: Air | null, names: string[]): string {
  const long = (air?.to_ns ?? 0) - (air?.from_ns ?? 0);
  const all = (air?.span?.stations ?? [])
    .map((use, place) => ({ use, name: names[place] ?? "?" }))
    .filter(({ use }) => use.busy_ns > 0)
    .slice(0, 8)
    .map(({ use, name }) => `${name} ${share(use.busy_ns / Math.max(long, 1))}`);
  return `the air of ${air?.link ?? ""} in ${span(long, 3)}: ${all.join(", ") || "nobody sends"}`;
}

function draw(canvas: HTMLCanvasElement, width: number, air: Air, names: string[], at: number): void {
  const pen = canvas.getContext("2d");
  const [from, to] = [air.from_ns ?? 0, air.to_ns ?? 1];
  if (!pen || !air.span) return;
  const rows = Math.min(names.length, MOST_ROWS);
  const height = rows * ROW + AXIS;
  const ratio = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  pen.scale(ratio, ratio);
  pen.font = "12px system-ui,sans-serif";
  const wide = width - NAMES - 1;
  const x = (time: number): number => NAMES + ((time - from) / Math.max(to - from, 1)) * wide;
  for (let row = 0; row < rows; row += 1) {
    pen.fillStyle = colour("--ink");
    pen.fillText(fitting(pen, names[row] ?? "", NAMES - 8), 0, row * ROW + 14);
    pen.fillStyle = colour("--grid");
    pen.fillRect(NAMES, row * ROW + ROW - 1, wide, 1);
  }
  if (air.span.frames) for (const frame of air.span.frames) drawFrame(pen, frame, rows, x);
  else
    air.span.busy.slice(0, rows).forEach((parts, row) => {
      drawParts(pen, parts, row, wide);
    });
  drawAxis(pen, [from, to], rows * ROW, x, wide);
  pen.strokeStyle = colour("--link");
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x(at), 0);
  pen.lineTo(x(at), rows * ROW);
  pen.stroke();
}

function fitting(pen: CanvasRenderingContext2D, text: string, width: number): string {
  let shown = text;
  while (shown.length > 1 && pen.measureText(shown === text ? shown : `${shown}…`).width > width)
    shown = shown.slice(0, -1);
  return shown === text ? text : `${shown}…`;
}

/** What was not decoded is higher, and has a cross if it collided; what is sent again has a line above it. */
function drawFrame(pen: CanvasRenderingContext2D, frame: AirFrame, rows: number, x: (time: number) => number): void {
  if (frame.sender === null || frame.sender >= rows) return;
  const [left, right] = [Math.max(x(frame.from_ns), NAMES), x(frame.to_ns)];
  const long = Math.max(right - left, 1);
  const top = frame.sender * ROW;
  const isBad = frame.bad > 0;
  pen.fillStyle = colour(isBad ? "--bad" : frame.kind === "data" ? "--u2" : "--s5");
  if (isBad) pen.fillRect(left, top + 2, long, ROW - 5);
  else if (frame.kind === "data") pen.fillRect(left, top + 6, long, ROW - 9);
  else pen.fillRect(left, top + 10, long, ROW - 13);
  if (frame.retries > 0) {
    pen.fillStyle = colour("--ink");
    pen.fillRect(left, top, long, 2);
  }
  if (frame.collided && long >= 5) {
    pen.strokeStyle = colour("--paper");
    pen.lineWidth = 1.5;
    const [middle, half] = [left + long / 2, Math.min(long / 2, 5) - 0.5];
    pen.beginPath();
    pen.moveTo(middle - half, top + 9.5 - half);
    pen.lineTo(middle + half, top + 9.5 + half);
    pen.moveTo(middle - half, top + 9.5 + half);
    pen.lineTo(middle + half, top + 9.5 - half);
    pen.stroke();
  }
}

/** Columns as high as the share of their time in which the station sent. */
function drawParts(pen: CanvasRenderingContext2D, parts: readonly [number, number][], row: number, wide: number): void {
  const step = wide / Math.max(parts.length, 1);
  const bottom = row * ROW + ROW - 1;
  parts.forEach(([sent, lost], part) => {
    const high = (thousandths: number): number =>
      thousandths === 0 ? 0 : Math.max((thousandths / 1000) * (ROW - 4), 1);
    pen.fillStyle = colour("--u2");
    pen.fillRect(NAMES + part * step, bottom - high(sent), step, high(sent));
    pen.fillStyle = colour("--bad");
    pen.fillRect(NAMES + part * step, bottom - high(lost), step, high(lost));
  });
}

/** The times of both ends, and how much lies between them. */
function drawAxis(
  pen: CanvasRenderingContext2D,
  [from, to]: [number, number],
  top: number,
  x: (time: number) => number,
  wide: number,
): void {
  pen.fillStyle = colour("--soft");
  pen.font = "11px system-ui,sans-serif";
  const decimals = Math.min(9, Math.max(1, 11 - Math.floor(Math.log10(Math.max(to - from, 1)))));
  const text = (time: number): string => `${(time / 1e9).toFixed(decimals)} s`;
  pen.fillText(text(from), NAMES, top + 14);
  pen.textAlign = "right";
  pen.fillText(text(to), NAMES + wide, top + 14);
  pen.textAlign = "center";
  if (wide > 260) pen.fillText(`← ${span(to - from, 3)} →`, x((from + to) / 2), top + 14);
  pen.textAlign = "left";
}

/** What is on the air at the instant that is shown. */
function now(frames: () => AirFrame[] | null, names: () => string[], player: Player): View {
  const name = (place: number | null, other: string): string => (place === null ? other : (names()[place] ?? other));
  const told = createMemo(() => {
    const at = player.at();
    return (frames() ?? []).filter(({ from_ns, to_ns }) => from_ns <= at && at < to_ns);
  });
  return el(
    "div",
    { class: "airnow" },
    () =>
      frames() === null ? el("p", { class: "about" }, "Too many frames to tell them apart: show less time.") : null,
    () =>
      frames() !== null && told().length === 0
        ? el("p", { class: "about" }, "Nothing is on the air at this instant.")
        : null,
    el(
      "ul",
      {},
      each(told, (frame) =>
        el(
          "li",
          {},
          `${name(frame.sender, "?")} → ${name(frame.receiver, "all")}: ${KINDS[frame.kind]}`,
          frame.mpdus > 1 ? ` of ${counted(frame.mpdus, "MPDU")}` : "",
          `, ${bytes(frame.bytes)}, ${span(frame.to_ns - frame.from_ns, 3)}`,
          frame.retries > 0
            ? el(
                "span",
                { class: "badge caution" },
                frame.mpdus > 1 ? counted(frame.retries, "retry", "retries") : "retry",
              )
            : null,
          frame.bad > 0
            ? el(
                "span",
                { class: "badge bad" },
                frame.collided ? "collision" : frame.mpdus > 1 ? `${frame.bad} not decoded` : "not decoded",
              )
            : null,
        ),
      ),
    ),
  );
}

/** What each station had on the air in the time that is shown. */
function table(air: () => Air | null, names: () => string[]): View {
  const places = createMemo(() => names().map((_, place) => place));
  const use = (place: number) => air()?.span?.stations[place];
  const long = (): number => Math.max((air()?.to_ns ?? 0) - (air()?.from_ns ?? 0), 1);
  const columns = ["station", "on the air", "frames", "retries", "not decoded", "collisions"];
  return scrolled(
    "stations in the time that is shown",
    el(
      "table",
      { class: "figures" },
      heads(columns, (place) => place > 0),
      el(
        "tbody",
        {},
        each(places, (place) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, names()[place] ?? "?"),
            number(() => share((use(place)?.busy_ns ?? 0) / long())),
            number(() => use(place)?.frames ?? 0),
            number(() => use(place)?.retries ?? 0),
            number(() => use(place)?.bad ?? 0),
            number(() => use(place)?.collisions ?? 0),
          ),
        ),
      ),
    ),
  );
}
