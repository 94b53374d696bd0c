// All labs at once, for whoever looks after a classroom: what each carries, drops, and what went wrong.
import { rate } from "../../components/format";
import { api, controlUrl, type LabRow } from "../api";
import { Lab } from "../lab";
import { address } from "../route";
import { createEffect, createMemo, each, el, on, onCleanup, type View } from "../view";
import { troubles } from "../watch/verdict";
import { labs } from "../world";

/** Labs that are watched at a time: each has a connection. */
const MOST = 60;

export function classPage(): View {
  const names = createMemo(() => labs().filter((row) => row.answers !== false).slice(0, MOST).map(({ name }) => name).join("\n"));
  const rows = createMemo(() => names().split("\n").filter(Boolean));
  return el("div", { class: "page" }, el("h1", {}, "Classroom"),
    el("p", { class: "under" }, () => `${rows().length === 1 ? "1 lab is" : `${rows().length} labs are`} up${labs().length > MOST ? `; the first ${MOST} are watched` : ""}`),
    () => (rows().length === 0 ? el("p", { class: "none" }, "No lab is up.") : null),
    el("ul", { class: "cards" }, each(rows, card)));
}

function card(name: string): View {
  const lab = new Lab(name, controlUrl(name), async () => (await api.labs()).some((row: LabRow) => row.name === name));
  onCleanup(() => lab.close());
  createEffect(on(lab.control.state, (state) => { if (state === "open") lab.begin().catch(() => undefined); }));
  const bits = (): number => lab.flows().reduce((sum, flow) => sum + flow.bits, 0);
  const drops = (): number => lab.flows().reduce((sum, flow) => sum + flow.drops, 0);
  const down = (): number => new Set(lab.flows().filter((flow) => !flow.up).map((flow) => flow.total.link)).size;
  const met = (): number => lab.exercise()?.tasks.filter((task) => task.met_ns !== null).length ?? 0;
  const wrong = createMemo(() => troubles(lab.events()).length);
  return el("li", { class: "card classcard" },
    el("a", { class: "name", href: address("lab", name) }, name),
    () => el("span", { class: `badge ${lab.control.state() === "open" ? "good" : "caution"}` }, lab.control.state() === "open" ? "up" : lab.control.state()),
    el("dl", { class: "list" },
      el("dt", {}, "time"), el("dd", {}, () => `${(((lab.now()?.since_zero_ns ?? 0) as number) / 1e9).toFixed(1)} s${lab.now()?.paused ? ", paused" : ""}`),
      el("dt", {}, "carries"), el("dd", {}, () => rate(bits(), 3)),
      el("dt", {}, "drops"), el("dd", {}, () => (drops() > 0 ? `▼ ${Math.round(drops())} per second` : "none")),
      el("dt", {}, "links down"), el("dd", {}, () => String(down())),
      () => (lab.exercise() ? [el("dt", {}, "tasks"), el("dd", {}, `${met()} of ${lab.exercise()?.tasks.length ?? 0} met`)] : null),
      el("dt", {}, "troubles"), el("dd", {}, () => (wrong() > 0 ? el("span", { class: "badge caution" }, String(wrong())) : "none"))));
}
