// What a link is set to, and what can be changed: each key of a direction is a field.
import type { TopologyLink } from "../control";
import { flow, section } from "../forms";
import type { Lab } from "../lab";
import { attempt } from "../tell";
import { type Accessor, createMemo, createSignal, each, el, press, type View } from "../view";
import { setting } from "./setting";

type Way = "both" | "forward" | "backward";

/** Keys that are shown at first. */
const USUAL = ["rate", "delay", "loss", "queue"];
/** Keys that have no field: what they make is a link of another kind, or is changed by buttons. */
const WITHOUT_FIELD = ["pipes", "netem", "tbf", "dummynet", "state"];

/** The pipes of a link that are looked at, and what is in force in them. */
class Directions {
  readonly way: Accessor<Way>;
  readonly setWay: (way: Way) => void;

  constructor(
    private readonly lab: Lab,
    private readonly link: Accessor<TopologyLink | null>,
    private readonly name: string,
  ) {
    [this.way, this.setWay] = createSignal<Way>("both");
  }

  /** Whether both directions are one pipe. */
  readonly shared = (): boolean => this.link()?.pipes.some(({ direction }) => direction === "shared") ?? false;

  readonly up = (): boolean => this.own().every((pipe) => pipe.up);

  /** The value of a key, if it is the same in all of them. */
  value(key: string): string {
    const values = this.own().map(({ settings }) =>
      settings[key] === undefined ? "" : flow(settings[key]).replace(/^"|"$/g, ""),
    );
    return new Set(values).size === 1 ? (values[0] ?? "") : "";
  }

  differs(key: string): boolean {
    return new Set(this.own().map(({ settings }) => JSON.stringify(settings[key]))).size > 1;
  }

  readonly send = (changes: [string, string][]): Promise<void> => {
    const way = this.way();
    return this.lab.change(this.name, changes, way === "both" || this.shared() ? undefined : way);
  };

  private own(): TopologyLink["pipes"] {
    const way = this.way();
    const pipes = this.link()?.pipes ?? [];
    return pipes.filter(
      ({ direction, pipe }) => pipe === null && (direction === way || direction === "shared" || way === "both"),
    );
  }
}

export function settings(lab: Lab, link: Accessor<TopologyLink | null>, name: string): View {
  const directions = new Directions(lab, link, name);
  const [all, setAll] = createSignal(false);
  const shown = (): string[] =>
    all()
      ? section("direction")
          .map((key) => key.name)
          .filter((key) => !WITHOUT_FIELD.includes(key))
      : USUAL;
  const list = createMemo(() => (section("direction").length === 0 ? "" : shown().join("\n")));
  const names = createMemo(() => list().split("\n").filter(Boolean));
  return el(
    "section",
    { class: "settings", "aria-labelledby": "settings-heading" },
    el("h3", { id: "settings-heading" }, "Settings"),
    el(
      "div",
      { class: "controls" },
      () => (directions.shared() ? null : wayChoice(directions, name)),
      cuts(directions),
    ),
    // A field stays while values change: somebody may be typing into it.
    each(names, (key) =>
      setting(
        key,
        () => directions.value(key),
        () => directions.differs(key),
        directions.send,
      ),
    ),
    press(
      () => (all() ? "Fewer settings" : "All settings"),
      () => setAll(!all()),
      { class: "plain" },
    ),
  );
}

const wayChoice = ({ way, setWay }: Directions, name: string): View =>
  el(
    "fieldset",
    { class: "segmented" },
    el("legend", { class: "away" }, "direction"),
    (["both", "forward", "backward"] as const).map((one) =>
      el(
        "label",
        {},
        el("input", {
          type: "radio",
          name: `way-${name}`,
          value: one,
          checked: () => way() === one,
          onchange: () => setWay(one),
        }),
        el("span", {}, one),
      ),
    ),
  );

const cuts = ({ up, send }: Directions): View => [
  press(
    () => (up() ? "Cut" : "Heal"),
    () => attempt(() => send([["state", up() ? "down" : "up"]])),
  ),
  press("Cut for 1 s", () => attempt(() => send([["down", "1 s"]])), {
    hidden: () => !up(),
    title: "of lab time; the lab heals it by itself",
  }),
];
