// The stations of radio media of a lab that is up: how long each has the air, what it sends, and with whom it is.
import { digits, share } from "../../components/format";
import type { AirBelonging } from "../api";
import type { AirNow, Lab } from "../lab";
import { heads, number, scrolled } from "../tables";
import { type Accessor, createMemo, each, el, press, type View } from "../view";
import { meter } from "./overview";

/** So many stations are listed, of more those that have the air for longest. */
const MOST = 60;

/** Nothing, if the lab has no radio media. */
export function stations(lab: Lab, belongs: Accessor<readonly AirBelonging[]>, openNode: (name: string) => void): View {
  const byLink = createMemo(() => {
    const all = new Map<string, AirNow[]>();
    for (const one of lab.air()) all.set(one.total.link, [...(all.get(one.total.link) ?? []), one]);
    return all;
  });
  const names = createMemo(() => [...byLink().keys()].join("\n"));
  return each(
    () => (names() ? names().split("\n") : []),
    (link) => medium(link, () => byLink().get(link) ?? [], lab, belongs, openNode),
  );
}

function medium(
  link: string,
  all: Accessor<AirNow[]>,
  lab: Lab,
  belongs: Accessor<readonly AirBelonging[]>,
  openNode: (name: string) => void,
): View {
  // Rows stay where they are: what changes many times a second is read in its place.
  const shown = createMemo(() => {
    const kept = all().length > MOST ? [...all()].sort((a, b) => b.total.airtime_ns - a.total.airtime_ns) : all();
    return kept
      .slice(0, MOST)
      .map(({ total }) => total.node)
      .join("\n");
  });
  const rows = createMemo(() => (shown() ? shown().split("\n") : []));
  const with_ = createMemo(
    () => new Map(belongs().flatMap((one) => (one.link === link ? [[one.station, one.to] as const] : []))),
  );
  const hasPartners = createMemo(() => with_().size > 0);
  const busy = createMemo(() => lab.figures().find(({ total }) => total.link === link)?.air ?? null);
  const of = (node: string): AirNow | undefined => all().find(({ total }) => total.node === node);
  const perSecond = (value: number | undefined): string => digits(value ?? 0, 3);
  const row = (node: string): View =>
    el(
      "tr",
      {},
      el(
        "th",
        { scope: "row" },
        press(node, () => openNode(node), { class: "plain" }),
      ),
      () => (hasPartners() ? el("td", { class: "with" }, () => partner(of(node), with_().get(node))) : null),
      number([() => share(of(node)?.airtime ?? 0), meter(() => of(node)?.airtime ?? -1)]),
      number(() => perSecond(of(node)?.attempts)),
      number(() => perSecond(of(node)?.retries)),
      number(() => perSecond(of(node)?.collisions)),
    );
  return el(
    "section",
    { class: "stations" },
    el(
      "h3",
      {},
      link,
      el("small", {}, () => (busy() === null ? "" : ` ${share(busy() ?? 0)} of the time in use`)),
    ),
    scrolled(
      `stations of ${link}`,
      el("table", { class: "figures" }, () => {
        const columns = [
          "station",
          ...(hasPartners() ? ["with"] : []),
          "airtime",
          "frames per s",
          "retries per s",
          "collisions per s",
        ];
        return [heads(columns, (place) => place > columns.length - 5), el("tbody", {}, each(rows, row))];
      }),
    ),
    () =>
      all().length > rows().length ? el("p", { class: "none" }, `and ${all().length - rows().length} more`) : null,
  );
}

/** With whom a station is: an access point has clients. */
function partner(now: AirNow | undefined, to: string | undefined): View {
  if (to !== undefined) return to;
  const clients = now?.total.clients ?? 0;
  return clients > 0 ? el("small", {}, clients === 1 ? "1 client" : `${clients} clients`) : "–";
}
