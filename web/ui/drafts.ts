// What was written into lab files and not saved, of files that are not looked at now: going elsewhere on the page loses nothing.
import { createSignal } from "./view";

export interface Draft {
  text: string;
  /** What the file was before. */
  base: string;
  /** Null: there was no file. */
  etag: string | null;
}

const all = new Map<string, Draft>();
const [names, setNames] = createSignal<string[]>([]);

/** The files that have drafts. */
export { names as drafts };

window.addEventListener("beforeunload", (event) => {
  if (all.size > 0) event.preventDefault();
});

export function keepDraft(path: string, draft: Draft): void {
  all.set(path, draft);
  setNames([...all.keys()]);
}

/** The draft of a file, which is somebody else's to keep from now on. */
export function takeDraft(path: string): Draft | null {
  const draft = all.get(path) ?? null;
  all.delete(path);
  setNames([...all.keys()]);
  return draft;
}
