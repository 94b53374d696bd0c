// Where the reader is: a part of the address behind `#`, so that it can be shared and gone back from.
import { createSignal } from "./view";

export interface Route {
  page: "home" | "edit" | "lab" | "replay" | "lessons" | "class";
  name: string;
  keys: URLSearchParams;
}

const read = (): Route => {
  const [where = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", ...rest] = where.split("/");
  const known = (["edit", "lab", "replay", "lessons", "class"] as const).find((one) => one === page) ?? "home";
  let name = "";
  try {
    name = rest.map(decodeURIComponent).join("/");
  } catch {
    // A damaged address leads to the front page.
    return { page: "home", name: "", keys: new URLSearchParams() };
  }
  return { page: known, name, keys: new URLSearchParams(query) };
};

const [route, setRoute] = createSignal<Route>(read());

export { route };

window.addEventListener("hashchange", () => setRoute(read()));

export function address(page: Route["page"], name = "", keys: Record<string, string> = {}): string {
  const query = new URLSearchParams(keys).toString();
  return `#/${page === "home" ? "" : page}${name ? `/${name.split("/").map(encodeURIComponent).join("/")}` : ""}${query ? `?${query}` : ""}`;
}

export const go = (page: Route["page"], name = "", keys: Record<string, string> = {}): void => {
  location.hash = address(page, name, keys);
};

/** Puts keys into the address without going anywhere. */
export function note(keys: Record<string, string>): void {
  const now = read();
  const merged = { ...Object.fromEntries(now.keys), ...keys };
  history.replaceState(null, "", address(now.page, now.name, merged));
}
