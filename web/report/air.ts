// What happened on the air: where stations were, and what each of them had of the medium.
import { h, s, section } from "../components/dom";
import { rate, share, whole } from "../components/format";
import { picture } from "../components/map";
import { table } from "../components/table";
import type { Run, Station } from "./data";
import { zero } from "./links";

export function airSection(run: Run): HTMLElement | null {
  const stations = run.stations ?? [];
  const map = run.metres ? picture(run.metres, `the map of ${run.lab} in metres`) : null;
  if (stations.length === 0 && !map) return null;
  const lasted = Math.max(run.end * 1e9, 1);
  const drops = (row: Station): number => row.dropped_queue_packets + row.dropped_air_packets;
  const hasHandovers = stations.some((row) => row.handovers);
  return section(
    "air",
    "On the air",
    map,
    table(
      "stations of radio media",
      [
        {
          name: "station",
          show: (row) => [row.node, h("br"), h("small", {}, row.link)],
          value: (row) => `${row.link} ${row.node}`,
        },
        {
          name: "airtime",
          numeric: true,
          show: (row) => [bar(row.airtime_ns / lasted), " ", share(row.airtime_ns / lasted)],
          value: (row) => row.airtime_ns,
        },
        { name: "attempts", numeric: true, show: (row) => whole(row.attempts), value: (row) => row.attempts },
        { name: "collisions", numeric: true, show: (row) => zero(row.collisions), value: (row) => row.collisions },
        { name: "retries", numeric: true, show: (row) => zero(row.retries), value: (row) => row.retries },
        { name: "dropped", numeric: true, show: (row) => zero(drops(row)), value: drops },
        {
          name: "mean rate",
          numeric: true,
          show: (row) => (row.mean_rate_bits_per_second === null ? "–" : rate(row.mean_rate_bits_per_second)),
          value: (row) => row.mean_rate_bits_per_second,
        },
        ...(hasHandovers
          ? [
              {
                name: "handovers",
                numeric: true,
                show: (row: Station) => zero(row.handovers ?? 0),
                value: (row: Station) => row.handovers ?? 0,
              },
              {
                name: "clients",
                numeric: true,
                show: (row: Station) => zero(row.clients ?? 0),
                value: (row: Station) => row.clients ?? 0,
              },
            ]
          : []),
      ],
      stations,
    ),
  );
}

/** A share of the whole time as a bar; the number stands beside it. */
function bar(part: number): SVGElement {
  const width = Math.min(Math.max(part, 0), 1) * 60;
  return s(
    "svg",
    { class: "map sample", width: 60, height: 8, "aria-hidden": "true" },
    s("rect", { class: "m-share", width, height: 8 }),
  );
}
