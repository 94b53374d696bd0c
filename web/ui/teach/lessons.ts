// Three lessons: a lab file each, and tasks that turn green when what they ask for is seen in the lab.
import { dropsOf, type Lab } from "../lab";

export interface Task { text: string; hint: string; met: (seen: Seen) => boolean }
export interface Lesson { id: string; title: string; about: string[]; lab: string; file: string; text: string; tasks: Task[] }

/** What has been seen of the lab; `held` says for how long something has been so, in seconds of the page. */
export interface Seen { lab: Lab; held: (key: string, is: boolean) => number }

const flow = (lab: Lab, link: string, direction: string) => lab.flows().find(({ total }) => total.link === link && total.direction === direction && total.pipe === null);
const setting = (lab: Lab, link: string, direction: string, key: string): string => JSON.stringify(lab.topology()?.links.find((one) => one.name === link)?.pipes.find((pipe) => pipe.direction === direction && pipe.pipe === null)?.settings[key] ?? "");
const said = (lab: Lab, what: RegExp): boolean => lab.events().some((event) => what.test(event.what));
const cut = (lab: Lab): string[] => [...new Set(lab.flows().filter((one) => !one.up).map((one) => one.total.link))];

export const LESSONS: Lesson[] = [
  {
    id: "bufferbloat", title: "A bottleneck and its queue", lab: "lesson-bufferbloat", file: "lesson-bufferbloat.yaml",
    about: [
      "A fast network meets a slow link. What comes in faster than it can go out waits in a queue, and TCP fills the queue until something is dropped.",
      "A long queue loses little and delays everything: that is bufferbloat. CoDel looks at how long packets wait and drops early, so that the queue stays short and the link stays full.",
    ],
    text: `# Lesson: one TCP flow fills the queue of a bottleneck; pings share it.
name: lesson-bufferbloat
nodes:
  client: {}
  router: {kind: router}
  server: {}
links:
  access: {ends: [client, router], rate: 100 Mbit/s, delay: 2 ms}
  bottleneck: {ends: [router, server], rate: 5 Mbit/s, delay: 10 ms, queue: 400 packets}
layout:
  client: [0, 0]
  router: [1, 0]
  server: [2, 0]
timeline:
  - {on: server, run: iperf3 -s, ready: {tcp: 5201}}
  - {at: 2 s, on: client, run: iperf3 -c server -t 600, as: flow}
  - {on: client, run: ping -i 0.5 server, as: pings}
duration: 610 s
`,
    tasks: [
      { text: "See the link bottleneck carry more than 90 % of its rate.", hint: "Choose it on the map; the flow begins two seconds after the lab is up.", met: ({ lab }) => (flow(lab, "bottleneck", "forward")?.use ?? 0) > 0.9 },
      { text: "See more than 100 packets wait in its queue, and what the pings say then.", hint: "Colour links by queue, and look at the logs of pings: the time grows from 24 ms to hundreds.", met: ({ lab }) => (flow(lab, "bottleneck", "forward")?.queue ?? 0) > 100 },
      { text: "Give the queue CoDel: queue {kind: codel, limit: 400 packets}.", hint: "In the settings of the link, write it into the field queue.", met: ({ lab }) => /codel/.test(setting(lab, "bottleneck", "forward", "queue")) },
      { text: "See the queue stay below 40 packets for five seconds while the link carries more than 80 %.", hint: "Wait a moment: TCP has to learn of it. The pings are fast again.", met: ({ lab, held }) => { const now = flow(lab, "bottleneck", "forward"); return held("short", /codel/.test(setting(lab, "bottleneck", "forward", "queue")) && (now?.use ?? 0) > 0.8 && (now?.queue ?? 1e9) < 40) >= 5; } },
    ],
  },
  {
    id: "ospf", title: "A ring that heals", lab: "lesson-ospf", file: "lesson-ospf.yaml",
    about: [
      "Four routers stand in a ring and tell one another by OSPF which links there are. Each finds the shortest ways by itself.",
      "When a link is cut, its ends notice, tell all others, and traffic goes the other way round. Nobody has to be asked.",
    ],
    text: `# Lesson: a ring of routers that speak OSPF (FRR); a ping goes round it.
name: lesson-ospf
ready: converged
nodes:
  west: {}
  east: {}
  r1: {kind: router, daemons: [ospf, bfd]}
  r2: {kind: router, daemons: [ospf, bfd]}
  r3: {kind: router, daemons: [ospf, bfd]}
  r4: {kind: router, daemons: [ospf, bfd]}
links:
  home: {ends: [west, r1], delay: 1 ms}
  away: {ends: [r3, east], delay: 1 ms}
  north: {ends: [r1, r2], delay: 5 ms, rate: 10 Mbit/s}
  north2: {ends: [r2, r3], delay: 5 ms, rate: 10 Mbit/s}
  south: {ends: [r1, r4], delay: 10 ms, rate: 10 Mbit/s, cost: 20}
  south2: {ends: [r4, r3], delay: 10 ms, rate: 10 Mbit/s, cost: 20}
layout:
  west: [-1, 1]
  r1: [0, 1]
  r2: [1, 0]
  r3: [2, 1]
  r4: [1, 2]
  east: [3, 1]
timeline:
  - {on: west, run: ping -i 0.1 -s 1000 east, as: pings}
duration: 900 s
`,
    tasks: [
      { text: "See the pings go over north and north2.", hint: "The links that carry something are coloured.", met: ({ lab }) => (flow(lab, "north", "forward")?.bits ?? 0) > 20_000 && (flow(lab, "north2", "forward")?.bits ?? 0) > 20_000 },
      { text: "Cut north.", hint: "Choose it and press X, or use the settings of the link.", met: ({ lab }) => cut(lab).includes("north") },
      { text: "See the pings go over south and south2.", hint: "Cut on one side only, OSPF would wait for 40 s: a cut link takes the carrier away, and the routers notice at once.", met: ({ lab }) => cut(lab).includes("north") && (flow(lab, "south", "forward")?.bits ?? 0) > 20_000 && (flow(lab, "south2", "forward")?.bits ?? 0) > 20_000 },
      { text: "Heal north, and see the pings come back.", hint: "Press H. OSPF greets its neighbour first; that takes some seconds.", met: ({ lab }) => said(lab, /link (down|changed)/) && cut(lab).length === 0 && lab.events().some(({ what, details }) => what.startsWith("link") && details["link"] === "north") && (flow(lab, "north", "forward")?.bits ?? 0) > 20_000 },
    ],
  },
  {
    id: "bbr", title: "CUBIC against BBR", lab: "lesson-bbr", file: "lesson-bbr.yaml",
    about: [
      "Two flows share a bottleneck. CUBIC slows down when packets are lost; BBR measures the rate and the least round-trip time and sends as fast as it believes the link to be.",
      "Who gets more depends on the queue: in a short one BBR, in a long one CUBIC. With a queue per flow (FQ-CoDel), both get half.",
    ],
    text: `# Lesson: a flow of CUBIC and one of BBR share a bottleneck. BBR needs the kernel's module tcp_bbr.
name: lesson-bbr
nodes:
  cubic: {congestion: cubic}
  bbr: {congestion: bbr}
  left: {kind: router}
  right: {kind: router}
  one: {}
  two: {}
links:
  c: {ends: [cubic, left], rate: 100 Mbit/s, delay: 1 ms}
  b: {ends: [bbr, left], rate: 100 Mbit/s, delay: 1 ms}
  bottleneck: {ends: [left, right], rate: 10 Mbit/s, delay: 15 ms, queue: 40 packets}
  to-one: {ends: [right, one], rate: 100 Mbit/s, delay: 1 ms}
  to-two: {ends: [right, two], rate: 100 Mbit/s, delay: 1 ms}
layout:
  cubic: [0, 0]
  bbr: [0, 1]
  left: [1, 0.5]
  right: [2, 0.5]
  one: [3, 0]
  two: [3, 1]
timeline:
  - {on: one, run: iperf3 -s, ready: {tcp: 5201}}
  - {on: two, run: iperf3 -s, ready: {tcp: 5201}}
  - {at: 1 s, on: cubic, run: iperf3 -c one -t 900, as: flow-cubic}
  - {at: 1 s, on: bbr, run: iperf3 -c two -t 900, as: flow-bbr}
duration: 910 s
`,
    tasks: [
      { text: "See BBR get more than CUBIC for five seconds, with the short queue.", hint: "Compare the links to-one and to-two; colour links by throughput.", met: ({ lab, held }) => held("bbr", (flow(lab, "to-two", "forward")?.bits ?? 0) > 1.3 * (flow(lab, "to-one", "forward")?.bits ?? 0) && (flow(lab, "to-one", "forward")?.bits ?? 0) > 0) >= 5 },
      { text: "Make the queue of bottleneck long: 600 packets. See CUBIC get more.", hint: "It takes CUBIC some time to fill it.", met: ({ lab, held }) => held("cubic", /600/.test(setting(lab, "bottleneck", "forward", "queue")) && (flow(lab, "to-one", "forward")?.bits ?? 0) > 1.3 * (flow(lab, "to-two", "forward")?.bits ?? 0)) >= 3 },
      { text: "Give the bottleneck {kind: fq_codel}, and see both get about half for five seconds.", hint: "Each flow has a queue of its own; the link serves them in turn.", met: ({ lab, held }) => { const [one, two] = [flow(lab, "to-one", "forward")?.bits ?? 0, flow(lab, "to-two", "forward")?.bits ?? 0]; return held("fair", /fq_codel/.test(setting(lab, "bottleneck", "forward", "queue")) && one + two > 7e6 && Math.abs(one - two) < 0.25 * (one + two)) >= 5; } },
    ],
  },
];

export const dropped = (lab: Lab): number => lab.flows().reduce((sum, { total }) => sum + dropsOf(total), 0);
