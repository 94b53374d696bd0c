// A short tour of each page on its first use: what is where, a few sentences at a time. Who has seen or skipped it is not asked again; the help begins it anew.
import { announce } from "../components/download";
import { type Route, route } from "./route";
import { createEffect, createMemo, createSignal, el, listen, on, onCleanup, press, untrack, type View } from "./view";
import { may, state } from "./world";

/** What is said, and of which part of the page, by a selector. */
interface Step {
  title: string;
  text: string;
  of?: string;
}

const STEPS: Partial<Record<Route["page"], Step[]>> = {
  home: [
    {
      title: "Labs, files and results",
      text: "A lab file describes a network. Bring it up, and its nodes run programs of this machine; a run leaves results. All three are listed here.",
    },
    {
      title: "Begin here",
      text: "“New lab…” makes a file with two hosts and a link, or an empty one to draw in. The three lessons at the end of this page explain queues, routing and congestion control with labs to try.",
      of: ".rows-head",
    },
    {
      title: "Everything has a name",
      text: "“Commands”, or Ctrl K, lists all that can be done on a page, with its keys.",
      of: ".bar .ends",
    },
  ],
  edit: [
    {
      title: "Draw a network",
      text: "Add hosts, routers and switches here. “Join” makes a link: press it, then two nodes. Drag nodes to where you want them.",
      of: ".maptools",
    },
    {
      title: "Say what it does",
      text: "Choose a link or a node on the map: its rate, delay, loss and queue are fields above the text. What you change there changes the text, and the other way round; Undo takes back both.",
      of: ".textside",
    },
    {
      title: "Let it run",
      text: "“Up” brings the lab up, to be watched and used. “Run” also carries out its timeline to the end and judges it. “Simulate” computes links alone, without programs.",
      of: ".labbar .controls",
    },
  ],
  lab: [
    {
      title: "A lab that is up",
      text: "Colours and widths of links say how busy they are. Choose a link for its curves, to change or cut it, or to capture its packets.",
      of: ".mapside",
    },
    {
      title: "Programs run in nodes",
      text: "Choose a host and open a terminal, or press it twice. Try ping with the name of another host.",
      of: ".mapside",
    },
    {
      title: "Is it as described?",
      text: "“Verdict” says whether the network does what the file says. “Take down” ends the lab.",
      of: ".side .tabs",
    },
  ],
  replay: [
    {
      title: "A run, packet by packet",
      text: "Play it, or step by packets. Slow down to see single packets wait, move and be dropped; press one to follow it through all links.",
      of: ".player",
    },
  ],
};

const KEY = "netloom-tour";
type Seen = "all" | string[];

function seen(): Seen {
  try {
    const text = localStorage.getItem(KEY) ?? "";
    return text === "all" ? "all" : text.split(" ").filter(Boolean);
  } catch {
    // Who cannot be remembered is not bothered on each page.
    return "all";
  }
}

function remember(now: Seen): void {
  try {
    localStorage.setItem(KEY, now === "all" ? "all" : now.join(" "));
  } catch {
    // It holds for as long as the page is open.
  }
}

const [page, setPage] = createSignal<Route["page"] | null>(null);
const [at, setAt] = createSignal(0);

const isSeen = (of: Route["page"]): boolean => {
  const known = seen();
  return known === "all" || known.includes(of);
};

/** Begins the tour of the page that is shown. */
export function beginTour(): void {
  setAt(0);
  setPage(STEPS[route().page] ? route().page : "home");
}

/** Whether the page that is shown has a tour. */
export const hasTour = (): boolean => STEPS[route().page] !== undefined;

function end(all: boolean): void {
  const of = page();
  const known = seen();
  if (all) remember("all");
  else if (of && known !== "all") remember([...new Set([...known, of])]);
  setPage(null);
}

/** The card of the tour, while there is one. It takes no focus: who knows the way goes on. */
export function tourView(): View {
  // Whoever may look on only has nothing to draw or to bring up.
  createEffect(
    on(
      () => [route().page, state()?.role] as const,
      ([now, role]) => {
        if (role === undefined) return;
        untrack(() => {
          if (page() !== null && page() !== now) end(false);
        });
        if (STEPS[now] && !isSeen(now) && (now !== "edit" || may("edit"))) {
          setAt(0);
          setPage(now);
        }
      },
    ),
  );
  const step = createMemo((): Step | null => {
    const of = page();
    return of ? (STEPS[of]?.[at()] ?? null) : null;
  });
  const count = (): number => {
    const of = page();
    return of ? (STEPS[of]?.length ?? 0) : 0;
  };
  point(step);
  createEffect(() => {
    const now = step();
    if (now) announce(`tour: ${now.title}. ${now.text}`);
  });
  const next = (): void => {
    if (at() + 1 < count()) setAt(at() + 1);
    else end(false);
  };
  return () => {
    const now = step();
    if (!now) return null;
    const isLast = at() + 1 >= count();
    return el(
      "section",
      {
        class: "tour",
        "aria-labelledby": "tour-title",
        onkeydown: (event: KeyboardEvent) => {
          if (event.key === "Escape") {
            event.stopPropagation();
            end(false);
          }
        },
      },
      el("h2", { id: "tour-title" }, now.title),
      el("p", {}, now.text),
      el(
        "div",
        { class: "controls" },
        press(isLast ? "Done" : "Next", next, { class: "first" }),
        at() > 0 ? press("Back", () => setAt(at() - 1)) : null,
        el("small", {}, `${at() + 1} of ${count()}`),
        el("span", { class: "grow" }),
        press("Skip all tours", () => end(true), { class: "plain" }),
      ),
    );
  };
}

/** Draws a line around what is spoken of, as soon as it is there. */
function point(step: () => Step | null): void {
  let marked: Element | null = null;
  const mark = (): void => {
    const of = step()?.of;
    const found = of ? document.querySelector(of) : null;
    if (found === marked) return;
    marked?.classList.remove("toured");
    found?.classList.add("toured");
    marked = found;
  };
  createEffect(() => {
    step();
    mark();
  });
  const timer = setInterval(() => {
    if (page() !== null) mark();
  }, 500);
  listen("hashchange", mark);
  onCleanup(() => clearInterval(timer));
}
