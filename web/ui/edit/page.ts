// A lab file: its map and its text side by side, each change in one at once in the other.
import { announce, png, save } from "../../components/download";
import { counted } from "../../components/format";
import { api, type Checked, type Problem, Refusal } from "../api";
import { type Command, offer } from "../commands";
import { drafts, keepDraft, takeDraft } from "../drafts";
import { keys } from "../forms";
import { MapCanvas } from "../map/canvas";
import { mapSvg } from "../map/export";
import { graphOf } from "../map/model";
import { address, go } from "../route";
import { attempt, tell } from "../tell";
import {
  createEffect,
  createMemo,
  createSignal,
  el,
  keyed,
  listen,
  on,
  onCleanup,
  press,
  untrack,
  type View,
} from "../view";
import { mapButtons } from "../watch/page";
import { reportView } from "../watch/verdict";
import { disk, jobs, labs, may, reached } from "../world";
import { type Actions, actions } from "./actions";
import { exporter, generator, importer } from "./dialogs";
import { merge } from "./merge";
import { partForm } from "./part";
import { makeSource, type Source } from "./source";
import { entryAt, valueAt } from "./spans";

/** How long after the last letter the text is checked, in ms. */
const CHECK_MS = 200;
/** How long saving waits for changes of forms, which wait for the text to be checked, in ms. */
const SAVE_MS = 2_000;

interface Loaded {
  text: string;
  etag: string | null;
}
/** What is chosen on the map; a node or link that only got another name is the same still. */
export interface Chosen {
  nodes: string[];
  links: string[];
}

export function editPage(path: string): View {
  const [loaded, setLoaded] = createSignal<Loaded | null>(null);
  const [why, setWhy] = createSignal("");
  api.read(path).then(setLoaded, (error: Error) => {
    // Of a file that is gone, what was written here is left.
    if (untrack(drafts).includes(path) && error instanceof Refusal && error.status === 404)
      setLoaded({ text: "", etag: null });
    else setWhy(error.message);
  });
  return () => {
    const known = loaded();
    if (!known)
      return el(
        "div",
        { class: "page" },
        el("h1", {}, path),
        why()
          ? el("p", { class: "error", role: "alert" }, why())
          : el("p", { class: "loading", role: "status" }, "reading the file…"),
      );
    return untrack(() => editor(path, known));
  };
}

