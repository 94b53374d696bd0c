// What a command says that was started from the page of a lab file.
import type { Job } from "../api";
import { api } from "../api";
import { address, go } from "../route";
import { attempt } from "../tell";
import { el, press, type View } from "../view";
import { reportView } from "../watch/verdict";
import { jobs } from "../world";

export function jobView(id: number | null, set: (id: number | null) => void): View {
  const job = id === null ? undefined : jobs()[id];
  if (!job) return null;
  if (job.state === "over" && job.command === "up" && job.exit_code === 0 && job.lab) {
    set(null);
    go("lab", job.lab);
    return null;
  }
  return el(
    "section",
    { class: "job", "aria-label": "the run" },
    el(
      "div",
      { class: "controls" },
      el("strong", {}, `${job.command} ${job.lab ?? ""}`),
      stateOf(job),
      job.lab && job.state !== "over" && job.command !== "sim"
        ? el("a", { href: address("lab", job.lab) }, "watch it")
        : null,
      job.results ? el("a", { href: address("replay", job.results) }, "results") : null,
      job.state !== "over" ? press("End", () => attempt(() => api.endJob(job.id))) : press("Close", () => set(null)),
    ),
    linesOf(job),
    job.report ? el("div", { class: "panel" }, reportView(job.report)) : null,
  );
}

const stateOf = (job: Job): View =>
  el(
    "span",
    { class: `badge ${job.state === "over" ? (job.exit_code === 0 ? "good" : "bad") : "caution"}` },
    job.state === "over" ? `over, exit code ${job.exit_code}` : "going on",
  );

/** The last lines, of which the last one is in sight. */
function linesOf(job: Job): View {
  const box = el(
    "pre",
    { class: "joblog", tabindex: 0, role: "log", "aria-label": "output of the command" },
    (job.lines ?? []).slice(-200).join("\n"),
  );
  queueMicrotask(() => {
    box.scrollTop = box.scrollHeight;
  });
  return box;
}
