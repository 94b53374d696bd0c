// A map as it is in sight, as SVG for slides: in the colours of paper, each thing an element of its own.
import { PAPER } from "../../components/chart";
import { s } from "../../components/dom";
import type { MapCanvas } from "./canvas";
import { drawNode, drawOff, FAINT, ON_PAPER } from "./glyphs";
import { control, type Look } from "./model";
import { SvgPen } from "./pen";
import { nameOf } from "./still";

const FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif";

/** Elements that an export adds: packets, what they do over time. */
export type Extra = (add: (element: SVGElement) => void) => void;

export function mapSvg(map: MapCanvas, looks: readonly Look[], title: string, extra?: Extra): string {
  const { width, height } = map;
  const svg = s(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${Math.round(width)} ${Math.round(height)}`,
      width: Math.round(width),
      height: Math.round(height),
      role: "img",
    },
    s("title", {}, title),
    s("rect", { width: Math.round(width), height: Math.round(height), fill: PAPER.paper }),
  );
  const fix = (value: number): string => value.toFixed(1);
  for (const line of map.graph.lines) {
    const [a, b] = [map.graph.spots[line.a], map.graph.spots[line.b]];
    if (!a || !b) continue;
    const look = looks[line.link];
    const [[ax, ay], [bx, by]] = [map.place(a), map.place(b)];
    const [cx, cy] = control(ax, ay, bx, by, line.bend);
    const grade = look?.grade ?? 0;
    svg.append(
      s(
        "path",
        {
          d:
            line.bend === 0
              ? `M${fix(ax)} ${fix(ay)}L${fix(bx)} ${fix(by)}`
              : `M${fix(ax)} ${fix(ay)}Q${fix(cx)} ${fix(cy)} ${fix(bx)} ${fix(by)}`,
          fill: "none",
          stroke: look?.down ? ON_PAPER.bad : (ON_PAPER.use[grade] ?? ON_PAPER.soft),
          "stroke-width": fix(1.8 + grade * 0.8),
          "stroke-dasharray": look?.down ? "2 6" : look?.dropping ? "9 5" : "none",
          "stroke-linecap": "round",
        },
        s("title", {}, line.name),
      ),
    );
    if (look?.label || look?.down) {
      const [x, y] = map.on(line, 0.5);
      svg.append(
        s(
          "text",
          {
            x: fix(x),
            y: fix(y - 5),
            "text-anchor": "middle",
            style: `font:600 10.5px ${FONT};fill:${PAPER.ink};stroke:#fff;stroke-width:3px;paint-order:stroke`,
          },
          look.down ? "✕ down" : look.label,
        ),
      );
    }
  }
  extra?.((element) => svg.append(element));
  const size = map.nodeSize;
  for (const spot of map.graph.spots) {
    const [x, y] = map.place(spot);
    svg.append(glyph(spot.kind, x, y, size, map.off.has(spot.name)));
    if (spot.name)
      svg.append(
        s(
          "text",
          {
            x: fix(x),
            y: fix(y + size + 13),
            "text-anchor": "middle",
            style: `font:11.5px ${FONT};fill:${PAPER.ink};stroke:#fff;stroke-width:3px;paint-order:stroke`,
          },
          nameOf(spot.name, map.off),
        ),
      );
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;
}

function glyph(kind: string, x: number, y: number, size: number, isOff: boolean): SVGElement {
  const sign = s("g", isOff ? { opacity: FAINT } : {});
  drawNode(new SvgPen(sign), kind, size, ON_PAPER);
  const group = s("g", { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` }, sign);
  if (isOff) drawOff(new SvgPen(group), size, ON_PAPER);
  return group;
}
