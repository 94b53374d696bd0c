// All labs at once, for whoever looks after a classroom: what each carries, drops, and what went wrong.
import { counted, rate } from "../../components/format";
import { api, controlUrl, type LabRow, type Role, type Visitor } from "../api";
import { Lab } from "../lab";
import { address } from "../route";
import { attempt } from "../tell";
import { createMemo, createSignal, each, el, onCleanup, type View } from "../view";
import { troubles } from "../watch/verdict";
import { labs, may, state, visitors } from "../world";

/** Labs that are watched at a time: each has a connection. */
const MOST = 60;

export function classPage(): View {
  const names = createMemo(() =>
    labs()
      .filter((row) => row.answers !== false)
      .slice(0, MOST)
      .map(({ name }) => name)
      .join("\n"),
  );
  const rows = createMemo(() => names().split("\n").filter(Boolean));
  return el(
    "div",
    { class: "page" },
    el("h1", {}, "Classroom"),
    el("p", { class: "under" }, () =>
      rows().length === 0
        ? "No lab is up."
        : `${rows().length === 1 ? "1 lab is" : `${rows().length} labs are`} up${labs().length > MOST ? `; the first ${MOST} are watched` : ""}`,
    ),
    el("ul", { class: "cards" }, each(rows, card)),
    () => (state()?.shared && may("edit") ? people() : null),
  );
}

/** Who is here by which link, what each has open, and how to send them away. */
function people(): View {
  const [links, setLinks] = createSignal<{ role: Role; address: string }[]>([]);
  attempt(async () => {
    setLinks((await api.visitors()).links);
  });
  const renew = (role: Role): void => {
    attempt(async () => {
      const made = await api.newLink(role);
      setLinks((all) => all.map((link) => (link.role === role ? made : link)));
    });
  };
  return el(
    "section",
    { "aria-labelledby": "people-heading" },
    el("h2", { id: "people-heading" }, "People"),
    el(
      "p",
      { class: "under" },
      () => `${counted(visitors().filter(({ here }) => here).length, "person", "people")} here`,
    ),
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "who is here" },
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ["name", "may", "from", "since", "open"].map((title) => el("th", { scope: "col" }, title)),
            el("td", {}),
          ),
        ),
        el("tbody", {}, each(visitors, person)),
      ),
    ),
    el("h3", {}, "Addresses to hand on"),
    el(
      "ul",
      { class: "rows" },
      each(
        () => links().filter(({ role }) => role !== "edit"),
        ({ role, address: where }) =>
          el(
            "li",
            {},
            el("span", {}, role),
            el("code", {}, where),
            el(
              "button",
              {
                type: "button",
                title: "Makes a new address. The old one no longer works; whoever is here stays",
                onclick: () => renew(role),
              },
              `New address to ${role}`,
            ),
          ),
      ),
    ),
  );
}

function person({ id, name, role, address: from, since_unix_s, here, open, kept = [] }: Visitor): View {
  const count = (kind: string): number => open.filter((one) => one.kind === kind).length;
  const opened = [...new Set(open.filter(({ kind }) => kind === "lab").map(({ lab }) => lab ?? ""))];
  const terminals = open.filter(({ kind }) => kind === "terminal").map(({ lab, node }) => `${node} of ${lab}`);
  const waiting = kept.map(({ lab, node }) => `shell in ${node} of ${lab} waits`);
  const what = [
    ...opened,
    ...terminals.map((one) => `terminal in ${one}`),
    ...waiting,
    count("capture") > 0 ? `captures: ${count("capture")}` : "",
  ]
    .filter(Boolean)
    .join(", ");
  return el(
    "tr",
    {},
    el("td", {}, name ?? "without a name"),
    el("td", {}, role),
    el("td", {}, from),
    el("td", {}, new Date(since_unix_s * 1000).toLocaleTimeString()),
    el("td", {}, here ? what || "the page" : ["has left", ...waiting].join("; ")),
    el(
      "td",
      {},
      name === null
        ? null
        : el(
            "button",
            { type: "button", "aria-label": `Send away ${name}`, onclick: () => sendAway(id, name) },
            "Send away",
          ),
    ),
  );
}

function sendAway(id: number, name: string): void {
  if (
    confirm(
      `Send ${name} away? What they have open is closed, and their shells end. Who still has the address can come in again.`,
    )
  )
    attempt(() => api.sendAway(id), `${name} was sent away`);
}

/** Who has a lab open, or terminals in it. */
function peopleIn(lab: string): string {
  const at = (visitor: Visitor): string => {
    const nodes = visitor.open
      .filter((one) => one.kind === "terminal" && one.lab === lab)
      .map(({ node }) => node ?? "");
    return nodes.length > 0
      ? `${visitor.name ?? visitor.role} (terminal in ${nodes.join(", ")})`
      : (visitor.name ?? visitor.role);
  };
  return visitors()
    .filter(({ name, open }) => name !== null && open.some((one) => one.lab === lab))
    .map(at)
    .join("; ");
}

function card(name: string): View {
  const lab = new Lab(name, controlUrl(name), async () => (await api.labs()).some((row: LabRow) => row.name === name));
  onCleanup(() => lab.close());
  lab.follow();
  const bits = (): number => lab.flows().reduce((sum, flow) => sum + flow.bits, 0);
  const drops = (): number => lab.flows().reduce((sum, flow) => sum + flow.drops, 0);
  const down = (): number =>
    new Set(
      lab
        .flows()
        .filter((flow) => !flow.up)
        .map((flow) => flow.total.link),
    ).size;
  const met = (): number => lab.exercise()?.tasks.filter((task) => task.met_ns !== null).length ?? 0;
  const wrong = createMemo(() => troubles(lab.events()).length);
  return el(
    "li",
    { class: "card classcard" },
    el("a", { class: "name", href: address("lab", name) }, name),
    () =>
      el(
        "span",
        { class: `badge ${lab.control.state() === "open" ? "good" : "caution"}` },
        lab.control.state() === "open" ? "up" : lab.control.state(),
      ),
    el(
      "dl",
      { class: "list" },
      el("dt", {}, "time"),
      el(
        "dd",
        {},
        () =>
          `${(((lab.now()?.since_zero_ns ?? 0) as number) / 1e9).toFixed(1)} s${lab.now()?.paused ? ", paused" : ""}`,
      ),
      el("dt", {}, "carries"),
      el("dd", {}, () => rate(bits(), 3)),
      el("dt", {}, "drops"),
      el("dd", {}, () => (drops() > 0 ? `▼ ${Math.round(drops())} per second` : "none")),
      el("dt", {}, "links down"),
      el("dd", {}, () => String(down())),
      () =>
        lab.exercise()
          ? [el("dt", {}, "tasks"), el("dd", {}, `${met()} of ${lab.exercise()?.tasks.length ?? 0} met`)]
          : null,
      () =>
        state()?.shared && may("edit")
          ? [el("dt", {}, "people"), el("dd", {}, () => peopleIn(name) || "nobody")]
          : null,
      el("dt", {}, "troubles"),
      el("dd", {}, () => (wrong() > 0 ? el("span", { class: "badge caution" }, String(wrong())) : "none")),
    ),
  );
}
