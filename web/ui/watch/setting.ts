// A key of a link as a field, and as a slider that sends what it shows while it is moved.
import { quantity } from "../../components/format";
import { amount } from "../../components/measure";
import { exampleOf, field, section } from "../forms";
import { attempt } from "../tell";
import { createRenderEffect, el, type View } from "../view";

/** How a place on a slider becomes a value, and a value a place. */
interface Slider {
  text: (part: number) => string;
  part: (text: string) => number;
}

/** Keys that have a slider. */
const SLIDERS: Record<string, Slider> = {
  rate: {
    text: (part) => quantity(coarse(10 ** (4 + part * 6)), "bit/s"),
    part: (text) => (Math.log10(Math.max(amount(text, "bit/s"), 1)) - 4) / 6,
  },
  delay: {
    text: (part) => (part <= 0 ? "0 ms" : quantity(coarse(10 ** (5 + part * 4)), "ns")),
    part: (text) => {
      const ns = amount(text, "ns");
      return ns <= 0 ? 0 : (Math.log10(ns) - 5) / 4;
    },
  },
  loss: {
    text: (part) => `${(part ** 3 * 50).toFixed(part < 0.3 ? 2 : 1).replace(/\.?0+$/, "") || "0"} %`,
    part: (text) => Math.cbrt(amount(text, "share") * 2),
  },
};

/** A place on a slider is no more exact than two digits. */
const coarse = (value: number): number => Number(value.toPrecision(2));

/** A slider sends what it shows while it is moved, one change at a time. */
const SLIDE_MS = 40;

type Send = (changes: [string, string][]) => Promise<void>;

/** The field of a key, with a slider if it has one. */
export function setting(name: string, value: () => string, differs: () => boolean, send: Send): View {
  const key = section("direction").find((one) => one.name === name) ?? {
    name,
    doc: "",
    example: "",
    required: false,
    kind: {},
  };
  const change = (text: string): void => {
    if (text !== "" && text !== value()) attempt(() => send([[name, text]]));
  };
  const made = field({
    key,
    value,
    placeholder: () => (differs() ? "directions differ" : `not set, e.g. ${exampleOf(key)}`),
    change,
  });
  const slider = SLIDERS[name];
  return slider ? el("div", { class: "slid" }, made, range(name, slider, value, send)) : made;
}

function range(name: string, slider: Slider, value: () => string, send: Send): View {
  const next = oneByOne((text) => send([[name, text]]));
  const input = el("input", {
    type: "range",
    min: 0,
    max: 1,
    step: 0.01,
    "aria-label": `${name} by a slider`,
    class: "slider",
    oninput: () => {
      const text = slider.text(Number(input.value));
      input.setAttribute("aria-valuetext", text);
      const box = input.parentElement?.querySelector<HTMLInputElement>("input[type=text]");
      if (box) box.value = text;
      next(text);
    },
  });
  createRenderEffect(() => {
    const part = slider.part(value());
    input.setAttribute("aria-valuetext", value() || "not set");
    // Who holds it decides where it is.
    if (document.activeElement !== input)
      input.value = String(Number.isFinite(part) ? Math.min(Math.max(part, 0), 1) : 0);
  });
  return input;
}

/** Sends one text at a time; of those that come meanwhile, the last one. */
function oneByOne(send: (text: string) => Promise<void>): (text: string) => void {
  let busy = false;
  let waiting: string | null = null;
  const next = (text: string): void => {
    if (busy) {
      waiting = text;
      return;
    }
    busy = true;
    attempt(async () => {
      try {
        await send(text);
        await new Promise((done) => setTimeout(done, SLIDE_MS));
      } finally {
        busy = false;
        const last = waiting;
        waiting = null;
        if (last !== null && last !== text) next(last);
      }
    });
  };
  return next;
}
