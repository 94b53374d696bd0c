// What tables of the page have in common.
import { el, type View } from "./view";

/** A table that scrolls by itself where it is wider than the page, and is reached by keys. */
export const scrolled = (label: string, table: View): View =>
  el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, table);

/** The heads of columns; those below which numbers stand are told by their place. */
export const heads = (names: readonly string[], isNumber: (place: number) => boolean): View =>
  el(
    "thead",
    {},
    el(
      "tr",
      {},
      names.map((name, place) => el("th", { scope: "col", class: isNumber(place) ? "number" : "" }, name)),
    ),
  );

export const number = (value: View): View => el("td", { class: "number" }, value);
