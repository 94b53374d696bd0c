// What a reader takes along: files made from the page's own data, and tables in the forms that papers want.
import { button, type Child, h } from "./dom";

export type Cell = string | number | null | undefined;
export interface Sheet {
  head: string[];
  rows: Cell[][];
}

function quoted(cell: Cell): string {
  let text = cell === null || cell === undefined ? "" : String(cell);
  // Spreadsheets would take a name that begins so for a formula.
  if (typeof cell === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

export function csv(sheet: Sheet): string {
  return `${[sheet.head, ...sheet.rows].map((row) => row.map(quoted).join(",")).join("\n")}\n`;
}

export function markdown(sheet: Sheet): string {
  const cell = (value: Cell): string =>
    String(value ?? "")
      .replace(/[\\|<>*_`[\]]/g, "\\$&")
      .replace(/\s+/g, " ");
  const line = (row: Cell[]): string => `| ${row.map(cell).join(" | ")} |`;
  return `${[line(sheet.head), `|${" --- |".repeat(sheet.head.length)}`, ...sheet.rows.map(line)].join("\n")}\n`;
}

const TEX: Record<string, string> = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "±": "$\\pm$",
  µ: "$\\mu$",
  "–": "--",
  "→": "$\\rightarrow$",
};

export function latex(sheet: Sheet): string {
  const cell = (value: Cell): string =>
    String(value ?? "")
      .replace(/[\\~^±µ–→]|[&%$#_{}]/g, (sign) => TEX[sign] ?? `\\${sign}`)
      .replace(/\s+/g, " ");
  const line = (row: Cell[]): string => `  ${row.map(cell).join(" & ")} \\\\`;
  const columns = "l".repeat(sheet.head.length);
  return `${[
    `\\begin{tabular}{${columns}}`,
    "  \\hline",
    line(sheet.head),
    "  \\hline",
    ...sheet.rows.map(line),
    "  \\hline",
    "\\end{tabular}",
  ].join("\n")}\n`;
}

/** A name that every file system takes. */
export function fileName(text: string): string {
  return (
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "")
      .slice(0, 60) || "netloom"
  );
}

export function save(name: string, type: string, content: string | Blob): void {
  const url = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content);
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
    const made = button(
      what,
      () => {
        void copy(make(sheet()), what).then(() => {
          made.textContent = "copied";
          setTimeout(() => (made.textContent = what), 1200);
        });
      },
      { "aria-label": `copy ${name} as ${what}`, title: `copy as ${what}` },
    );
    return made;
  };
  return tools(
    `copy ${name}`,
    h("span", {}, "copy as"),
    press("Markdown", markdown),
    press("LaTeX", latex),
    press("CSV", csv),
  );
}

/** Dots of a PNG for one of the SVG: 288 per inch, enough for print. */
const DENSE = 3;

/** A picture as dots. The SVG names no file and no font of elsewhere, so that the browser may draw it. */
export async function png(svg: string): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    await new Promise<void>((done, failed) => {
      image.onload = () => done();
      image.onerror = () => failed(new Error("the picture cannot be drawn"));
      image.src = url;
    });
    const canvas = h("canvas", { width: image.width * DENSE, height: image.height * DENSE });
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise<Blob>((done, failed) =>
      canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture cannot be saved"))), "image/png"),
    );
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Prints a figure by itself, in its own size, from where browsers save it as PDF. */
function print(svg: string): void {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const sheet = h("div", { class: "sheet-of-paper" }, document.importNode(parsed, true));
  document.body.append(sheet);
  document.documentElement.setAttribute("data-figure", "");
  const end = (): void => {
    sheet.remove();
    document.documentElement.removeAttribute("data-figure");
    window.removeEventListener("afterprint", end);
  };
  window.addEventListener("afterprint", end);
  window.print();
}

/** Buttons that save a plot as a picture and its data as a table. */
export function saves(name: string, svg: () => string, sheet: () => Sheet): HTMLElement {
  const file = fileName(name);
  return tools(
    `save ${name}`,
    button("SVG", () => save(`${file}.svg`, "image/svg+xml", svg()), {
      "aria-label": `save ${name} as SVG`,
      title: "save as a picture",
    }),
    button(
      "PNG",
      () => {
        png(svg()).then(
          (blob) => save(`${file}.png`, "image/png", blob),
          (error: Error) => announce(error.message),
        );
      },
      { "aria-label": `save ${name} as PNG`, title: "save as a picture of dots" },
    ),
    button("PDF", () => print(svg()), {
      "aria-label": `print ${name} or save it as PDF`,
      title: "print it by itself, or save it as PDF",
    }),
    button("CSV", () => save(`${file}.csv`, "text/csv", csv(sheet())), {
      "aria-label": `save the data of ${name} as CSV`,
      title: "save the data",
    }),
  );
}
