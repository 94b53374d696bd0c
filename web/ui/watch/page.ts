// A lab that is up: its map, what it carries, and everything that can be done to it.

import { offer } from "../commands";
import { mapButtons } from "../map/buttons";
import { address } from "../route";
import { el, type View } from "../view";
import { bar } from "./bar";
import { commandsOf } from "./commands";
import { legend } from "./legend";
import { side } from "./side";
import { Watching } from "./watching";

export function labPage(name: string): View {
  const watching = new Watching(name);
  const { lab, map, mode, book, dock } = watching;
  offer(commandsOf(watching));
  return el(
    "div",
    { class: "lab", "data-lab": name },
    bar(watching),
    () => (lab.control.state() === "ended" ? ended(watching.results) : null),
    el(
      "div",
      { class: "labmain" },
      el("div", { class: "mapside" }, map.element, legend(mode, lab, book), mapButtons(map)),
      side(watching),
    ),
    dock.view(),
  );
}

const ended = (results: string | null): View =>
  el(
    "p",
    { class: "note strip", role: "status" },
    "This lab has ended. What it showed last stays here. ",
    results ? el("a", { href: address("replay", results) }, "Open its results") : null,
  );
