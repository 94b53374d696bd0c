// Elements by function calls. Texts are always texts: nothing here reads markup.

export type Child = Node | string | number | null | undefined | false | Child[];
type Value = string | number | boolean | null | undefined | ((event: never) => void);
export type Attributes = Record<string, Value>;

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. Attributes whose names begin with `on` are listeners. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  append(element, children);
  return element;
}

export function append(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.append(child);
    else if (child !== null && child !== undefined && child !== false) parent.append(String(child));
  }
}

/** Puts other children into an element. */
export function refill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

let last = 0;

/** An id that no other element has. */
export function fresh(prefix: string): string {
  last += 1;
  return `${prefix}-${last}`;
}

/** A part of the page with a heading, which the navigation leads to. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  const heading = `${id}-heading`;
  return h("section", { id, "aria-labelledby": heading }, h("h2", { id: heading }, title), ...children);
}

/** A choice among a few, with its name. */
export function choice(
  label: string,
  options: readonly { value: string; text: string }[],
  chosen: string,
  change: (value: string) => void,
): HTMLElement {
  const id = fresh("choice");
  const list = h("select", { id, onchange: () => change(list.value) });
  for (const option of options)
    list.append(h("option", { value: option.value, selected: option.value === chosen }, option.text));
  return h("span", { class: "choice" }, h("label", { for: id }, label), list);
}

export function button(text: string, press: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", ...attributes, onclick: press }, text);
}
