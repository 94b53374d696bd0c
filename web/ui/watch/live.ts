// A plot of what a link does, that goes on by itself: drawn while it is looked at, and only then.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { dash } from "../../components/chart";
import { h } from "../../components/dom";
import { digits } from "../../components/format";
import { sample } from "../../components/plot";
import { colour, onTheme } from "../../components/theme";

export interface LiveLine {
  label: string;
  style: number;
  data: () => { t: number[]; y: (number | null)[] };
}

const FONT = "11px system-ui,'Liberation Sans',Arial,sans-serif";
/** A second in which a plot is drawn at most so often. */
const EVERY_MS = 240;

export class LivePlot {
  readonly element: HTMLElement;
  private readonly host: HTMLElement;
  private plot: uPlot | null = null;
  private seen = false;
  private last = 0;
  private readonly watch: IntersectionObserver;
  private readonly resize: ResizeObserver;
  private readonly values: HTMLElement[];
  private alive = true;

  constructor(
    title: string,
    private readonly lines: LiveLine[],
    private readonly format: (value: number) => string,
  ) {
    this.host = h("div", { class: "plot" });
    this.values = lines.map(() => h("output", { "aria-live": "off" }));
    this.element = h(
      "figure",
      { class: "liveplot" },
      h("figcaption", {}, h("span", { class: "title" }, title)),
      h(
        "ul",
        { class: "legend" },
        lines.map((line, place) => h("li", {}, sample(line), h("span", {}, line.label), this.values[place])),
      ),
      this.host,
    );
    this.watch = new IntersectionObserver((entries) => {
      this.seen = entries.some((entry) => entry.isIntersecting);
      this.update();
    });
    this.watch.observe(this.element);
    this.resize = new ResizeObserver(() => {
      if (this.plot && this.host.clientWidth > 0 && this.host.clientWidth !== this.plot.width)
        this.plot.setSize({ width: this.host.clientWidth, height: 120 });
    });
    this.resize.observe(this.host);
    onTheme(() => this.alive && this.plot?.redraw(false, true));
  }

  /** There are new samples. */
  update(): void {
    if (!this.seen || document.visibilityState !== "visible" || performance.now() - this.last < EVERY_MS) return;
    this.last = performance.now();
    const all = this.lines.map((line) => line.data());
    const data = [all[0]?.t ?? [], ...all.map(({ y }) => y)] as uPlot.AlignedData;
    this.values.forEach((value, place) => {
      const y = all[place]?.y;
      const now = y?.[y.length - 1];
      value.textContent = now == null ? "" : this.format(now);
    });
    if (!this.plot) {
      if (this.host.clientWidth > 0) this.plot = this.make(data);
    } else this.plot.setData(data);
  }

  private make(data: uPlot.AlignedData): uPlot {
    const ink = (name: string) => () => colour(name);
    const axis = {
      font: FONT,
      stroke: ink("--soft"),
      grid: { stroke: ink("--grid"), width: 1 },
      ticks: { show: false },
    };
    return new uPlot(
      {
        width: this.host.clientWidth,
        height: 120,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false }, y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] } },
        axes: [
          { ...axis, size: 22, space: 60, values: (_plot, all) => all.map((value) => `${digits(value, 6)} s`) },
          { ...axis, size: 74, space: 28, values: (_plot, all) => this.marks(all) },
        ],
        series: [
          {},
          ...this.lines.map(
            (line): uPlot.Series => ({
              stroke: ink(`--s${line.style}`),
              width: 1.6,
              dash: [...dash(line.style)],
              points: { show: false },
            }),
          ),
        ],
      },
      data,
      this.host,
    );
  }

  /** What stands at an axis: of marks that would read the same, those that are so. */
  private marks(all: number[]): string[] {
    const texts = all.map(this.format);
    return texts.map((text, place) =>
      !Number.isInteger(all[place]) && texts.filter((one) => one === text).length > 1 ? "" : text,
    );
  }

  destroy(): void {
    this.alive = false;
    this.watch.disconnect();
    this.resize.disconnect();
    this.plot?.destroy();
  }
}
