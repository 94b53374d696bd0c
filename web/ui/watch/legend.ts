// What colours, dashes and dots of the map of a lab mean.
import { counted } from "../../components/format";
import { flowWords } from "../ends";
import type { Lab } from "../lab";
import { swatch } from "../map/dots";
import { each, el, type View } from "../view";
import type { FlowBook } from "./flows";
import type { Mode } from "./looks";
import { namesIn } from "./tcp";

const CLASSES: Record<Mode, string[]> = {
  use: ["nothing, or no rate", "below 25 %", "below 50 %", "below 80 %", "below 95 %", "95 % and more"],
  throughput: ["nothing, or no rate", "below 25 %", "below 50 %", "below 80 %", "below 95 %", "95 % and more"],
  drops: ["none", "", "", "below 1 per second", "below 50", "more"],
  queue: ["empty", "", "below 10 packets", "below 50", "below 200", "more"],
  lateness: ["none, or not measured", "99 % below 10 us", "below 100 us", "below 1 ms", "below 10 ms", "more"],
  delay: ["none", "below 1 ms", "below 10 ms", "below 50 ms", "below 200 ms", "more"],
};

export function legend(mode: () => Mode, lab: Lab, book: FlowBook): View {
  const names = namesIn(lab);
  const line = (number: number, extra = ""): View => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    made.setAttribute("width", "26");
    made.setAttribute("height", "10");
    made.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", "M1 5H25");
    path.setAttribute(
      "style",
      `stroke:var(--u${number});stroke-width:${1.8 + number * 0.8};stroke-linecap:round;${extra}`,
    );
    made.append(path);
    return made;
  };
  return el(
    "details",
    { class: "maplegend" },
    el("summary", {}, "Legend"),
    el(
      "ul",
      { class: "legend" },
      () => CLASSES[mode()].map((words, number) => (words ? el("li", {}, line(number), words) : null)),
      el("li", {}, line(3, "stroke-dasharray:7 4;stroke-linecap:butt"), "dashed, ▼: drops now"),
      el("li", {}, line(0, "stroke:var(--bad);stroke-dasharray:1.5 5"), "dotted, ✕: down"),
      el("li", {}, "a node with ✕ and its state: it does not run"),
      () =>
        book.size() > 0
          ? el("li", {}, "dots: some of the packets, by their flow; ✕ below a link: one that was dropped")
          : null,
      each(book.first, (one) => el("li", {}, swatch(one.flow), () => flowWords(one, names()))),
      () =>
        book.size() > book.first().length
          ? el("li", {}, `and ${counted(book.size() - book.first().length, "more flow")}`)
          : null,
    ),
  );
}
