// Light and dark: what the system prefers, unless the reader has chosen; paper is always light.
import { button } from "./dom";

type Theme = "light" | "dark";
const KEY = "netloom-theme";
const watchers = new Set<() => void>();
const system = window.matchMedia("(prefers-color-scheme: dark)");
let chosen: Theme | null = stored();
let printing = false;

function stored(): Theme | null {
  try {
    const known = localStorage.getItem(KEY);
    return known === "light" || known === "dark" ? known : null;
  } catch {
    // A page from the disk may have no storage.
    return null;
  }
}

function current(): Theme {
  return printing ? "light" : (chosen ?? (system.matches ? "dark" : "light"));
}

function apply(): void {
  document.documentElement.dataset.theme = current();
  watchers.forEach((watcher) => {
    watcher();
  });
}

/** Calls `watcher` whenever colours or sizes have changed for good. */
export function onTheme(watcher: () => void): void {
  watchers.add(watcher);
}

/** A colour of the style sheet by its variable. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function themeButton(): HTMLButtonElement {
  const say = (): string => (current() === "dark" ? "light colours" : "dark colours");
  const toggle = button(
    say(),
    () => {
      chosen = current() === "dark" ? "light" : "dark";
      try {
        localStorage.setItem(KEY, chosen);
      } catch {
        // It holds for as long as the page is open.
      }
      apply();
    },
    { class: "theme" },
  );
  onTheme(() => (toggle.textContent = say()));
  return toggle;
}

export function startTheme(): void {
  system.addEventListener("change", apply);
  window.addEventListener("beforeprint", () => {
    printing = true;
    apply();
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    apply();
  });
  apply();
}
