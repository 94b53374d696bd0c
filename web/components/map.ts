// The map of a lab: the picture that netloom draws, redrawn element by element, with what its links carried.
import { h, s } from "./dom";

export interface LinkUse {
  /** 0 to 1 of the described rate, of the direction that carried more; null if it is unlimited or carried nothing. */
  use: number | null;
  drops: number;
  /** What the reader is told of it. */
  words: string;
}

const ELEMENTS = new Set([
  "svg",
  "g",
  "defs",
  "path",
  "rect",
  "circle",
  "ellipse",
  "line",
  "polyline",
  "polygon",
  "text",
  "tspan",
  "title",
  "use",
  "clipPath",
]);
const ATTRIBUTES = new Set([
  "viewBox",
  "d",
  "x",
  "y",
  "x1",
  "y1",
  "x2",
  "y2",
  "cx",
  "cy",
  "r",
  "rx",
  "ry",
  "width",
  "height",
  "points",
  "transform",
  "stroke-width",
  "text-anchor",
  "data-link",
]);

/** Five classes of use, told apart by width, colour and the number beside them. */
export function grade(use: number | null): number {
  if (use === null) return 0;
  return use < 0.25 ? 1 : use < 0.5 ? 2 : use < 0.8 ? 3 : use < 0.95 ? 4 : 5;
}

/** A picture of ours in the colours of the page, or null if the text is none. */
export function picture(text: string, label: string): HTMLElement | null {
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (root.nodeName !== "svg") return null;
  const svg = copy(root) as SVGSVGElement;
  svg.setAttribute("class", "map");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  svg.querySelector(":scope > title")?.remove();
  return h("div", { class: "mapbox" }, svg);
}

/** The map, or null if the text is no picture of ours. */
export function map(
  text: string,
  name: string,
  of: (link: string) => LinkUse | null,
  choose: (link: string) => void,
): HTMLElement | null {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  const root = parsed.documentElement;
  if (root.nodeName !== "svg") return null;
  const svg = copy(root) as SVGSVGElement;
  svg.setAttribute("class", "map");
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", `the map of ${name}`);
  svg.querySelector(":scope > title")?.remove();
  const badges: SVGElement[] = [];
  const told = new Set<string>();
  for (const path of svg.querySelectorAll<SVGPathElement>("path.m-link[data-link]")) {
    const link = path.dataset.link ?? "";
    const use = of(link);
    if (!use) continue;
    path.classList.add(`m-use${grade(use.use)}`);
    if (use.drops > 0) path.classList.add("m-dropped");
    path.style.strokeWidth = String(2 + grade(use.use) * 0.8);
    path.querySelector("title")?.remove();
    path.append(s("title", {}, use.words));
    // A wider line takes the pointer.
    const wide = s(
      "path",
      { d: path.getAttribute("d"), class: "m-touch", onclick: () => choose(link) },
      s("title", {}, use.words),
    );
    path.after(wide);
    if (told.has(link) || (use.use === null && use.drops === 0)) continue;
    told.add(link);
    badges.push(badge(placeOf(svg, path, link), use, () => choose(link)));
  }
  svg.append(...badges);
  return h("div", { class: "mapbox" }, svg, legend());
}

/** The use in the middle of the line, with a sign if packets were dropped; a button for keys and pointers. */
function badge([x, y]: [number, number], use: LinkUse, choose: () => void): SVGElement {
  const words = `${use.use === null ? "" : `${Math.round(use.use * 100)} %`}${use.drops > 0 ? " ▼" : ""}`.trim();
  const half = words.length * 3.4 + 5;
  const press = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose();
  };
  return s(
    "g",
    {
      class: "m-badge",
      tabindex: 0,
      role: "button",
      "aria-label": `${words}: ${use.words}`,
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
      onclick: choose,
      onkeydown: press,
    },
    s("rect", { x: -half, y: -8, width: half * 2, height: 16, rx: 8 }),
    s("text", { y: 3.6 }, words),
  );
}

/** Below what is said of the link, or in the middle of its line. */
function placeOf(svg: SVGElement, path: SVGPathElement, link: string): [number, number] {
  const words = [...svg.querySelectorAll<SVGTextElement>("text[data-link]")].filter(
    (text) => text.dataset.link === link,
  );
  const last = words[words.length - 1];
  if (!last) return middle(path.getAttribute("d") ?? "");
  return [Number(last.getAttribute("x")), Number(last.getAttribute("y")) + 11];
}

/** Of `M x y L x y` and `M x y Q x y x y`. */
function middle(d: string): [number, number] {
  const all = (d.match(/-?\d+(\.\d+)?/g) ?? []).map(Number);
  const at = (place: number): number => all[place] ?? 0;
  if (all.length >= 6) return [at(0) / 4 + at(2) / 2 + at(4) / 4, at(1) / 4 + at(3) / 2 + at(5) / 4];
  return [(at(0) + at(2)) / 2, (at(1) + at(3)) / 2];
}

function copy(from: Element): SVGElement {
  const made = s(from.nodeName as "g");
  for (const { name, value } of from.attributes) {
    // What `use` draws does not know the classes of what is around it: each has a name of its own.
    if (name === "class")
      made.setAttribute(
        name,
        value
          .split(" ")
          .map((word) => `m-${word}`)
          .join(" "),
      );
    else if (ATTRIBUTES.has(name)) made.setAttribute(name, value);
    // Only to elements of the picture itself.
    else if (name === "href" && value.startsWith("#")) made.setAttribute(name, `#map-${value.slice(1)}`);
    else if (name === "clip-path") made.setAttribute(name, value.replace("url(#", "url(#map-"));
    if (name === "id") made.setAttribute("id", `map-${value}`);
  }
  for (const child of from.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) made.append(child.textContent ?? "");
    else if (child instanceof Element && ELEMENTS.has(child.nodeName)) made.append(copy(child));
  }
  return made;
}

function legend(): HTMLElement {
  const classes = ["nothing, or no rate", "below 25 %", "below 50 %", "below 80 %", "below 95 %", "95 % and more"];
  const key = (words: string, number: number): HTMLElement =>
    h(
      "li",
      {},
      s(
        "svg",
        { class: "map sample", width: 30, height: 12, "aria-hidden": "true" },
        s("path", { class: `m-link m-use${number}`, d: "M0 6H30", style: `stroke-width:${2 + number * 0.8}` }),
      ),
      words,
    );
  return h(
    "ul",
    {
      class: "legend",
      "aria-label": "use of links: the mean of the busier direction, as a share of its described rate",
    },
    classes.map(key),
    h(
      "li",
      {},
      s(
        "svg",
        { class: "map sample", width: 30, height: 12, "aria-hidden": "true" },
        s("path", { class: "m-link m-dropped", d: "M0 6H30", style: "stroke-width:3" }),
      ),
      "▼ dropped packets",
    ),
  );
}
