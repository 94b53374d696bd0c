// Help: the keys of the page that is shown, and the way back to its tour.
import { shown, withKeys } from "./commands";
import { dialog } from "./dialog";
import { address } from "./route";
import { beginTour, hasTour } from "./tour";
import { el, press } from "./view";

export function help(): void {
  const commands = withKeys();
  dialog("Help", (close) => [
    el(
      "p",
      {},
      "Everything that can be done on a page is in its list of commands: press ",
      el("kbd", {}, shown("Mod+k")),
      " and type a part of its name.",
    ),
    el(
      "div",
      { class: "controls" },
      press(
        hasTour() ? "Show the tour of this page" : "Show the tour",
        () => {
          close();
          beginTour();
        },
        { class: "first" },
      ),
      el("a", { class: "asbutton", href: address("lessons"), onclick: close }, "Lessons"),
    ),
    el("h3", {}, "Keys of this page"),
    el(
      "dl",
      { class: "keys" },
      commands.map((command) => [el("dt", {}, el("kbd", {}, shown(command.keys ?? ""))), el("dd", {}, command.name)]),
      el("dt", {}, el("kbd", {}, "F6")),
      el("dd", {}, "Leave a terminal, or go back into it"),
    ),
    el("h3", {}, "On the map"),
    el(
      "dl",
      { class: "keys" },
      [
        ["arrows", "from node to node; with Shift, the map moves"],
        ["Tab", "through the links of a node"],
        ["space", "chooses, Enter opens"],
        ["+ − 0", "enlarge, make smaller, show all"],
        ["L", "a lasso around nodes"],
      ].map(([key, what]) => [el("dt", {}, el("kbd", {}, key ?? "")), el("dd", {}, what ?? "")]),
    ),
    el(
      "p",
      {},
      "With a pointer: press chooses, Shift chooses several, pressing twice opens, dragging moves, the wheel enlarges.",
    ),
    el("div", { class: "controls" }, press("Close", close)),
  ]);
}
