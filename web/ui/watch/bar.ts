// The head of the page of a lab: its state, its time, how its links are coloured.
import { counted, digits } from "../../components/format";
import type { Lab } from "../lab";
import { address } from "../route";
import { attempt } from "../tell";
import { createMemo, el, press, type View } from "../view";
import { may } from "../world";
import { MODES, type Mode } from "./looks";
import type { Watching } from "./watching";

export function bar(watching: Watching): View {
  const { name, lab, row, advance, takeDown } = watching;
  return el(
    "div",
    { class: "labbar" },
    el("h1", {}, name),
    () => stateBadge(lab.control.state(), lab.control.why()),
    clock(lab, advance),
    modeChoice(watching),
    () =>
      lab.lost() > 0
        ? el(
            "small",
            { title: "this page was too slow for every sample; the lab did not wait for it" },
            `${counted(lab.lost(), "sample")} left out`,
          )
        : null,
    el("span", { class: "grow" }),
    () => (row()?.path ? el("a", { href: address("edit", row()?.path ?? "") }, "Lab file") : null),
    () => (may("edit") && lab.control.state() === "open" ? press("Take down", takeDown, { class: "danger" }) : null),
  );
}

const modeChoice = ({ mode, setMode }: Watching): View =>
  el(
    "span",
    { class: "choice" },
    el("label", { for: "mode" }, "links by"),
    el(
      "select",
      {
        id: "mode",
        value: mode,
        onchange: (event: Event) => setMode((event.target as HTMLSelectElement).value as Mode),
      },
      MODES.map((one) => el("option", { value: one }, one)),
    ),
  );

function stateBadge(state: string, why: string): View {
  if (state === "open") return el("span", { class: "badge good" }, "up");
  if (state === "ended") return el("span", { class: "badge" }, "ended");
  return el("span", { class: "badge caution", title: why }, "connecting…");
}

/** The lab's time, and in virtual time the hand on it. */
function clock(lab: Lab, advance: (by: number) => void): View {
  const text = createMemo(() => {
    const now = lab.now();
    return now
      ? now.since_zero_ns === null
        ? "before time zero"
        : `${digits(Math.round(now.since_zero_ns / 1e7) / 100, 8)} s`
      : "";
  });
  const paused = createMemo(() => lab.now()?.paused ?? false);
  const kind = createMemo(() => lab.now()?.clock ?? "");
  return el(
    "div",
    { class: "clock" },
    el("output", { class: "time", "aria-label": "lab time", "aria-live": "off" }, text),
    () =>
      kind() === "virtual"
        ? [
            el("span", { class: "badge" }, paused() ? "paused, virtual time" : "virtual time"),
            may("use")
              ? el(
                  "span",
                  { class: "controls", role: "group", "aria-label": "time" },
                  press(
                    () => (paused() ? "▶ go on" : "‖ pause"),
                    () => attempt(() => lab.time(paused() ? "resume" : "pause")),
                  ),
                  (
                    [
                      ["+1 ms", 1e6],
                      ["+100 ms", 1e8],
                      ["+1 s", 1e9],
                    ] as const
                  ).map(([name, by]) =>
                    press(name, () => advance(by), { "aria-label": `advance by ${name.slice(1)}` }),
                  ),
                )
              : null,
          ]
        : kind() === "dilated"
          ? el("span", { class: "badge" }, () => `time runs ${digits(lab.now()?.dilation ?? 1)} times slower`)
          : null,
    () =>
      lab.now()?.stalled ? el("span", { class: "badge caution" }, `time stands still: ${lab.now()?.stalled}`) : null,
  );
}
