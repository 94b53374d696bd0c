// Plots of a panel: loaded when there are some, and drawn while they are looked at.
import { digits, whole } from "../../components/format";
import { tell } from "../tell";
import { type Accessor, createEffect, el, onCleanup, type View } from "../view";
import type { LivePlot } from "./live";

/** Plots that go on whenever `changed` does. */
export function curves(make: (plot: typeof LivePlot) => LivePlot[], changed: Accessor<unknown>): View {
  const host = el("div", { class: "plots" });
  let gone = false;
  let made: LivePlot[] = [];
  onCleanup(() => {
    gone = true;
    made.forEach((plot) => {
      plot.destroy();
    });
  });
  import("./live").then(
    (live) => {
      if (gone) return;
      made = make(live.LivePlot);
      host.replaceChildren(...made.map(({ element }) => element));
    },
    () => tell("the plots could not be loaded", true),
  );
  createEffect(() => {
    changed();
    made.forEach((plot) => {
      plot.update();
    });
  });
  return host;
}

/** Values that are counted. */
export const count = (value: number): string => (value < 10 ? digits(value, 2) : whole(value));
