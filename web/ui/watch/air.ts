// The map in metres of radio media, as it is at a time: the picture that the server draws, asked for again while time goes on.
import { picture } from "../../components/map";
import { type AirBelonging, api, Refusal } from "../api";
import { createSignal, el, inSight, onCleanup, untrack, type View } from "../view";

/** After a look that failed, in ms. */
const AGAIN_MS = 5_000;
/** The width of the picture before anything is laid out, in pixels, and what is beside it. */
const [USUAL_WIDTH, BESIDE] = [380, 4];
/** So many stations are named in the words for the picture. */
const NAMED = 12;

/** What is shown, and how often. */
interface Wish {
  name: string;
  /** The results, as soon as there are any. */
  id: () => Promise<string | null>;
  /** The time behind time zero in nanoseconds. */
  at: () => number | null;
  /** Between two looks, in ms. */
  every: number;
  heading: "h2" | "h3";
  /** Hears who is with whom. */
  told?: (belongs: readonly AirBelonging[]) => void;
}

/** Nothing, unless anything has a position. */
export function airMap({ name, id, at, every, heading, told }: Wish): View {
  const [shown, setShown] = createSignal<HTMLElement | null>(null);
  let results: string | null = null;
  let [last, lastWidth, lastSvg] = [-1, 0, ""];
  let timer = 0;
  let ended = false;
  const section = el("section", { class: "air", "aria-label": "on the air" }, () =>
    shown() ? [el(heading, {}, "On the air"), shown()] : null,
  );

  /** Whether there is anything to look at again. */
  const look = async (): Promise<boolean> => {
    const now = Math.max(0, Math.round(untrack(at) ?? 0));
    const width = Math.max((section.clientWidth || USUAL_WIDTH) - BESIDE, 1);
    if ((now === last && width === lastWidth) || !untrack(inSight)) return true;
    results ??= await id();
    if (results === null) return true;
    const { svg, belongs } = await api.airMap(results, now, width);
    if (svg === null || ended) return false;
    [last, lastWidth] = [now, width];
    told?.(belongs);
    // What stands still keeps its element, and what is chosen in it.
    if (svg !== lastSvg) {
      lastSvg = svg;
      setShown(picture(svg, words(name, belongs)));
    }
    return true;
  };
  const again = (after: number): void => {
    if (!ended) timer = window.setTimeout(step, after);
  };
  const step = (): void => {
    look().then(
      (goes) => goes && again(every),
      // What is not there does not come; a server that does not answer may.
      (wrong) => (wrong instanceof Refusal && wrong.status === 404) || again(AGAIN_MS),
    );
  };
  // Behind its being laid out.
  timer = window.setTimeout(step, 0);
  onCleanup(() => {
    ended = true;
    window.clearTimeout(timer);
  });
  return section;
}

function words(name: string, belongs: readonly AirBelonging[]): string {
  const all = belongs.slice(0, NAMED).map(({ station, to }) => `${station} is with ${to}`);
  const rest = belongs.length - all.length;
  return [`the map of ${name} in metres`, all.join(", ") + (rest > 0 ? ` and ${rest} more` : "")]
    .filter(Boolean)
    .join(": ");
}
