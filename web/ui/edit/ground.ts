// The scene of radio media, drawn in metres: stations, access points and walls are put, moved and taken away by mouse or keys, and the text follows.

import { s } from "../../components/dom";
import { announce } from "../../components/download";
import type { Checked } from "../api";
import { createEffect, createMemo, createSignal, el, onCleanup, press, untrack, type View } from "../view";
import type { Actions } from "./actions";
import {
  type Frame,
  frameOf,
  type Ground,
  groundOf,
  type Medium,
  type Metres,
  type Stand,
  snapped,
  type Wall,
} from "./metres";

/** Kinds of walls, with their losses (COST 231). */
const LOSSES = [
  ["light wall", "3.4 dB"],
  ["heavy wall", "6.9 dB"],
] as const;
/** How large signs and texts are, in pixels. */
const [SIGN, TEXT] = [7, 12];

/** What the next press on the ground does. */
type Mode = { kind: "move" } | { kind: "put"; name: string } | { kind: "wall"; loss: string };

interface Given {
  checked: () => Checked | null;
  act: Actions;
}

export interface GroundView {
  /** Whether the text has radio media. */
  isThere: () => boolean;
  isOn: () => boolean;
  press: () => void;
  view: () => View;
}

export function makeGround({ checked, act }: Given): GroundView {
  const ground = createMemo(() => groundOf(checked()?.tree ?? null));
  const [wanted, setWanted] = createSignal(false);
  const isThere = createMemo(() => ground().media.length > 0);
  const isOn = createMemo(() => wanted() && isThere());
  return {
    isThere,
    isOn,
    press: () => setWanted(!wanted()),
    view: () => (isOn() ? untrack(() => new Scene(ground, act).element) : null),
  };
}

class Scene {
  readonly element: HTMLElement;
  private readonly svg = s("svg", { class: "ground", role: "group", "aria-label": "the scene in metres" });
  private readonly mode: () => Mode;
  private readonly setMode: (mode: Mode) => void;
  /** The wall that is chosen. */
  private readonly chosen: () => Wall | null;
  private readonly setChosen: (wall: Wall | null) => void;
  private frame: Frame = { left: 0, bottom: 0, width: 1, height: 1, step: 1 };
  private scale = 1;
  /** While something is dragged, nothing else is drawn anew. */
  private drag: { move: (at: Metres) => void; end: (at: Metres) => void } | null = null;

  constructor(
    private readonly ground: () => Ground,
    private readonly act: Actions,
  ) {
    [this.mode, this.setMode] = createSignal<Mode>({ kind: "move" });
    [this.chosen, this.setChosen] = createSignal<Wall | null>(null);
    this.svg.addEventListener("pointerdown", (event) => this.down(event));
    this.svg.addEventListener("pointermove", (event) => this.drag?.move(this.place(event)));
    this.svg.addEventListener("pointerup", (event) => this.up(event));
    this.svg.addEventListener("pointercancel", () => this.give());
    this.element = el(
      "div",
      { class: "groundbox", onkeydown: (event: KeyboardEvent) => this.key(event) },
      this.svg,
      this.tools(),
    );
    createEffect(() => {
      this.ground();
      this.setChosen(null);
      this.draw();
    });
    createEffect(() => {
      this.chosen();
      this.mode();
      this.draw();
    });
    const sizes = new ResizeObserver(() => this.draw());
    sizes.observe(this.element);
    onCleanup(() => sizes.disconnect());
  }

  private tools(): View {
    const isWall = (loss: string): boolean => {
      const mode = this.mode();
      return mode.kind === "wall" && mode.loss === loss;
    };
    const isPut = (name: string): boolean => {
      const mode = this.mode();
      return mode.kind === "put" && mode.name === name;
    };
    const toggle = (mode: Mode, isOn: boolean): void => this.setMode(isOn ? { kind: "move" } : mode);
    const walls = createMemo(() => this.medium() !== null);
    return el(
      "div",
      { class: "groundtools", role: "group", "aria-label": "the scene" },
      () =>
        walls()
          ? LOSSES.map(([name, loss]) =>
              press(`+ ${name}`, () => toggle({ kind: "wall", loss }, isWall(loss)), {
                "aria-pressed": () => String(isWall(loss)),
                title: `draw a wall that takes ${loss}`,
              }),
            )
          : null,
      () =>
        this.ground().loose.map((name) =>
          press(`+ ${name}`, () => toggle({ kind: "put", name }, isPut(name)), {
            "aria-pressed": () => String(isPut(name)),
            title: `give ${name} a place`,
          }),
        ),
      () => (this.chosen() ? press("Remove this wall", () => this.remove(), { class: "danger" }) : null),
      el("p", { class: "hint" }, () => this.words()),
    );
  }

