// The page: finds out what is embedded in it, and shows it.
import "uplot/dist/uPlot.min.css";
import "../components/style.css";
import { h } from "../components/dom";
import { startTheme } from "../components/theme";
import { showComparison } from "./comparison";
import type { Page } from "./data";
import { showRun } from "./run";
import { showSweep } from "./sweep";
import { showSweeps } from "./sweeps";

function show(page: Page): HTMLElement {
  switch (page.kind) {
    case "run":
    case "sim":
      return showRun(page);
    case "comparison":
      return showComparison(page);
    case "sweep":
      return showSweep(page);
    case "sweeps":
      return showSweeps(page);
  }
}

function start(): void {
  startTheme();
  const place = document.getElementById("page");
  const data = document.getElementById("data")?.textContent;
  if (!place || !data) return;
  const announcer = h("div", { id: "announcer", class: "away", role: "status", "aria-live": "polite" });
  try {
    place.replaceChildren(show(JSON.parse(data) as Page), announcer);
  } catch (error) {
    // Rather a page that says so than an empty one.
    place.replaceChildren(
      h("main", { class: "page" }, h("h1", {}, "This report cannot be shown"), h("p", {}, String(error))),
    );
    throw error;
  }
}

start();
