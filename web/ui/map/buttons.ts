// The buttons of a map.
import { el, press, type View } from "../view";
import type { MapCanvas } from "./canvas";

export function mapButtons(map: MapCanvas): View {
  return el(
    "div",
    { class: "mapbuttons", role: "group", "aria-label": "map" },
    press("+", () => map.zoom(1.3), { "aria-label": "enlarge" }),
    press("−", () => map.zoom(1 / 1.3), { "aria-label": "make smaller" }),
    press("⤢", () => map.fit(), { "aria-label": "show all", title: "show all (0)" }),
    press("◌", () => map.beginLasso(), { "aria-label": "lasso", title: "lasso (L)" }),
  );
}
