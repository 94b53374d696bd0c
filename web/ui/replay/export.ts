// What is seen as pictures for slides: a moment as SVG, a span as an SVG that moves, the canvas as video.
import { s } from "../../components/dom";
import type { MapCanvas } from "../map/canvas";
import { dotSize, flowStyle, NO_FLOW, shapeAt, sizeOf, type Way } from "../map/dots";
import { mapSvg } from "../map/export";
import { ON_PAPER } from "../map/glyphs";
import type { Look } from "../map/model";
import { SvgPen } from "../map/pen";
import { FATES, isDrop, type Packets } from "./packets";
import { placesOf, pointOf, progress, type Scene } from "./stage";

/** Packets of a moving picture: a browser draws so many without effort. */
export const MOST_MOVING = 1_500;

/** A packet in colour, shape and size as on the page, with what becomes of it as its title. */
function packetAt(map: MapCanvas, packets: Packets, k: number, x: number, y: number, fill?: string): SVGElement {
  const { colour, shape } = flowStyle(packets.flow[k] ?? NO_FLOW);
  const packet = s("g", {}, s("title", {}, FATES[packets.fate[k] ?? 0] ?? ""));
  const pen = new SvgPen(packet);
  pen.fillStyle = fill ?? ON_PAPER.series[colour] ?? ON_PAPER.ink;
  shapeAt(pen, shape, x, y, sizeOf(dotSize(map.scale), packets.size[k] ?? 0));
  return packet;
}

const fix = (value: number): string => value.toFixed(1);

export function momentSvg(map: MapCanvas, looks: readonly Look[], scene: Scene, ways: Way[], title: string): string {
  return mapSvg(map, looks, title, (add) => {
    const waiting = new Map<number, number>();
    placesOf(
      scene,
      ways,
      (k, place) => {
        const [x, y] = pointOf(map, place);
        if (place.fallen > 0)
          add(
            s(
              "path",
              {
                d: `M${fix(x - 4)} ${fix(y - 4)}l8 8m0 -8l-8 8`,
                stroke: ON_PAPER.bad,
                "stroke-width": 2,
                fill: "none",
              },
              s("title", {}, FATES[scene.packets.fate[k] ?? 0] ?? ""),
            ),
          );
        else add(packetAt(map, scene.packets, k, x, y));
      },
      (pipe) => waiting.set(pipe, (waiting.get(pipe) ?? 0) + 1),
    );
    for (const [pipe, count] of waiting) {
      const way = ways[pipe];
      const line = way?.lines[0];
      if (!way || !line) continue;
      const [x, y] = map.on(line, way.back ? 0.84 : 0.16, way.back ? -16 : 16);
      const high = Math.min(count, 40) * 1.5;
      add(
        s("rect", {
          x: fix(x - 6),
          y: fix(y - high),
          width: 12,
          height: fix(high),
          fill: ON_PAPER.series[4] ?? ON_PAPER.caution,
        }),
      );
      add(
        s(
          "text",
          { x: fix(x), y: fix(y + 13), "text-anchor": "middle", style: "font:600 10.5px sans-serif" },
          String(count),
        ),
      );
    }
  });
}

/** A span from `from` to `to`, `slow` times slower than it was; it repeats by itself. How many packets were left out. */
export function movingSvg(
  map: MapCanvas,
  looks: readonly Look[],
  packets: Packets,
  ways: Way[],
  from: number,
  to: number,
  slow: number,
  title: string,
): { svg: string; left: number } {
  const seconds = ((to - from) * slow) / 1e9;
  let [shown, left] = [0, 0];
  const svg = mapSvg(map, looks, title, (add) => {
    for (let k = 0; k < packets.n; k += 1) {
      const [arrived, started, ended] = [packets.arrived[k] ?? NaN, packets.started[k] ?? NaN, packets.ended[k] ?? NaN];
      const way = ways[packets.pipe[k] ?? 0];
      const drop = isDrop(packets.fate[k] ?? 0);
      const first = Number.isNaN(started) ? arrived : started;
      const last = Number.isNaN(packets.due[k] ?? NaN) ? ended : (packets.due[k] ?? NaN);
      if (!way || !(first <= to) || !(last >= from)) continue;
      if (shown >= MOST_MOVING) {
        left += 1;
        continue;
      }
      shown += 1;
      for (const line of way.lines) {
        const steps = line.bend === 0 ? 1 : 6;
        const [begin, end] = [Math.max(first, from), Math.min(Math.max(last, first), to)];
        const times: number[] = [];
        const places: string[] = [];
        for (let step = 0; step <= steps; step += 1) {
          const at = begin + ((end - begin) * step) / steps;
          const [x, y] = pointOf(map, { line, part: progress(packets, k, at) ?? 0, back: way.back, fallen: 0 });
          times.push((at - from) / (to - from));
          places.push(`${fix(x)} ${fix(y)}`);
        }
        if (drop && last <= to) {
          const [x, y] = pointOf(map, { line, part: progress(packets, k, last) ?? 0, back: way.back, fallen: 1 });
          times.push(Math.min((last - from) / (to - from) + 0.04, 1));
          places.push(`${fix(x)} ${fix(y)}`);
        }
        add(moving(times, places, seconds, packetAt(map, packets, k, 0, 0, drop ? ON_PAPER.bad : undefined)));
      }
    }
  });
  return { svg, left };
}

function moving(times: number[], places: string[], seconds: number, packet: SVGElement): SVGElement {
  const rising = times.map((at, place) => Math.max(at, times[place - 1] ?? 0));
  const [first, last] = [rising[0] ?? 0, rising[rising.length - 1] ?? 1];
  const key = (at: number): string => Math.min(Math.max(at, 0), 1).toFixed(5);
  const keys = [0, ...rising, 1].map(key).join(";");
  const values = [places[0], ...places, places[places.length - 1]].join(";");
  const seen = s("animate", {
    attributeName: "opacity",
    calcMode: "discrete",
    dur: `${seconds.toFixed(3)}s`,
    repeatCount: "indefinite",
    keyTimes: `0;${key(Math.max(first, 1e-5))};${key(Math.min(Math.max(last, first + 2e-5), 0.99999))}`,
    values: "0;1;0",
  });
  packet.append(
    s("animateTransform", {
      attributeName: "transform",
      type: "translate",
      dur: `${seconds.toFixed(3)}s`,
      repeatCount: "indefinite",
      keyTimes: keys,
      values,
    }),
  );
  return s("g", { opacity: 0 }, seen, packet);
}

/** Records what the map shows until it is stopped; the file is WebM. */
export function record(canvas: HTMLCanvasElement, done: (video: Blob) => void): (() => void) | null {
  if (typeof MediaRecorder === "undefined") return null;
  const type = ["video/webm;codecs=vp9", "video/webm"].find((one) => MediaRecorder.isTypeSupported(one));
  if (!type) return null;
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: type, videoBitsPerSecond: 6_000_000 });
  const parts: Blob[] = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  recorder.onstop = () => done(new Blob(parts, { type }));
  recorder.start(500);
  return () => recorder.stop();
}
