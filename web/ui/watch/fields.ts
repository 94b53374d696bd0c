// Small fields of what is done by hand: a word of a few, or a text.
import { fresh } from "../../components/dom";
import { type Accessor, el, type View } from "../view";

export function choice<T extends string>(
  name: string,
  all: readonly (readonly [T, string])[],
  value: Accessor<T>,
  set: (value: T) => void,
): View {
  const id = fresh("fault");
  return el(
    "span",
    { class: "choice" },
    el("label", { for: id }, name),
    el(
      "select",
      { id, value, onchange: (event: Event) => set((event.target as HTMLSelectElement).value as T) },
      all.map(([one, words]) => el("option", { value: one }, words)),
    ),
  );
}

/** `about` is the name of the field for who does not see where it stands. */
export function text(
  name: string,
  value: Accessor<string>,
  set: (value: string) => void,
  placeholder: string,
  about: string | null = null,
): View {
  const id = fresh("fault");
  return el(
    "span",
    { class: "choice" },
    el("label", { for: id }, name),
    el("input", {
      id,
      type: "text",
      size: 9,
      value,
      placeholder,
      "aria-label": about,
      oninput: (event: Event) => set((event.target as HTMLInputElement).value),
    }),
  );
}
