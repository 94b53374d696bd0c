// Groups of multicast that a switch has found.
import { counted, span, whole } from "../../components/format";
import type { SwitchPort } from "../control";
import type { Lab } from "../lab";
import { createMemo, el, keyed, press, type View } from "../view";

/** Groups that neighbour discovery makes of every address (RFC 4291, section 2.7.1): they are only counted. */
const SOLICITED = /^ff02::1:ff/i;
/** Groups of a port that are shown. */
const MOST_GROUPS = 12;

type Snooping = NonNullable<SwitchPort["snooping"]>;

/** Which groups of multicast a switch that looks at them has found behind which port, and what leads there else. */
export function groups(lab: Lab, name: string, openLink: (link: string) => void): View {
  const ports = createMemo(() => lab.ports().filter(({ node, snooping }) => node === name && snooping));
  const links = createMemo(() =>
    ports()
      .map(({ link }) => link)
      .join("\n"),
  );
  const followed = (link: string) => (of: (port: Snooping) => View) => (): View => {
    const found = ports().find((port) => port.link === link)?.snooping;
    return found ? of(found) : null;
  };
  return keyed(links, (known) =>
    known === ""
      ? null
      : [
          el("h3", {}, "Multicast groups"),
          el(
            "div",
            { class: "scroll", tabindex: 0, role: "region", "aria-label": "multicast groups" },
            table(known.split("\n").map((link) => row(link, followed(link), openLink))),
          ),
        ],
  );
}

const table = (rows: View): View =>
  el(
    "table",
    { class: "figures groups" },
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        ["port", "has members of", "router", "unasked frames"].map((head, place) =>
          el("th", { scope: "col", class: place === 3 ? "number" : "" }, head),
        ),
      ),
    ),
    el("tbody", {}, rows),
  );

function row(
  link: string,
  followed: (of: (port: Snooping) => View) => () => View,
  openLink: (link: string) => void,
): View {
  const router = ({ is_router_port, queriers }: Snooping): string =>
    is_router_port ? [...new Set(queriers)].join(", ") || "yes" : "–";
  return el(
    "tr",
    {},
    el(
      "th",
      { scope: "row" },
      press(link, () => openLink(link), { class: "plain" }),
    ),
    el("td", {}, followed(members)),
    el("td", {}, followed(router)),
    el(
      "td",
      { class: "number" },
      followed(({ unasked_frames }) => whole(unasked_frames)),
    ),
  );
}

function members({ groups, known_groups }: Snooping): View {
  if (known_groups === 0) return "–";
  const own = groups.filter(({ group }) => !SOLICITED.test(group));
  const shown = own.slice(0, MOST_GROUPS);
  const left = known_groups - groups.length + own.length - shown.length;
  return [
    shown.map(({ group, vlan, remaining_ns }) =>
      el(
        "div",
        {},
        group,
        vlan === undefined || vlan === null ? "" : ` in VLAN ${vlan}`,
        " ",
        el("small", { title: "time left, unless a member reports again" }, span(remaining_ns, 2)),
      ),
    ),
    left > 0 ? el("div", {}, `and ${counted(left, "more group")}`) : null,
    groups.length > own.length
      ? el("div", {}, el("small", {}, `${groups.length - own.length} of neighbour discovery`))
      : null,
  ];
}
