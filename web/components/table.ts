// Tables that can be sorted, copied, and read on a narrow screen.
import { type Child, h } from "./dom";
import { announce, copies, type Sheet } from "./download";
import { counted } from "./format";

export interface Column<R> {
  name: string;
  /** What is shown. */
  show: (row: R) => Child;
  /** What is copied, and what rows are sorted by; null: what is not to be copied. */
  value: (row: R) => string | number | null | undefined;
  numeric?: boolean;
  about?: string;
}

/** A table with a caption. More rows than `most` are behind a button. */
export function table<R>(
  caption: string,
  columns: Column<R>[],
  rows: R[],
  { most = 200, copy = true } = {},
): HTMLElement {
  let order = [...rows];
  let by: { column: Column<R>; down: boolean } | null = null;
  let shown = Math.min(most, rows.length);
  const body = h("tbody");
  const more = h("button", {
    type: "button",
    class: "more",
    onclick: () => {
      shown = Math.min(shown + 1000, order.length);
      fill();
    },
  });
  const fill = (): void => {
    body.replaceChildren(
      ...order.slice(0, shown).map((row) =>
        h(
          "tr",
          {},
          columns.map((column, place) =>
            place === 0
              ? h("th", { scope: "row" }, column.show(row))
              : h("td", column.numeric ? { class: "number" } : {}, column.show(row)),
          ),
        ),
      ),
    );
    more.hidden = shown >= order.length;
    more.textContent = `show more of ${counted(order.length, "row")}`;
  };
  const heads = columns.map((column) => {
    const head = h("th", { scope: "col", class: column.numeric ? "number" : null, title: column.about ?? null });
    if (rows.length < 2) {
      head.append(column.name);
      return head;
    }
    head.append(
      h(
        "button",
        {
          type: "button",
          class: "sort",
          onclick: () => {
            by = { column, down: by?.column === column ? !by.down : column.numeric === true };
            order = [...rows].sort(
              (one, other) => compare(column.value(one), column.value(other)) * (by?.down ? -1 : 1),
            );
            heads.forEach((other) => {
              other.removeAttribute("aria-sort");
            });
            head.setAttribute("aria-sort", by.down ? "descending" : "ascending");
            announce(`sorted by ${column.name}, ${by.down ? "largest first" : "smallest first"}`);
            fill();
          },
        },
        column.name,
      ),
    );
    return head;
  });
  fill();
  const sheet = (): Sheet => ({
    head: columns.map((column) => column.name),
    rows: order.map((row) => columns.map((column) => column.value(row))),
  });
  return h(
    "div",
    { class: "tablebox" },
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
      h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, heads)), body),
    ),
    more,
    copy && rows.length > 0 ? copies(caption, sheet) : null,
  );
}

type Sortable = string | number | null | undefined;

/** What there is comes before what there is not. */
function compare(one: Sortable, other: Sortable): number {
  if (one === null || one === undefined) return other === null || other === undefined ? 0 : 1;
  if (other === null || other === undefined) return -1;
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), "en", { numeric: true });
}
