// What a reader takes along: files made from the page's own data, and tables in the forms that papers want.
import { button, h, type Child } from "./dom";

export type Cell = string | number | null | undefined;
export interface Sheet { head: string[]; rows: Cell[][] }

function quoted(cell: Cell): string {
  let text = cell === null || cell === undefined ? "" : String(cell);
  // Spreadsheets would take a name that begins so for a formula.
  if (typeof cell === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

export function csv(sheet: Sheet): string {
  return [sheet.head, ...sheet.rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
}

export function markdown(sheet: Sheet): string {
  const cell = (value: Cell): string => String(value ?? "").replace(/[\\|<>*_`[\]]/g, "\\$&").replace(/\s+/g, " ");
  const line = (row: Cell[]): string => `| ${row.map(cell).join(" | ")} |`;
  return [line(sheet.head), `|${" --- |".repeat(sheet.head.length)}`, ...sheet.rows.map(line)].join("\n") + "\n";
}

const TEX: Record<string, string> = {
  "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "±": "$\\pm$", "µ": "$\\mu$", "–": "--", "→": "$\\rightarrow$",
};

export function latex(sheet: Sheet): string {
  const cell = (value: Cell): string =>
    String(value ?? "").replace(/[\\~^±µ–→]|[&%$#_{}]/g, (sign) => TEX[sign] ?? `\\${sign}`).replace(/\s+/g, " ");
  const line = (row: Cell[]): string => `  ${row.map(cell).join(" & ")} \\\\`;
  const columns = "l".repeat(sheet.head.length);
  return [`\\begin{tabular}{${columns}}`, "  \\hline", line(sheet.head), "  \\hline", ...sheet.rows.map(line), "  \\hline", "\\end{tabular}"].join("\n") + "\n";
}

/** A name that every file system takes. */
export function fileName(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "netloom";
}

export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Says what has happened to those who do not see it. */
export function announce(text: string): void {
  const place = document.getElementById("announcer");
  if (place) place.textContent = text;
}

async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages that are opened from a disk may lack the clipboard's new interface.
    const area = h("textarea", { class: "away" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  announce(`copied as ${what}`);
}

/** A row of small buttons. */
export function tools(label: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "tools", role: "group", "aria-label": label }, ...children);
}

/** Buttons that copy a table. */
export function copies(name: string, sheet: () => Sheet): HTMLElement {
  const press = (what: string, make: (sheet: Sheet) => string): HTMLButtonElement => {
    const made = button(what, () => {
      void copy(make(sheet()), what).then(() => {
        made.textContent = "copied";
        setTimeout(() => (made.textContent = what), 1200);
      });
    }, { "aria-label": `copy ${name} as ${what}`, title: `copy as ${what}` });
    return made;
  };
  return tools(`copy ${name}`, h("span", {}, "copy as"), press("Markdown", markdown), press("LaTeX", latex), press("CSV", csv));
}

/** Buttons that save a plot as a picture and its data as a table. */
export function saves(name: string, svg: () => string, sheet: () => Sheet): HTMLElement {
  const file = fileName(name);
  return tools(
    `save ${name}`,
    button("SVG", () => save(`${file}.svg`, "image/svg+xml", svg()), { "aria-label": `save ${name} as SVG`, title: "save as a picture" }),
    button("CSV", () => save(`${file}.csv`, "text/csv", csv(sheet())), { "aria-label": `save the data of ${name} as CSV`, title: "save the data" }),
  );
}