  private words(): string {
    const mode = this.mode();
    if (mode.kind === "wall") return "Draw from one end of the wall to the other; Escape ends it.";
    if (mode.kind === "put") return `Press where ${mode.name} stands, or Enter for the middle; Escape ends it.`;
    const wall = this.chosen();
    if (wall) return `A wall of ${wall.link}, ${wall.loss}: Delete removes it.`;
    return "Drag what stands here, or move it by arrow keys; press a wall to choose it.";
  }

  /** The medium that gets walls: the first that can have some. */
  private medium(): Medium | null {
    return this.ground().media.find(({ walls }) => walls !== null) ?? null;
  }

  private x = (value: number): number => Math.round((value - this.frame.left) * this.scale * 10) / 10;
  private y = (value: number): number =>
    Math.round((this.frame.bottom + this.frame.height - value) * this.scale * 10) / 10;

  private place(event: { clientX: number; clientY: number }): Metres {
    const box = this.svg.getBoundingClientRect();
    const { left, bottom, height, step } = this.frame;
    return snapped(
      [left + (event.clientX - box.left) / this.scale, bottom + height - (event.clientY - box.top) / this.scale],
      step,
    );
  }

  private draw(): void {
    const [width, height] = [this.element.clientWidth, this.element.clientHeight];
    if (this.drag || width === 0 || height === 0) return;
    const ground = untrack(this.ground);
    this.frame = frameOf(ground, width / height);
    this.scale = width / this.frame.width;
    const held = document.activeElement?.getAttribute("data-stand") ?? null;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren(
      ...this.grid(width, height),
      ...ground.ways.map((way) => this.way(way)),
      ...ground.walls.map((wall) => this.wall(wall)),
      ...ground.stands.map((stand) => this.stand(stand)),
    );
    // Whoever moves something by keys goes on.
    if (held !== null) this.svg.querySelector<SVGElement>(`[data-stand="${CSS.escape(held)}"]`)?.focus();
  }

  private grid(width: number, height: number): SVGElement[] {
    const { left, bottom, step } = this.frame;
    const lines: SVGElement[] = [];
    const words = (value: number): string => `${Math.round(value * 100) / 100} m`;
    for (let at = Math.ceil(left / step) * step; at <= left + this.frame.width; at += step) {
      lines.push(s("line", { class: "lines", x1: this.x(at), x2: this.x(at), y1: 0, y2: height }));
      lines.push(s("text", { class: "scale", x: this.x(at) + 3, y: height - 5 }, words(at)));
    }
    for (let at = Math.ceil(bottom / step) * step; at <= bottom + this.frame.height; at += step) {
      lines.push(s("line", { class: "lines", x1: 0, x2: width, y1: this.y(at), y2: this.y(at) }));
      lines.push(s("text", { class: "scale", x: 3, y: this.y(at) - 3 }, words(at)));
    }
    return lines;
  }

  private way({ name, places }: Ground["ways"][number]): SVGElement {
    const points = places.map(([x, y]) => `${this.x(x)},${this.y(y)}`).join(" ");
    const [x, y] = places[0] ?? [0, 0];
    return s(
      "g",
      { class: "way" },
      s("polyline", { points }),
      s("text", { x: this.x(x) + SIGN, y: this.y(y) - SIGN }, `${name} moves`),
    );
  }

