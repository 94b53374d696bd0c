// What signs and packets are drawn with: a canvas, or a pen that makes elements of SVG of the same strokes, so that a picture that is saved shows what the page does.
import { s } from "../../components/dom";

/** The part of a canvas that signs and packets are drawn with. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | "fillStyle"
  | "strokeStyle"
  | "lineWidth"
  | "lineJoin"
  | "lineCap"
  | "beginPath"
  | "closePath"
  | "moveTo"
  | "lineTo"
  | "arc"
  | "roundRect"
  | "fillRect"
  | "fill"
  | "stroke"
  | "setLineDash"
>;

const fix = (value: number): string => String(Math.round(value * 100) / 100);

export class SvgPen implements Pen {
  fillStyle: Pen["fillStyle"] = "#000";
  strokeStyle: Pen["strokeStyle"] = "#000";
  lineWidth = 1;
  lineJoin: CanvasLineJoin = "miter";
  lineCap: CanvasLineCap = "butt";
  private dashes: number[] = [];
  private path = "";

  constructor(private readonly into: Element) {}

  beginPath(): void {
    this.path = "";
  }

  closePath(): void {
    this.path += "Z";
  }

  moveTo(x: number, y: number): void {
    this.path += `M${fix(x)} ${fix(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `L${fix(x)} ${fix(y)}`;
  }

  /** Whole circles alone. */
  arc(x: number, y: number, radius: number): void {
    this.path += `M${fix(x - radius)} ${fix(y)}a${fix(radius)} ${fix(radius)} 0 1 0 ${fix(radius * 2)} 0a${fix(radius)} ${fix(radius)} 0 1 0 ${fix(-radius * 2)} 0Z`;
  }

  /** With one radius for all corners. */
  roundRect(x: number, y: number, width: number, height: number, radius: Parameters<Pen["roundRect"]>[4] = 0): void {
    const r = Number(radius);
    const corner = (toX: number, toY: number): string => `a${fix(r)} ${fix(r)} 0 0 1 ${fix(toX)} ${fix(toY)}`;
    this.path += `M${fix(x + r)} ${fix(y)}h${fix(width - 2 * r)}${corner(r, r)}v${fix(height - 2 * r)}${corner(-r, r)}h${fix(2 * r - width)}${corner(-r, -r)}v${fix(2 * r - height)}${corner(r, -r)}Z`;
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.into.append(
      s("rect", { x: fix(x), y: fix(y), width: fix(width), height: fix(height), fill: String(this.fillStyle) }),
    );
  }

  fill(): void {
    this.into.append(s("path", { d: this.path, fill: String(this.fillStyle) }));
  }

  stroke(): void {
    this.into.append(
      s("path", {
        d: this.path,
        fill: "none",
        stroke: String(this.strokeStyle),
        "stroke-width": fix(this.lineWidth),
        "stroke-linejoin": this.lineJoin,
        "stroke-linecap": this.lineCap,
        ...(this.dashes.length > 0 ? { "stroke-dasharray": this.dashes.map(fix).join(" ") } : {}),
      }),
    );
  }

  setLineDash(dashes: Iterable<number>): void {
    this.dashes = [...dashes];
  }
}