function editor(path: string, loaded: Loaded): View {
  const crlf = loaded.text.includes("\r\n");
  const plain = (text: string): string => text.replace(/\r\n?/g, "\n");
  const draft = takeDraft(path);
  let base = draft?.base ?? plain(loaded.text);
  let etag = draft ? draft.etag : loaded.etag;
  const [dirty, setDirty] = createSignal(draft !== null);
  // What was found and the text that it was found in are one: places of the one in the other text would be wrong.
  const [found, setFound] = createSignal<{ checked: Checked; text: string } | null>(null);
  const checked = (): Checked | null => found()?.checked ?? null;
  const fresh = (): string => found()?.text ?? "";
  const [chosen, setChosen] = createSignal<Chosen>({ nodes: [], links: [] });
  const [job, setJob] = createSignal<number | null>(null);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking: AbortController | null = null;
  const source: Source = makeSource(draft?.text ?? base, !may("edit"), keys, () => {
    setDirty(source.text() !== base);
    clearTimeout(timer);
    timer = setTimeout(check, CHECK_MS);
  });
  const check = (): void => {
    asking?.abort();
    const abort = new AbortController();
    asking = abort;
    const text = source.text();
    api.check(path, text, abort.signal).then(
      (checked) => {
        if (text !== source.text()) return;
        setFound({ checked, text });
        source.show(checked);
        act.checked();
      },
      (error: Error) => {
        if (!abort.signal.aborted) tell(error.message, true);
      },
    );
  };
  check();
  const act: Actions = actions({
    source,
    checked,
    fresh,
    chosen,
    select: (nodes, links) => map.choose(nodes, links),
    inSight: () => map.middle(),
  });
  const wrong = createMemo(
    () =>
      new Set((checked()?.errors ?? []).flatMap(({ key }) => /^(?:nodes|links)\.([^.[]+)/.exec(key ?? "")?.[1] ?? [])),
  );
  const map: MapCanvas = new MapCanvas({
    label: `map of ${path}`,
    choose: ({ nodes, links }, open) => {
      setChosen({ nodes: [...nodes], links: [...links] });
      if (joining() !== null) joinNext([...nodes]);
      else if (open) {
        const name = [...nodes, ...links][0];
        const span =
          name === undefined ? undefined : entryAt(checked()?.tree ?? null, [nodes.size > 0 ? "nodes" : "links", name]);
        if (span) source.goTo(span.from, span.to);
      }
    },
    words: ({ node, link }) => {
      const error = checked()?.errors.find(({ key }) =>
        key?.startsWith(node !== undefined ? `nodes.${node}` : `links.${link}`),
      );
      const words =
        node !== undefined
          ? `${map.graph.spots[map.graph.byNode.get(node) ?? -1]?.kind ?? "node"} ${node}`
          : `link ${link}: ${
              checked()
                ?.scene?.links.find(({ name }) => name === link)
                ?.words?.join("; ") ?? ""
            }`;
      return error ? `${words} – ${error.message}` : words;
    },
    ...(may("edit") ? { move: (moved: Map<string, [number, number]>) => act.place(moved) } : {}),
    over: (_map, pen, c): null => {
      pen.strokeStyle = c.bad;
      pen.lineWidth = 2.5;
      for (const spot of map.graph.spots)
        if (wrong().has(spot.name)) {
          const [x, y] = map.place(spot);
          pen.beginPath();
          pen.arc(x, y, map.nodeSize + 8, 0, 2 * Math.PI);
          pen.stroke();
        }
      for (const line of map.graph.lines)
        if (wrong().has(line.name)) {
          const [x, y] = map.on(line, 0.5);
          pen.beginPath();
          pen.arc(x, y, 9, 0, 2 * Math.PI);
          pen.stroke();
        }
      return null;
    },
    key: (event) => {
      if ((event.key === "Delete" || event.key === "Backspace") && may("edit")) act.removeChosen();
      else if (event.key === "Escape" && joining() !== null) endJoining();
      else return false;
      return true;
    },
  });
  const [joining, setJoining] = createSignal<string | null>(null);
  const endJoining = (): void => {
    setJoining(null);
    announce("no link is made");
  };
  const join = (): void => {
    const { nodes } = chosen();
    if (joining() !== null) endJoining();
    else if (nodes.length === 2 && nodes[0] !== undefined && nodes[1] !== undefined) act.join(nodes[0], nodes[1]);
    else {
      setJoining(nodes.length === 1 ? (nodes[0] ?? "") : "");
      announce(joiningWords());
    }
  };
  const joinNext = (nodes: string[]): void => {
    const from = joining();
    const next = nodes.find((name) => name !== from);
    if (next === undefined) return;
    if (!from) {
      setJoining(next);
      announce(joiningWords());
    } else {
      setJoining(null);
      act.join(from, next);
    }
  };
  const joiningWords = (): string =>
    `${joining() ? `${joining()} is joined with the node that you choose next` : "Choose the two nodes that the link joins, one after the other"}; Escape ends it.`;
  createEffect(() => {
    const scene = checked()?.scene;
    if (scene) map.show(graphOf(scene));
  });
  createEffect(on(wrong, () => map.draw()));
  // Labels of links say what they are set to.
  createEffect(() => {
    checked();
    map.look(
      map.graph.links.map((name) => ({
        grade: 2,
        dropping: false,
        down: false,
        label: (checked()?.scene?.links.find((link) => link.name === name)?.words?.[0] ?? "")
          .split(", ")
          .slice(0, 2)
          .join(", "),
        queue: [0, 0],
        flow: [0, 0],
      })),
    );
  });
  const take = (theirs: string, tag: string): void => {
    const { text, conflict } = merge(base, source.text(), theirs);
    [base, etag] = [theirs, tag];
    source.replace(text);
    setDirty(text !== base);
    tell(
      conflict
        ? "The file was changed here and on disk at the same place: both are in the text, between marks."
        : "The file was changed on disk: both changes are in the text.",
      conflict,
    );
    check();
  };
  createEffect(
    on(disk, (event) => {
      if (!event || event.path !== path || event.etag === etag || saving) return;
      if (event.etag === null) removed();
      else attempt(look);
    }),
  );
  /** Saving writes it anew then. */
  const removed = (): void => {
    [base, etag] = ["", null];
    setDirty(true);
    tell("The file was removed from disk; the text is still here, and saving writes the file anew.", true);
  };
  const look = async (): Promise<void> => {
    const now = await api.read(path).catch((error: unknown) => {
      if (error instanceof Refusal && error.status === 404) return null;
      throw error;
    });
    if (saving) return;
    if (now === null) {
      if (etag !== null) removed();
    } else if (now.etag !== etag) take(plain(now.text), now.etag);
  };
  if (draft) {
    if (loaded.etag === null && draft.etag !== null) queueMicrotask(removed);
    else if (loaded.etag !== null && loaded.etag !== draft.etag)
      queueMicrotask(() => take(plain(loaded.text), loaded.etag ?? ""));
    else tell("What you had written here and not saved is still here.");
  }
  // What happened while the server was away, nobody has told.
  createEffect(
    on(reached, (is, was) => {
      if (is && was === false) attempt(look);
    }),
  );
  let saving = false;
  const write = async (): Promise<void> => {
    // What a form has changed a moment ago is saved, too; a server that does not check keeps nobody from saving.
    await Promise.race([act.idle(), new Promise((done) => setTimeout(done, SAVE_MS))]);
    const text = source.text();
    saving = true;
    try {
      etag = await api.write(path, crlf ? text.replaceAll("\n", "\r\n") : text, etag);
      base = text;
      setDirty(source.text() !== base);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 412) throw error;
      const theirs = error.body.text;
      if (typeof theirs === "string") take(plain(theirs), String(error.body.etag));
      else {
        removed();
        throw new Error("nothing was saved: the file is not there any more");
      }
      throw new Error("somebody else has written the file meanwhile: look at the text, and save again");
    } finally {
      saving = false;
    }
  };
  const start = (command: "up" | "run" | "sim"): void =>
    attempt(async () => {
      await act.idle();
      if (dirty()) await write();
      setJob((await api.start({ command, path })).id);
    });
  listen("beforeunload", (event) => {
    if (dirty()) event.preventDefault();
  });
  onCleanup(() => {
    if (dirty() && may("edit")) keepDraft(path, { text: source.text(), base, etag });
    clearTimeout(timer);
    asking?.abort();
    source.destroy();
    map.destroy();
  });
  const edit = may("edit");
  const isEmpty = createMemo(
    () =>
      checked() !== null &&
      (valueAt(checked()?.tree ?? null, ["nodes"])?.map ?? []).length === 0 &&
      (checked()?.scene?.nodes ?? []).length === 0,
  );
  offer((): Command[] => [
    ...(edit
      ? [
          { name: "Save the file", keys: "Mod+s", act: () => attempt(write, "saved") },
          { name: "Bring the lab up", act: () => start("up") },
          { name: "Run the lab", act: () => start("run") },
          { name: "Simulate the links", act: () => start("sim") },
          { name: "Undo", keys: "Mod+z", act: source.undo },
          { name: "Redo", keys: "Mod+y", act: source.redo },
          ...(["host", "router", "switch", "hub", "transit"] as const).map((kind, place) => ({
            name: `Add a ${kind}`,
            keys: ["n", "r", "s", "", ""][place] ?? "",
            act: () => act.addNode(kind),
          })),
          { name: joining() === null ? "Join nodes by a link" : "Join no nodes", keys: "j", act: join },
          ...(joining() === null ? [] : [{ name: "End joining", keys: "Escape", act: endJoining }]),
          { name: "Copy what is chosen", keys: "c", act: act.copy },
          { name: "Paste", keys: "v", act: act.paste },
          { name: "Remove what is chosen", keys: "Delete", act: act.removeChosen },
          { name: "Align chosen nodes in a row", act: () => act.align("row") },
          { name: "Align chosen nodes in a column", act: () => act.align("column") },
          { name: "Put chosen nodes around a circle", act: () => act.align("circle") },
          {
            name: "Keep all places in the file",
            act: () =>
              act.place(
                new Map(map.graph.spots.filter(({ name }) => name).map((spot) => [spot.name, [spot.x, spot.y]])),
              ),
          },
          { name: "Forget all places of the file", act: act.forget },
          { name: "Generate a network…", act: () => generator(source.text().trim() === "" ? source.replace : null) },
          { name: "Import a file of another tool…", act: importer },
        ]
      : []),
    { name: "Export for another tool…", act: () => exporter(path, source.text()) },
    { name: "Save the map as SVG", act: () => save("lab.svg", "image/svg+xml", mapSvg(map, [], `map of ${path}`)) },
    {
      name: "Save the map as PNG",
      act: () => attempt(async () => save("lab.png", "image/png", await png(mapSvg(map, [], `map of ${path}`)))),
    },
    { name: "Go to the map", keys: "m", act: () => map.element.focus() },
    { name: "Go to the text", keys: "e", act: () => source.view.focus() },
    ...(checked()?.scene?.nodes ?? [])
      .slice(0, 300)
      .map(({ name }) => ({ name: `Show node ${name}`, act: () => map.choose([name], []) })),
    ...(checked()?.scene?.links ?? [])
      .slice(0, 300)
      .map(({ name }) => ({ name: `Show link ${name}`, act: () => map.choose([], [name]) })),
  ]);
  const lab = createMemo(() => labs().find((row) => row.path === path));
  return el(
    "div",
    { class: "lab edit" },
    el(
      "div",
      { class: "labbar" },
      el("h1", {}, path),
      () => (dirty() ? el("span", { class: "badge caution" }, "not saved") : null),
      () => verdict(checked()),
      el("span", { class: "grow" }),
      edit
        ? el(
            "span",
            { class: "controls" },
            press("Save", () => attempt(write, "saved"), { disabled: () => !dirty() }),
            press("Up", () => start("up"), { title: "bring the lab up and watch it" }),
            press("Run", () => start("run"), { class: "first" }),
            press("Simulate", () => start("sim")),
          )
        : null,
      () => (lab() ? el("a", { href: address("lab", lab()?.name ?? "") }, "watch it") : null),
    ),
    el(
      "div",
      { class: "editmain" },
      el(
        "div",
        { class: "mapside" },
        map.element,
        mapButtons(map),
        edit
          ? el(
              "div",
              { class: "maptools", role: "group", "aria-label": "add" },
              (["host", "router", "switch"] as const).map((kind) =>
                press(`+ ${kind}`, () => act.addNode(kind), {
                  title: `add a ${kind} (${kind === "host" ? "N" : kind === "router" ? "R" : "S"})`,
                }),
              ),
              press("Join", join, {
                "aria-pressed": () => String(joining() !== null),
                title: "join two nodes by a link (J)",
              }),
              press("Undo", source.undo, { title: "undo the last change (Ctrl Z)" }),
              () =>
                joining() !== null
                  ? el("p", { class: "hint" }, joiningWords())
                  : isEmpty()
                    ? el(
                        "p",
                        { class: "hint" },
                        "Nothing is drawn yet: add hosts, routers and switches, then join them by links.",
                      )
                    : null,
            )
          : null,
      ),
      el(
        "div",
        { class: "textside" },
        el(
          "div",
          { class: "partbox" },
          keyed(
            createMemo(() => formOf(chosen())),
            () => partForm({ chosen, checked, fresh, act, edit }),
          ),
        ),
        source.view.dom,
        () => problems(checked()?.errors ?? [], source),
        () => running(job(), setJob),
      ),
    ),
  );
}

