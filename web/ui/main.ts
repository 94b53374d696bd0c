// The page of `netloom ui`: what is open, and the frame around it. Everything heavy is loaded when it is needed.
import "../components/style.css";
import "./ui.css";
import { startTheme, themeButton } from "../components/theme";
import type { Opened } from "./api";
import { offer, startKeys } from "./commands";
import { help } from "./help";
import { home } from "./home";
import { palette, paletteButton } from "./palette";
import { address, go, route } from "./route";
import { leaveNotes, notesView, tell } from "./tell";
import { beginTour, tourView } from "./tour";
import { createMemo, createRoot, createSignal, el, keyed, place, press, type View } from "./view";
import { labs, lasting, other, reached, startWorld, state } from "./world";

function begin(opened: Opened | null): void {
  if (location.hash.length > 2 || !opened) return;
  if (opened.kind === "file" && opened.path) go("edit", opened.path);
  else if (opened.kind === "lab" && opened.name) go("lab", opened.name);
  else if (opened.kind === "results" && opened.id) go("replay", opened.id);
}

/** A page of its own file, shown when it is there. */
function later(load: () => Promise<() => View>): View {
  const [made, setMade] = createSignal<(() => View) | null>(null);
  load().then(
    (view) => setMade(() => view),
    (error: unknown) => tell(`a part of this page could not be loaded: ${String(error)}`, true),
  );
  return () => made()?.() ?? el("p", { class: "loading", role: "status" }, "loading…");
}

function page(): View {
  // Other keys of an address are no other page.
  const where = createMemo(() => JSON.stringify([route().page, route().name]));
  return keyed(where, (text) => {
    const [kind, name] = JSON.parse(text) as [string, string];
    leaveNotes();
    document.title = name ? `${name} – Netloom` : "Netloom";
    if (kind === "lab")
      return later(async () => {
        const { labPage } = await import("./watch/page");
        return () => labPage(name);
      });
    if (kind === "replay")
      return later(async () => {
        const { replayPage } = await import("./replay/page");
        return () => replayPage(name);
      });
    if (kind === "edit")
      return later(async () => {
        const { editPage } = await import("./edit/page");
        return () => editPage(name);
      });
    if (kind === "lessons")
      return later(async () => {
        const { lessonsPage } = await import("./teach/page");
        return () => lessonsPage(name);
      });
    if (kind === "class")
      return later(async () => {
        const { classPage } = await import("./teach/class");
        return () => classPage();
      });
    return home();
  });
}

function frame(): HTMLElement {
  startKeys();
  offer(() => [
    { name: "Go to the front page", keys: "g", act: () => go("home") },
    { name: "Lessons", act: () => go("lessons") },
    { name: "Classroom: all labs at once", act: () => go("class") },
    { name: "Help: keys of this page", keys: "?", act: help },
    { name: "Show the tour of this page", act: beginTour },
    { name: "Light or dark colours", act: () => theme.click() },
    {
      name: "Presenter's view: large type, no panels",
      keys: "Shift+F8",
      act: () => document.documentElement.toggleAttribute("data-present"),
    },
    ...labs().map((lab) => ({ name: `Watch lab ${lab.name}`, act: () => go("lab", lab.name) })),
  ]);
  const theme = themeButton();
  return el(
    "div",
    { class: "frame" },
    el(
      "header",
      { class: "bar" },
      el("a", { class: "brand", href: address("home") }, "Netloom"),
      el("div", { class: "crumb", id: "crumb" }),
      el(
        "div",
        { class: "ends" },
        () =>
          state()?.role === "edit"
            ? null
            : el(
                "span",
                { class: "badge" },
                `${state()?.name ? `${state()?.name ?? ""}, ` : ""}role: ${state()?.role ?? "…"}`,
              ),
        paletteButton(),
        press("?", help, { "aria-label": "help", title: "help (?)" }),
        theme,
      ),
    ),
    tourView(),
    () =>
      reached() && !lasting()
        ? null
        : el(
            "p",
            { class: "note strip", role: "alert" },
            lasting() || "The connection to netloom ui was lost. This page tries to connect again…",
          ),
    () =>
      other()
        ? el(
            "p",
            { class: "note strip", role: "alert" },
            "The server is of another version of Netloom than this page. ",
            press("Reload", () => location.reload()),
          )
        : null,
    el("main", { id: "main", tabindex: -1 }, page()),
    palette(),
    notesView(),
  );
}

startTheme();
const app = document.getElementById("app");
if (app) {
  startWorld().then(
    (known) => begin(known.opened),
    (error: Error) => tell(error.message, true),
  );
  createRoot(() => place(app, frame()));
}