  private wall(wall: Wall): SVGElement {
    const chosen = untrack(this.chosen);
    const isChosen = chosen?.link === wall.link && chosen.place === wall.place;
    const ends = { x1: this.x(wall.from[0]), y1: this.y(wall.from[1]), x2: this.x(wall.to[0]), y2: this.y(wall.to[1]) };
    const choose = (): void => {
      if (untrack(this.mode).kind === "move") this.setChosen(wall);
    };
    const made = s(
      "g",
      {
        class: isChosen ? "wall chosen" : "wall",
        tabindex: 0,
        role: "button",
        "aria-label": `wall of ${wall.link}, ${wall.loss}`,
        "aria-pressed": String(isChosen),
      },
      s("line", { class: "reach", ...ends }),
      s("line", ends),
    );
    made.addEventListener("click", choose);
    made.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") choose();
      else if (event.key === "Delete" || event.key === "Backspace") {
        this.setChosen(wall);
        this.remove();
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
    return made;
  }

  private stand(stand: Stand): SVGElement {
    const { name, at } = stand;
    const words = `${name} at ${at[0]} m east and ${at[1]} m north`;
    const made = s(
      "g",
      { class: "stand", tabindex: 0, role: "button", "aria-label": words, "data-stand": stand.path.join(".") },
      s("title", {}, words),
      s("circle", { r: SIGN }),
      s("text", { x: SIGN + 3, y: 4, "font-size": TEXT }, name),
    );
    const show = ([x, y]: Metres): void => made.setAttribute("transform", `translate(${this.x(x)} ${this.y(y)})`);
    show(at);
    made.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || untrack(this.mode).kind !== "move") return;
      event.stopPropagation();
      this.grasp(event, show, (to) => {
        if (to[0] === at[0] && to[1] === at[1]) this.draw();
        else this.act.stand(stand, to);
      });
      made.focus();
    });
    made.addEventListener("keydown", (event) => {
      const steps: Record<string, Metres> = {
        ArrowLeft: [-1, 0],
        ArrowRight: [1, 0],
        ArrowUp: [0, 1],
        ArrowDown: [0, -1],
      };
      const step = steps[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      const far = (this.frame.step / 10) * (event.shiftKey ? 10 : 1);
      const to = snapped([at[0] + step[0] * far, at[1] + step[1] * far], this.frame.step);
      announce(`${name} at ${to[0]} m east and ${to[1]} m north`);
      this.act.stand(stand, to);
    });
    return made;
  }

  private grasp(event: PointerEvent, move: (at: Metres) => void, end: (at: Metres) => void): void {
    this.svg.setPointerCapture(event.pointerId);
    this.drag = { move, end };
  }

  private down(event: PointerEvent): void {
    const mode = untrack(this.mode);
    if (event.button !== 0) return;
    const at = this.place(event);
    if (mode.kind === "put") this.put(mode.name, at);
    else if (mode.kind === "wall") this.drawWall(event, at, mode.loss);
    else if (!(event.target instanceof Element && event.target.closest(".wall"))) this.setChosen(null);
  }

  private drawWall(event: PointerEvent, from: Metres, loss: string): void {
    const [x, y] = [this.x(from[0]), this.y(from[1])];
    const line = s("line", { class: "drawn", x1: x, y1: y, x2: x, y2: y });
    this.svg.append(line);
    const show = (to: Metres): void => {
      line.setAttribute("x2", String(this.x(to[0])));
      line.setAttribute("y2", String(this.y(to[1])));
    };
    this.grasp(event, show, (to) => {
      const medium = untrack(() => this.medium());
      if (medium && (to[0] !== from[0] || to[1] !== from[1])) this.act.addWall(medium, { from, to, loss });
      else this.draw();
    });
  }

  private up(event: PointerEvent): void {
    const drag = this.drag;
    this.drag = null;
    drag?.end(this.place(event));
  }

  /** What is dragged stays where it was. */
  private give(): void {
    this.drag = null;
    this.draw();
  }

  private put(name: string, at: Metres): void {
    this.setMode({ kind: "move" });
    this.act.putDown(name, at);
  }

  private remove(): void {
    const wall = untrack(this.chosen);
    if (wall) this.act.removeWall(wall);
  }

  private key(event: KeyboardEvent): void {
    const mode = untrack(this.mode);
    if (event.key === "Escape" && this.drag) this.give();
    else if (event.key === "Escape" && mode.kind !== "move") this.setMode({ kind: "move" });
    else if ((event.key === "Delete" || event.key === "Backspace") && untrack(this.chosen)) this.remove();
    else if (event.key === "Enter" && mode.kind === "put" && this.isAtPress(event)) {
      const { left, bottom, width, height, step } = this.frame;
      this.put(mode.name, snapped([left + width / 2, bottom + height / 2], step));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Whether the key is pressed on the button that has begun to put something. */
  private isAtPress({ target }: KeyboardEvent): boolean {
    return target instanceof Element && target.getAttribute("aria-pressed") === "true";
  }
}
