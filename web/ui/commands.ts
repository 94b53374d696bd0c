// What can be done now, by name and by keys.
import { createSignal, listen, onCleanup } from "./view";

export interface Command {
  name: string;
  /** As `event.key` has it, with `Mod+` before it for Control or the command key. */
  keys?: string;
  about?: string;
  act: () => void;
}

type Source = () => Command[];
const [sources, setSources] = createSignal<Source[]>([]);
/** Whether the list of all commands is shown. */
const [open, setOpen] = createSignal(false);

export { open as paletteIsOpen, setOpen as showPalette };

/** Offers commands as long as the view that calls this is there. */
export function offer(source: Source): void {
  setSources((all) => [...all, source]);
  onCleanup(() => setSources((all) => all.filter((one) => one !== source)));
}

/** All commands, those of what is in front first. */
export const all = (): Command[] =>
  sources()
    .slice()
    .reverse()
    .flatMap((source) => source());

/** Keys that stand for text belong to whoever takes text. */
function takesText(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
      target.closest(".xterm, .cm-editor, dialog") !== null)
  );
}

/** Whether the field that had the focus last is gone, while nobody has gone elsewhere: who types on means text, and no commands. */
let orphaned = (): boolean => false;

/** Follows where the focus is. A field that is removed, or hidden, loses it without an event; a press beside it, Tab and Escape leave it for good. */
function followFocus(): void {
  let last: EventTarget | null = null;
  const leave = (): void => {
    last = null;
  };
  listen("focusin", (event) => {
    const isPalette = event.target instanceof HTMLElement && event.target.closest(".palette") !== null;
    if (!isPalette) last = event.target;
  });
  listen(
    "pointerdown",
    (event) => {
      if (!takesText(event.target)) leave();
    },
    { capture: true },
  );
  orphaned = () => takesText(last) && (document.activeElement === document.body || document.activeElement === null);
  listen("keydown", (event) => {
    if ((event.key === "Escape" || event.key === "Tab") && orphaned()) leave();
  });
}

export function startKeys(): void {
  followFocus();
  listen("keydown", (event) => {
    const mod = event.ctrlKey || event.metaKey;
    const key = `${mod ? "Mod+" : ""}${event.shiftKey && event.key.length > 1 ? "Shift+" : ""}${mod ? event.key.toLowerCase() : event.key}`;
    if (key === "Mod+k" && !(event.target instanceof HTMLElement && event.target.closest(".xterm"))) {
      event.preventDefault();
      setOpen((is) => !is);
      return;
    }
    if (event.defaultPrevented || open() || event.altKey || (!mod && (takesText(event.target) || orphaned()))) return;
    const command = all().find((one) => one.keys === key);
    if (!command) return;
    event.preventDefault();
    command.act();
  });
}

/** What has a key now, for help. */
export const withKeys = (): Command[] =>
  all().filter(
    (command, place, every) => command.keys && every.findIndex(({ keys }) => keys === command.keys) === place,
  );

export const shown = (keys: string): string =>
  keys
    .replace("Mod+", navigator.platform.startsWith("Mac") ? "⌘ " : "Ctrl ")
    .replace("Shift+", "Shift ")
    .replace(/^ $/, "space")
    .replace(/\b[a-z]$/, (letter) => letter.toUpperCase());
