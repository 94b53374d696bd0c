// Packets that move on links while a lab is watched: samples of what the counters say, not packets one by one. Nothing moves for those who want it so.
import type { MapCanvas } from "../map/canvas";
import type { Colours } from "../map/glyphs";
import type { Look } from "../map/model";

const still = window.matchMedia("(prefers-reduced-motion: reduce)");
/** Dots of all links together. */
const MOST = 1_500;

/** Draws queues as bars, and a dot for every so many packets: more packets, more dots, up to a bound that can be seen. Whether anything moves. */
export function drawMoving(map: MapCanvas, looks: readonly Look[], pen: CanvasRenderingContext2D, c: Colours, ms: number): boolean {
  if (map.scale < 14) return false;
  let left = MOST;
  let moves = false;
  // Rectangles at whole pixels are filled one by one: many in one path take software ten times as long.
  pen.fillStyle = c.series[1] ?? c.ink;
  for (const line of map.graph.lines) {
    const look = looks[line.link];
    if (!look || look.down) continue;
    for (const way of [0, 1] as const) {
      const rate = look.flow[way];
      if (rate <= 0 || left <= 0 || still.matches) continue;
      const dots = Math.min(1 + Math.floor(Math.log10(1 + rate) * 1.6), 7);
      left -= dots;
      moves = true;
      for (let dot = 0; dot < dots; dot += 1) {
        const part = ((ms / 1600 + dot / dots + line.link * 0.37) % 1);
        const [x, y] = map.on(line, way === 0 ? part : 1 - part, way === 0 ? 3.5 : -3.5);
        pen.fillRect(Math.round(x) - 2, Math.round(y) - 2, 4, 4);
      }
    }
  }
  drawQueues(map, looks, pen, c);
  return moves && !still.matches && document.visibilityState === "visible";
}

/** What waits, as a bar beside the place where it enters the link; logarithmic, full at 1,000 packets. */
export function drawQueues(map: MapCanvas, looks: readonly Look[], pen: CanvasRenderingContext2D, c: Colours): void {
  for (const line of map.graph.lines) {
    const look = looks[line.link];
    if (!look) continue;
    for (const way of [0, 1] as const) {
      const queue = look.queue[way];
      if (queue <= 0) continue;
      const [x, y] = map.on(line, way === 0 ? 0.18 : 0.82, way === 0 ? 10 : -10);
      const high = Math.min(Math.log10(1 + queue) / 3, 1) * 22;
      pen.fillStyle = c.ground;
      pen.fillRect(x - 3, y - 11, 6, 22);
      pen.fillStyle = c.series[4] ?? c.caution;
      pen.fillRect(x - 3, y + 11 - high, 6, high);
      pen.strokeStyle = c.soft;
      pen.lineWidth = 0.8;
      pen.strokeRect(x - 3, y - 11, 6, 22);
    }
  }
}
