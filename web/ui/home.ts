// The front page: labs that are up, lab files, results.
import { fresh as freshId } from "../components/dom";
import { bytes, counted } from "../components/format";
import { api, type FileRow, type LabRow, type ResultRow } from "./api";
import { dialog } from "./dialog";
import { drafts } from "./drafts";
import { address, go } from "./route";
import { attempt, tell } from "./tell";
import { createEffect, createMemo, createSignal, each, el, press, type View, when } from "./view";
import { files, labs, may, results, state, visitors } from "./world";

/** Files and results that are listed at first. */
const FIRST = 12;

export function home(): View {
  return el(
    "div",
    { class: "page home" },
    el("h1", {}, "Labs, files and results"),
    labSection(),
    fileSection(),
    resultSection(),
    titled("learn", "Learn", [
      el(
        "p",
        {},
        el("a", { href: address("lessons") }, "Three lessons"),
        ": a bottleneck and its queue, a ring that heals, CUBIC against BBR.",
      ),
    ]),
  );
}

const titled = (id: string, title: string, content: View[]): View =>
  el("section", { "aria-labelledby": `${id}-heading` }, el("h2", { id: `${id}-heading` }, title), content);

/** Shows all of a list that is longer than what is shown at first. */
const showAll = (count: number, of: string, act: () => void): View =>
  press(`show all ${count}`, act, { "aria-label": `show all ${count} ${of}` });

function labSection(): View {
  const isShared = (): boolean => Boolean(state()?.shared) && may("edit");
  const classroom = (): View =>
    el(
      "p",
      {},
      el("a", { href: address("class") }, "Classroom"),
      isShared()
        ? `: all labs at once, and who is here: ${counted(visitors().filter(({ here }) => here).length, "person", "people")}`
        : ": all labs at once",
    );
  return titled("labs", "Labs that are up", [
    () =>
      labs().length === 0 ? el("p", { class: "none" }, "No lab is up. Open a lab file below and bring it up.") : null,
    el("ul", { class: "cards" }, each(labs, labCard)),
    () => (labs().length > 1 || isShared() ? classroom() : null),
  ]);
}

/** The lab files of the folder, read anew whenever one of them changes. */
function filesOfFolder(): () => FileRow[] {
  const [list, setList] = createSignal<FileRow[]>([]);
  createEffect(() => {
    files();
    if (state()?.folder)
      api.files().then(
        (found) => setList(found.files),
        () => undefined,
      );
  });
  return list;
}

function fileSection(): View {
  const list = filesOfFolder();
  const [wanted, setWanted] = createSignal("");
  const [all, setAll] = createSignal(false);
  const found = createMemo(() => list().filter(({ path }) => path.toLowerCase().includes(wanted().toLowerCase())));
  const search = el("input", {
    type: "search",
    class: "search",
    "aria-label": "search lab files",
    placeholder: "search lab files",
    oninput: () => setWanted(search.value),
  });
  return titled("files", "Lab files", [
    () =>
      state() && !state()?.folder
        ? el("p", { class: "none" }, "The server has no folder of lab files: start it with netloom ui FILE.")
        : null,
    el(
      "div",
      { class: "rows-head" },
      when(
        () => may("edit") && state()?.folder,
        () => press("New lab…", fresh),
      ),
      when(
        () => list().length > FIRST || wanted() !== "",
        () => search,
      ),
    ),
    el(
      "ul",
      { class: "rows" },
      each(() => (all() ? found() : found().slice(0, FIRST)), fileRow),
    ),
    () => (found().length > FIRST && !all() ? showAll(found().length, "lab files", () => setAll(true)) : null),
    () => (wanted() && found().length === 0 ? el("p", { class: "none" }, "No lab file has this in its name.") : null),
  ]);
}

const fileRow = (file: FileRow): View =>
  el(
    "li",
    {},
    el("a", { href: address("edit", file.path) }, file.path),
    () => (drafts().includes(file.path) ? el("span", { class: "badge caution" }, "not saved") : null),
    el("small", {}, file.format === "lab" ? bytes(file.size_bytes) : `${file.format}, ${bytes(file.size_bytes)}`),
  );

function resultSection(): View {
  const [all, setAll] = createSignal(false);
  const shown = (): ResultRow[] => (all() ? results() : results().slice(0, FIRST));
  return titled("results", "Results", [
    () => (results().length === 0 ? el("p", { class: "none" }, "No run has left results here.") : null),
    el("ul", { class: "rows" }, each(shown, resultRow)),
    () => (results().length > FIRST && !all() ? showAll(results().length, "results", () => setAll(true)) : null),
  ]);
}

function labCard(lab: LabRow): View {
  const count = Array.isArray(lab.nodes) ? lab.nodes.length : Number(lab.nodes ?? 0);
  return el(
    "li",
    { class: "card" },
    el("a", { class: "name", href: address("lab", lab.name) }, lab.name),
    el("span", { class: "badge good" }, lab.state ?? lab.mode ?? "up"),
    el("small", {}, `${counted(count, "node")}, ${lab.clock ?? "real"} time`),
    lab.path ? el("a", { href: address("edit", lab.path) }, "Lab file") : null,
  );
}

function resultRow(row: ResultRow): View {
  const verdict =
    row.as_described === true
      ? ["good", "as described"]
      : row.as_described === false
        ? ["bad", "NOT as described"]
        : ["", row.state.replace("_", " ")];
  return el(
    "li",
    {},
    el("a", { href: address("replay", row.id) }, row.lab),
    el("small", {}, row.name),
    el("span", { class: `badge ${verdict[0]}` }, verdict[1]),
    row.has_journal ? el("span", { class: "badge" }, "journal") : null,
    el("small", {}, bytes(row.size_bytes)),
  );
}

const EXAMPLE = `name: my-lab
nodes:
  client: {}
  server: {}
links:
  access: {ends: [client, server], rate: 10 Mbit/s, delay: 10 ms, queue: 50 packets}
timeline:
  - {on: client, run: ping -c 5 -i 0.2 server, as: reach}
expect:
  - reach.exit == 0
`;

/** A new file: with a small network in it, or with its name alone. */
function fresh(): void {
  dialog("New lab", (close) => {
    const id = freshId("file");
    const input = el("input", {
      id,
      type: "text",
      value: "my-lab.yaml",
      spellcheck: "false",
      onkeydown: (event: KeyboardEvent) => {
        if (event.key === "Enter") make(EXAMPLE);
      },
    });
    const make = (text: string): void => {
      const name = input.value.trim();
      if (!name) {
        tell("the file needs a name", true);
        return;
      }
      const path = /\.ya?ml$/.test(name) ? name : `${name}.yaml`;
      attempt(async () => {
        await api.write(
          path,
          text.replace(
            "my-lab",
            path
              .replace(/^.*\//, "")
              .replace(/\.ya?ml$/, "")
              .toLowerCase()
              .replace(/[^a-z0-9-]+/g, "-"),
          ),
          null,
        );
        close();
        go("edit", path);
      });
    };
    return [
      el("div", { class: "field" }, el("label", { for: id }, "file"), input),
      el("p", { class: "about" }, "It begins with two hosts that reach each other, or empty, to draw in."),
      el(
        "div",
        { class: "controls" },
        press("Two hosts and a link", () => make(EXAMPLE), { class: "first" }),
        press("Empty", () => make("name: my-lab\n")),
        press("Cancel", close),
      ),
    ];
  });
}
