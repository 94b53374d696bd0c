// Elements that follow signals: the reactive core of Solid with the elements of the report. There is no compiler and no second tree: what is made here is the
// element itself, and what a function gives is put anew where it stands whenever a signal that it read has changed.
import { type Accessor, createMemo, createRenderEffect, createSignal, mapArray, onCleanup, untrack } from "solid-js";
import { type Attributes, h } from "../components/dom";

export {
  type Accessor,
  batch,
  createEffect,
  createMemo,
  createRenderEffect,
  createRoot,
  createSignal,
  on,
  onCleanup,
  untrack,
} from "solid-js";

export type View = Node | string | number | boolean | null | undefined | View[] | (() => View);
type Value =
  | string
  | number
  | boolean
  | null
  | undefined
  | ((event: never) => void)
  | (() => string | number | boolean | null | undefined);

/** Attributes that say what an element is at first; what it is now is a property. */
const PROPERTIES = new Set(["value", "checked", "disabled", "selected", "hidden", "open", "indeterminate"]);

/** An element. A function is a listener if its attribute begins with `on`, else what it gives is the attribute's value. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: View[]
): HTMLElementTagNameMap[K] {
  const plain: Attributes = {};
  const later: [string, () => string | number | boolean | null | undefined][] = [];
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function" && !name.startsWith("on")) later.push([name, value as () => string]);
    else plain[name] = value as string;
  }
  const element = h(tag, plain);
  for (const child of children) place(element, child);
  // Behind the children: a list has its choices before its value.
  for (const [name, value] of later) createRenderEffect(() => put(element, name, value()));
  return element;
}

function put(element: HTMLElement, name: string, value: string | number | boolean | null | undefined): void {
  if (PROPERTIES.has(name)) {
    const known = element as unknown as Record<string, unknown>;
    if (known[name] !== value) known[name] = value;
  } else if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/** Puts a view at the end of an element. */
export function place(parent: Element, view: View): void {
  if (typeof view === "function") follow(parent, view);
  else if (Array.isArray(view))
    view.forEach((one) => {
      place(parent, one);
    });
  else if (view instanceof Node) parent.append(view);
  else if (view !== null && view !== undefined && view !== false && view !== true) parent.append(String(view));
}

/** What a view is, before it is laid out: a function within is followed by itself, so that what is around it stays. */
type Part = Node | Part[] | (() => Part);

function follow(parent: Element, view: () => View): void {
  const end = document.createComment("");
  parent.append(end);
  let shown: Node[] = [];
  const part = createMemo(() => prepare(view()));
  createRenderEffect(() => {
    const wanted = flat(part());
    const kept = new Set(wanted);
    for (const node of shown) if (!kept.has(node)) node.parentNode?.removeChild(node);
    let next: Node = end;
    for (let at = wanted.length - 1; at >= 0; at -= 1) {
      const node = wanted[at] as Node;
      if (node.nextSibling !== next || node.parentNode !== end.parentNode) end.parentNode?.insertBefore(node, next);
      next = node;
    }
    shown = wanted;
  });
}

function prepare(view: View): Part {
  if (typeof view === "function") return createMemo(() => prepare(view()));
  if (Array.isArray(view)) return view.map(prepare);
  if (view instanceof Node) return view;
  return view === null || view === undefined || view === false || view === true || view === ""
    ? []
    : document.createTextNode(String(view));
}

function flat(part: Part): Node[] {
  if (typeof part === "function") return flat(part());
  return Array.isArray(part) ? part.flatMap(flat) : [part];
}

/** A view of each entry, which stays as long as the entry does: a function that a view is, or has in it, is followed from when the entry came, and not begun anew with each list. */
export function each<T>(list: Accessor<readonly T[]>, make: (entry: T, at: Accessor<number>) => View): () => View {
  return mapArray(list, (entry: T, at) => prepare(make(entry, at))) as () => View;
}

/** Shows `view` while `is` holds; it is made anew only when that changes. */
export function when<T>(is: Accessor<T | null | undefined | false>, view: (value: Accessor<T>) => View): () => View {
  const held = createMemo(() => Boolean(is()));
  let last: T;
  return () => {
    if (!held()) return null;
    return untrack(() =>
      view(() => {
        const value = is();
        if (value) last = value;
        return last;
      }),
    );
  };
}

/** Shows `view` of the value, made anew with everything in it when the value changes. */
export function keyed<T>(value: Accessor<T>, view: (value: T) => View): () => View {
  return () => {
    const now = value();
    return untrack(() => view(now));
  };
}

export function press(text: View, act: () => void, attributes: Record<string, Value> = {}): HTMLButtonElement {
  return el("button", { type: "button", ...attributes, onclick: act }, text);
}

/** A listener of something that outlives the view. */
export function listen<K extends keyof WindowEventMap>(
  name: K,
  act: (event: WindowEventMap[K]) => void,
  { capture = false } = {},
): void {
  window.addEventListener(name, act, { capture });
  onCleanup(() => window.removeEventListener(name, act, { capture }));
}

let sight: Accessor<boolean> | null = null;

/** Whether the page is shown at all, and not behind others. */
export function inSight(): boolean {
  if (!sight) {
    const [shown, setShown] = createSignal(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", () => setShown(document.visibilityState === "visible"));
    sight = shown;
  }
  return sight();
}
