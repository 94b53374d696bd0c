// What all pages have: a head, a way around, and a foot.
import { type Child, h } from "../components/dom";
import { themeButton } from "../components/theme";

export interface Head {
  title: string;
  under: Child[];
  sections: (HTMLElement | null)[];
  notes?: string[];
}

/** A page of sections; those that have nothing to show are null. */
export function frame({ title, under, sections, notes = [] }: Head): HTMLElement {
  const shown = sections.filter((section): section is HTMLElement => section !== null);
  const ways = shown.map((section) =>
    h("li", {}, h("a", { href: `#${section.id}` }, section.querySelector("h2")?.textContent ?? section.id)),
  );
  return h(
    "div",
    {},
    h("a", { class: "skip", href: "#content" }, "to the content"),
    h(
      "header",
      { class: "top" },
      h("div", { class: "headline" }, h("h1", {}, title), themeButton()),
      h("p", { class: "under" }, ...under),
      h("nav", { "aria-label": "sections" }, h("ul", {}, ways)),
    ),
    h(
      "main",
      { id: "content", class: "page" },
      notes.map((note) => h("p", { class: "note" }, note)),
      shown,
    ),
    h("footer", {}, "Made by Netloom from the files of the results folder; nothing on this page comes from elsewhere."),
  );
}

/** A value with its name, one of a row of them. */
export function fact(name: string, value: Child, about?: string): HTMLElement {
  return h("div", { class: "fact", title: about ?? null }, h("dt", {}, name), h("dd", {}, value));
}

export function facts(...all: (HTMLElement | null)[]): HTMLElement {
  return h(
    "dl",
    { class: "facts" },
    all.filter((one) => one !== null),
  );
}

/** A word with a sign and a colour. */
export function badge(kind: "good" | "bad" | "caution" | "plain", words: string): HTMLElement {
  const sign = { good: "✔", bad: "✘", caution: "!", plain: "·" }[kind];
  return h("span", { class: `badge ${kind}` }, h("span", { "aria-hidden": "true" }, `${sign} `), words);
}
