// The whole run as a strip: how many packets when, drops above them, marks, shades where faults were; the cursor is moved by pointer and keys.
import type { FaultSpan, Mark } from "../../components/axis";
import { h } from "../../components/dom";
import { colour, onTheme } from "../../components/theme";
import type { Journal } from "../api";
import { isDrop, type Packets } from "./packets";

export class Strip {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { "aria-hidden": "true" });
  private readonly needle = h("div", { class: "needle" });
  private readonly resize: ResizeObserver;
  private alive = true;
  private at = 0;

  constructor(
    private readonly journal: () => Journal,
    /** All packets of a short run: then each is drawn where it was, else so many of each block of the journal as if they came evenly. */ private readonly all: () => Packets | null,
    private readonly marks: readonly Mark[],
    private readonly faults: readonly FaultSpan[],
    private readonly seek: (at: number) => void,
    private readonly words: (at: number) => string,
    private readonly step: (event: KeyboardEvent) => boolean,
  ) {
    this.element = h(
      "div",
      {
        class: "strip-time",
        role: "slider",
        tabindex: 0,
        "aria-label": "time of the replay: arrows move, with Shift further, comma and full stop go packet by packet",
        "aria-orientation": "horizontal",
      },
      this.canvas,
      this.needle,
    );
    let held = false;
    const seekTo = (event: PointerEvent): void => {
      const box = this.element.getBoundingClientRect();
      const { from_ns, to_ns } = this.journal();
      this.seek(from_ns + Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) * (to_ns - from_ns));
    };
    this.element.addEventListener("pointerdown", (event) => {
      held = true;
      this.element.setPointerCapture(event.pointerId);
      seekTo(event);
    });
    this.element.addEventListener("pointermove", (event) => held && seekTo(event));
    this.element.addEventListener("pointerup", () => {
      held = false;
    });
    this.element.addEventListener("pointercancel", () => {
      held = false;
    });
    this.element.addEventListener("keydown", (event) => this.press(event));
    this.resize = new ResizeObserver(() => this.draw());
    this.resize.observe(this.element);
    onTheme(() => this.alive && this.draw());
  }

  destroy(): void {
    this.alive = false;
    this.resize.disconnect();
  }

  show(at: number): void {
    this.at = at;
    const { from_ns, to_ns } = this.journal();
    const part = to_ns > from_ns ? (at - from_ns) / (to_ns - from_ns) : 0;
    this.needle.style.left = `${(Math.min(Math.max(part, 0), 1) * 100).toFixed(4)}%`;
    this.element.setAttribute("aria-valuemin", (from_ns / 1e9).toFixed(6));
    this.element.setAttribute("aria-valuemax", (to_ns / 1e9).toFixed(6));
    this.element.setAttribute("aria-valuenow", (at / 1e9).toFixed(9));
    this.element.setAttribute("aria-valuetext", this.words(at));
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.step(event)) {
      event.preventDefault();
      return;
    }
    const { from_ns, to_ns } = this.journal();
    const by = (to_ns - from_ns) / (event.shiftKey ? 20 : 200);
    const to = {
      ArrowLeft: this.at - by,
      ArrowRight: this.at + by,
      ArrowDown: this.at - by,
      ArrowUp: this.at + by,
      PageDown: this.at - by * 20,
      PageUp: this.at + by * 20,
      Home: from_ns,
      End: to_ns,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.seek(Math.min(Math.max(to, from_ns), to_ns));
  }

  /** How many packets arrived and were dropped in each of so many columns. */
  private count(columns: number): { packets: Float64Array; dropped: Float64Array } {
    const [packets, dropped] = [new Float64Array(columns), new Float64Array(columns)];
    const { from_ns, to_ns, blocks } = this.journal();
    const length = Math.max(to_ns - from_ns, 1);
    const column = (at: number): number =>
      Math.min(Math.max(Math.floor(((at - from_ns) / length) * columns), 0), columns - 1);
    const add = (to: Float64Array, place: number, much: number): void => {
      to[place] = (to[place] ?? 0) + much;
    };
    const all = this.all();
    if (all) {
      for (let k = 0; k < all.n; k += 1) {
        add(packets, column(all.arrived[k] ?? from_ns), 1);
        if (isDrop(all.fate[k] ?? 0)) add(dropped, column(all.ended[k] ?? from_ns), 1);
      }
      return { packets, dropped };
    }
    for (const block of blocks) {
      const first = column(block.from_ns);
      const last = Math.min(Math.max(Math.ceil(((block.to_ns - from_ns) / length) * columns), first + 1), columns);
      for (let place = first; place < last; place += 1) {
        add(packets, place, block.packets / (last - first));
        add(dropped, place, block.dropped / (last - first));
      }
    }
    return { packets, dropped };
  }

  /** A shade over each span in which something was wrong. */
  private shade(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const { from_ns, to_ns } = this.journal();
    const place = (at: number): number => ((at * 1e9 - from_ns) / Math.max(to_ns - from_ns, 1)) * width;
    pen.fillStyle = colour("--fault");
    for (const { from, to } of this.faults) {
      const [left, right] = [Math.max(place(from), 0), to === null ? width : Math.min(place(to), width)];
      // One that is over at once is seen, too.
      if (left <= width && right >= 0) pen.fillRect(left, 0, Math.max(right - left, 1), height);
    }
  }

  draw(): void {
    const [width, height] = [this.element.clientWidth, this.element.clientHeight];
    const ratio = window.devicePixelRatio || 1;
    const pen = this.canvas.getContext("2d");
    if (!pen || width === 0) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    pen.scale(ratio, ratio);
    const { from_ns, to_ns } = this.journal();
    const length = Math.max(to_ns - from_ns, 1);
    this.shade(pen, width, height);
    const columns = Math.max(Math.floor(width / 2), 1);
    const { packets, dropped } = this.count(columns);
    const most = packets.reduce((a, b) => Math.max(a, b), 1);
    const mostDropped = dropped.reduce((a, b) => Math.max(a, b), 1);
    for (let column = 0; column < columns; column += 1) {
      const high = ((packets[column] ?? 0) / most) * (height - 18);
      pen.fillStyle = colour("--u1");
      pen.fillRect(column * 2, height - high, 2, high);
      const drops = dropped[column] ?? 0;
      if (drops > 0) {
        pen.fillStyle = colour("--bad");
        const deep = 3 + (drops / mostDropped) * 9;
        pen.fillRect(column * 2, 0, 2, deep);
      }
    }
    pen.strokeStyle = pen.fillStyle = colour("--mark");
    pen.setLineDash([3, 3]);
    pen.font = "10px system-ui,sans-serif";
    let last = -Infinity;
    this.marks.forEach((mark, number) => {
      const x = ((mark.t * 1e9 - from_ns) / length) * width;
      if (x < 0 || x > width) return;
      pen.beginPath();
      pen.moveTo(x, 12);
      pen.lineTo(x, height);
      pen.stroke();
      if (x - last > 18) {
        pen.fillText(String(number + 1), x + 2, 21);
        last = x;
      }
    });
    this.show(this.at);
  }
}
