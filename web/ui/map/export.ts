// A map as it is in sight, as SVG for slides: in the colours of paper, each thing an element of its own.
import { PAPER } from "../../components/chart";
import { s } from "../../components/dom";
import type { MapCanvas } from "./canvas";
import { control, type Look } from "./model";

const USE = ["#afb8c1", "#8fbbe0", "#4f96cf", "#1a70b8", "#b35900", "#b3261e"];
const FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif";

/** Elements that an export adds: packets, what they do over time. */
export type Extra = (add: (element: SVGElement) => void) => void;

export function mapSvg(map: MapCanvas, looks: readonly Look[], title: string, extra?: Extra): string {
  const { width, height } = map;
  const svg = s("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${Math.round(width)} ${Math.round(height)}`, width: Math.round(width), height: Math.round(height), role: "img" }, s("title", {}, title),
    s("rect", { width: Math.round(width), height: Math.round(height), fill: PAPER.paper }));
  const fix = (value: number): string => value.toFixed(1);
  for (const line of map.graph.lines) {
    const [a, b] = [map.graph.spots[line.a], map.graph.spots[line.b]];
    if (!a || !b) continue;
    const look = looks[line.link];
    const [[ax, ay], [bx, by]] = [map.place(a), map.place(b)];
    const [cx, cy] = control(ax, ay, bx, by, line.bend);
    const grade = look?.grade ?? 0;
    svg.append(s("path", {
      d: line.bend === 0 ? `M${fix(ax)} ${fix(ay)}L${fix(bx)} ${fix(by)}` : `M${fix(ax)} ${fix(ay)}Q${fix(cx)} ${fix(cy)} ${fix(bx)} ${fix(by)}`,
      fill: "none", stroke: look?.down ? "#a61b1b" : USE[grade] ?? "#57606a", "stroke-width": fix(1.8 + grade * 0.8), "stroke-dasharray": look?.down ? "2 6" : look?.dropping ? "9 5" : "none", "stroke-linecap": "round",
    }, s("title", {}, line.name)));
    if (look?.label || look?.down) {
      const [x, y] = map.on(line, 0.5);
      svg.append(s("text", { x: fix(x), y: fix(y - 5), "text-anchor": "middle", style: `font:600 10.5px ${FONT};fill:${PAPER.ink};stroke:#fff;stroke-width:3px;paint-order:stroke` }, look.down ? "✕ down" : look.label));
    }
  }
  extra?.((element) => svg.append(element));
  const size = map.nodeSize;
  for (const spot of map.graph.spots) {
    const [x, y] = map.place(spot);
    svg.append(glyph(spot.kind, x, y, size));
    if (spot.name) svg.append(s("text", { x: fix(x), y: fix(y + size + 13), "text-anchor": "middle", style: `font:11.5px ${FONT};fill:${PAPER.ink};stroke:#fff;stroke-width:3px;paint-order:stroke` }, spot.name));
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;
}

function glyph(kind: string, x: number, y: number, size: number): SVGElement {
  const blue = PAPER.series[0] ?? PAPER.ink;
  const green = PAPER.series[2] ?? PAPER.ink;
  const group = (children: SVGElement[]): SVGElement => s("g", { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, "stroke-width": Math.max(1, size / 7).toFixed(1), "stroke-linecap": "round", "stroke-linejoin": "round" }, children);
  if (kind === "router" || kind === "transit" || kind === "internet") {
    const hollow = kind !== "router";
    const arm = size * 0.5;
    return group([s("circle", { r: size, fill: hollow ? PAPER.paper : blue, stroke: blue }), s("path", { d: `M${-arm} ${-arm}L${arm} ${arm}M${arm} ${-arm}L${-arm} ${arm}`, stroke: hollow ? blue : PAPER.paper, fill: "none" })]);
  }
  if (kind === "switch" || kind === "openflow" || kind === "hub" || kind === "lan") {
    const ground = kind === "hub" ? PAPER.soft : green;
    const lane = size * 0.6;
    return group([s("rect", { x: -size, y: -size * 0.86, width: size * 2, height: size * 1.72, rx: size * 0.25, fill: kind === "openflow" ? PAPER.paper : ground, stroke: ground }), s("path", { d: `M${-lane} ${-lane * 0.45}H${lane}M${-lane} ${lane * 0.45}H${lane}`, stroke: kind === "openflow" ? ground : PAPER.paper, fill: "none" })]);
  }
  if (kind === "medium") return group([s("circle", { r: size * 0.3, fill: PAPER.soft })]);
  return group([s("rect", { x: -size, y: -size * 0.85, width: size * 2, height: size * 1.35, rx: size * 0.2, fill: "#f6f8fa", stroke: PAPER.ink }), s("path", { d: `M0 ${size * 0.5}V${size * 0.85}M${-size * 0.5} ${size * 0.88}H${size * 0.5}`, stroke: PAPER.ink, fill: "none" })]);
}
