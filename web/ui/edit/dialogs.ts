// Networks of well-known shapes, and files of other tools, as new lab files.
import { fresh } from "../../components/dom";
import { fileName, save } from "../../components/download";
import { api } from "../api";
import { dialog } from "../dialog";
import { exampleOf } from "../forms";
import { go } from "../route";
import { attempt, tell } from "../tell";
import { el, press } from "../view";

async function create(stem: string, text: string): Promise<void> {
  const taken = new Set((await api.files()).files.map(({ path }) => path));
  let name = `${fileName(stem)}.yaml`;
  for (let number = 2; taken.has(name); number += 1) name = `${fileName(stem)}-${number}.yaml`;
  await api.write(name, text, null);
  go("edit", name);
}

/** A network of a well-known shape: into this file if it is empty, else into a new one. */
export function generator(into: ((text: string) => void) | null): void {
  attempt(async () => {
    const { generators } = await api.generators();
    dialog("Generate a network", (close) => {
      const fields = el("div");
      const inputs = new Map<string, HTMLInputElement>();
      const about = el("p", { class: "about" });
      const id = fresh("kind");
      const show = (): void => {
        const kind = generators.find((one) => one.kind === list.value);
        about.textContent = kind?.doc ?? "";
        inputs.clear();
        fields.replaceChildren(
          ...(kind?.keys ?? [])
            .filter(({ name }) => name !== "kind")
            .map((key) => {
              const own = fresh("key");
              const input = el("input", {
                id: own,
                type: "text",
                placeholder: `e.g. ${exampleOf(key)}`,
                required: key.required,
                value: key.required ? exampleOf(key) : "",
              });
              inputs.set(key.name, input);
              return el(
                "div",
                { class: "field" },
                el("label", { for: own }, key.name),
                input,
                el("p", { class: "doc" }, key.doc),
              );
            }),
        );
      };
      const list = el(
        "select",
        { id, onchange: show },
        generators.map(({ kind }) => el("option", { value: kind }, kind)),
      );
      show();
      const make = (): void =>
        attempt(async () => {
          const keys = Object.fromEntries(
            [...inputs].map(([name, input]) => [name, input.value.trim()] as const).filter(([, value]) => value !== ""),
          );
          const { text } = await api.generate(list.value, keys, list.value.replaceAll("_", "-"));
          close();
          if (into) into(text);
          else await create(list.value, text);
        });
      return [
        el("p", { class: "choice" }, el("label", { for: id }, "shape"), list),
        about,
        fields,
        el("div", { class: "controls" }, press("Make", make, { class: "first" }), press("Cancel", close)),
      ];
    });
  });
}

/** The largest file that is read, as the server takes it. */
const MOST_BYTES = 6 << 20;

export function importer(): void {
  const input = el("input", {
    type: "file",
    onchange: () => {
      const file = input.files?.[0];
      if (!file) return;
      if (file.size > MOST_BYTES)
        return tell(`${file.name} is larger than 6 MB: convert it with netloom convert`, true);
      attempt(async () => {
        const { text, notes, format } = await api.convert(file.name, await file.text());
        await create(file.name.replace(/\.[^.]*$/, ""), text);
        tell(
          `read as ${format}${notes.length > 0 ? `; what a lab does not have:\n${notes.slice(0, 20).join("\n")}` : ""}`,
          notes.length > 0,
        );
      });
    },
  });
  input.click();
}

export function exporter(path: string, text: string): void {
  attempt(async () => {
    const { targets } = await api.formats();
    dialog("Export for another tool", (close) => [
      el("p", { class: "about" }, "What the other tool does not support is listed afterwards."),
      el(
        "div",
        { class: "controls" },
        targets.map(({ name }) =>
          press(name, () =>
            attempt(async () => {
              const made = await api.export(path, text, name);
              save(`${fileName(path)}.${name}`, "text/plain", made.text);
              close();
              if (made.notes.length > 0) tell(made.notes.slice(0, 20).join("\n"), true);
            }),
          ),
        ),
        press("Cancel", close),
      ),
    ]);
  });
}