/** Which form a choice has: one of a single node or link follows its name. */
const formOf = ({ nodes, links }: Chosen): string =>
  nodes.length + links.length === 1 ? (nodes.length === 1 ? "node" : "link") : JSON.stringify([nodes, links]);

function verdict(checked: Checked | null): View {
  if (!checked) return null;
  const count = checked.errors.length;
  return count === 0
    ? el("span", { class: "badge good" }, "right")
    : el("span", { class: "badge bad" }, counted(count, "error"));
}

function problems(errors: readonly Problem[], source: Source): View {
  if (errors.length === 0) return null;
  return el(
    "ol",
    { class: "problems", "aria-label": "errors" },
    errors.slice(0, 100).map((error) =>
      el(
        "li",
        {},
        press(error.line > 0 ? `line ${error.line}` : "file", () => source.goTo(error.from ?? 0, error.to), {
          class: "plain",
        }),
        " ",
        error.key ? [el("code", {}, error.key), ": "] : null,
        error.message,
      ),
    ),
  );
}

/** What a run says as it goes on. */
function running(id: number | null, set: (id: number | null) => void): View {
  const job = id === null ? undefined : jobs()[id];
  if (!job) return null;
  const box = el(
    "pre",
    { class: "joblog", tabindex: 0, role: "log", "aria-label": "what the command says" },
    (job.lines ?? []).slice(-200).join("\n"),
  );
  queueMicrotask(() => {
    box.scrollTop = box.scrollHeight;
  });
  if (job.state === "over" && job.command === "up" && job.exit_code === 0 && job.lab) {
    set(null);
    go("lab", job.lab);
    return null;
  }
  return el(
    "section",
    { class: "job", "aria-label": "the run" },
    el(
      "div",
      { class: "controls" },
      el("strong", {}, `${job.command} ${job.lab ?? ""}`),
      el(
        "span",
        { class: `badge ${job.state === "over" ? (job.exit_code === 0 ? "good" : "bad") : "caution"}` },
        job.state === "over" ? `over, exit code ${job.exit_code}` : "going on",
      ),
      job.lab && job.state !== "over" && job.command !== "sim"
        ? el("a", { href: address("lab", job.lab) }, "watch it")
        : null,
      job.results ? el("a", { href: address("replay", job.results) }, "results") : null,
      job.state !== "over" ? press("End", () => attempt(() => api.endJob(job.id))) : press("Close", () => set(null)),
    ),
    box,
    job.report ? el("div", { class: "panel" }, reportView(job.report)) : null,
  );
}
