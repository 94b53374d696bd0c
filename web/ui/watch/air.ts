// The map in metres of radio media, as it is at a time: the picture that the server draws, asked for again while time goes on.
import { picture } from "../../components/map";
import { api, Refusal } from "../api";
import { createSignal, el, inSight, onCleanup, untrack, type View } from "../view";

/** Between two looks, and after one that failed, in ms. */
const [EVERY_MS, AGAIN_MS] = [500, 5_000];

/** Nothing, unless anything has a position. `id`: the results, as soon as there are any; `at`: the time behind time zero in nanoseconds. */
export function airMap(name: string, id: () => Promise<string | null>, at: () => number | null): View {
  const [shown, setShown] = createSignal<HTMLElement | null>(null);
  let results: string | null = null;
  let last = -1;
  let timer = 0;
  let ended = false;

  /** Whether there is anything to look at again. */
  const look = async (): Promise<boolean> => {
    const now = Math.max(0, Math.round(untrack(at) ?? 0));
    if (now === last || !untrack(inSight)) return true;
    results ??= await id();
    if (results === null) return true;
    const { svg } = await api.airMap(results, now);
    if (svg === null || ended) return false;
    last = now;
    setShown(picture(svg, `the map of ${name} in metres`));
    return true;
  };
  const again = (after: number): void => {
    if (!ended) timer = window.setTimeout(step, after);
  };
  const step = (): void => {
    look().then(
      (goes) => goes && again(EVERY_MS),
      // What is not there does not come; a server that does not answer may.
      (wrong) => (wrong instanceof Refusal && wrong.status === 404) || again(AGAIN_MS),
    );
  };
  step();
  onCleanup(() => {
    ended = true;
    window.clearTimeout(timer);
  });
  return () =>
    shown() ? el("section", { class: "air", "aria-label": "on the air" }, el("h3", {}, "On the air"), shown()) : null;
}
