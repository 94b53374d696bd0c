// The parts of the page that need no browser: changes by spans, what may stand where, merging, packets.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { bytes, plusMinus, quantity, rate, span } from "../components/format";
import { amount, exact, type Kind, measured } from "../components/measure";
import type { Keys } from "../ui/api";
import type { PipeStats } from "../ui/control";
import { contextAt, keysAt } from "../ui/edit/context";
import { merge } from "../ui/edit/merge";
import { frameOf, groundOf, metres, moved, placed, snapped, unwalled, walled } from "../ui/edit/metres";
import { freePlace } from "../ui/edit/places";
import { apply, type Change, freeName, type Path, push, put, remove, rename, set, valueAt } from "../ui/edit/spans";
import { flowsOf, History } from "../ui/lab";
import { flowStyle, NO_FLOW } from "../ui/map/dots";
import { along, apart, arrange, graphOf, toward } from "../ui/map/model";
import { Near } from "../ui/map/near";
import { chain } from "../ui/replay/follow";
import { decode, instantsOf, next } from "../ui/replay/packets";
import { progress } from "../ui/replay/stage";
import { long } from "./journal";
import { treeOf } from "./tree";

const WEB = dirname(dirname(dirname(createRequire(import.meta.url).resolve("vite/package.json"))));

const FILE = `# A lab.
name: two   # its name
nodes:
  a: {}     # the first
  b: {kind: router}
  # between
  c:
links:
  l1: {ends: [a, b], rate: 10 Mbit/s}  # slow
  l2:
    ends: [b, c]
    delay: 5 ms
timeline:
  - {on: a, run: ping b, as: a}
`;

describe("changes by spans", () => {
  const tree = treeOf(FILE);
  const made = (change: Change | null): string => {
    assert.ok(change);
    return apply(FILE, [change]);
  };
  const cases: [string, Path, string, string, string][] = [
    ["a value in braces", ["links", "l1", "rate"], "1 Gbit/s", "rate: 10 Mbit/s}", "rate: 1 Gbit/s}"],
    ["a key in braces", ["links", "l1", "delay"], "2 ms", "10 Mbit/s}  # slow", "10 Mbit/s, delay: 2 ms}  # slow"],
    ["a key in empty braces", ["nodes", "a", "kind"], "router", "a: {}     #", "a: {kind: router}     #"],
    ["a key of nothing", ["nodes", "c", "kind"], "switch", "  c:\n", "  c: {kind: switch}\n"],
    ["a value on a line", ["links", "l2", "delay"], "7 ms", "delay: 5 ms", "delay: 7 ms"],
    ["a key on a line", ["links", "l2", "loss"], "1 %", "    delay: 5 ms\n", "    delay: 5 ms\n    loss: 1 %\n"],
    ["a node", ["nodes", "d"], "{}", "  c:\nlinks", "  c:\n  d: {}\nlinks"],
    ["a top key", ["layout"], "{a: [0, 1]}", "as: a}\n", "as: a}\nlayout: {a: [0, 1]}\n"],
  ];
  for (const [name, path, value, before, after] of cases) {
    test(`${name} changes nothing else`, () => {
      assert.ok(FILE.includes(before), before);
      assert.equal(made(set(FILE, tree, path, value)), FILE.replace(before, after));
    });
  }
  test("what is removed takes its line or its comma along", () => {
    assert.equal(made(remove(FILE, tree, ["nodes", "b"])), FILE.replace("  b: {kind: router}\n", ""));
    assert.equal(made(remove(FILE, tree, ["links", "l1", "rate"])), FILE.replace(", rate: 10 Mbit/s", ""));
    assert.equal(
      made(remove(FILE, tree, ["links", "l2"])),
      FILE.replace("  l2:\n    ends: [b, c]\n    delay: 5 ms\n", ""),
    );
  });
  test("a name is changed where it is a name, and not in a command", () => {
    const text = apply(FILE, rename(FILE, tree, "nodes", "a", "z"));
    assert.equal(text, FILE.replace("  a: {}", "  z: {}").replace("[a, b]", "[z, b]").replace("on: a,", "on: z,"));
  });
  test("lists grow", () => {
    const list = valueAt(tree, ["links", "l1", "ends"]);
    assert.ok(list);
    assert.equal(made(push(FILE, list, "c")), FILE.replace("[a, b]", "[a, b, c]"));
    assert.equal(freeName(["h1", "h3"], "h"), "h2");
  });
});

const SCENE = `nodes:
  ap: {position: [0 m, 0 m, 3 m]}  # on the roof
  desk: {position: [1.2 km, -40 m]}
  phone: {path: [{at: 0 s, position: [2 m, 1 m]}, {at: 9 s, position: [30 m, 1 m]}]}
  tv: {}
  server: {}
links:
  wire: {ends: [server, ap]}
  wifi:
    ends: [ap, desk, phone, tv]
    medium: {kind: wifi, access: radio, walls: [{from: [5 m, -3 m], to: [5 m, 3 m], loss: 6.9 dB}]}
`;

describe("a scene in metres", () => {
  const tree = treeOf(SCENE);
  const made = (text: string, changes: (Change | null)[]): string =>
    apply(
      text,
      changes.map((change) => {
        assert.ok(change);
        return change;
      }),
    );
  test("is what the text says", () => {
    const { media, stands, walls, ways, loose } = groundOf(tree);
    assert.deepEqual(
      media.map(({ link, isFlat }) => [link, isFlat]),
      [["wifi", false]],
    );
    assert.deepEqual(
      stands.map(({ name, at, height }) => [name, at, height]),
      [
        ["ap", [0, 0], "3 m"],
        ["desk", [1200, -40], null],
      ],
    );
    assert.deepEqual(walls, [{ link: "wifi", place: 0, from: [5, -3], to: [5, 3], loss: "6.9 dB" }]);
    assert.deepEqual(ways, [
      {
        name: "phone",
        places: [
          [2, 1],
          [30, 1],
        ],
      },
    ]);
    assert.deepEqual(loose, ["tv"]);
    assert.deepEqual(["-40 m", "1.5km", "20 cm", "4", "north", undefined].map(metres), [
      -40,
      1500,
      0.2,
      null,
      null,
      null,
    ]);
  });
  test("changes the text at its place, and heights stay", () => {
    const [ap] = groundOf(tree).stands;
    assert.ok(ap);
    assert.equal(
      made(SCENE, moved(SCENE, tree, ap, [-7.5, 12])),
      SCENE.replace("[0 m, 0 m, 3 m]", "[-7.5 m, 12 m, 3 m]"),
    );
    assert.equal(made(SCENE, placed(SCENE, tree, "tv", [4, 4])), SCENE.replace("tv: {}", "tv: {position: [4 m, 4 m]}"));
  });
  test("gets walls and loses them", () => {
    const [wifi] = groundOf(tree).media;
    assert.ok(wifi);
    const more = made(SCENE, walled(SCENE, tree, wifi, { from: [1, 2], to: [3, 2], loss: "3.4 dB" }));
    assert.equal(more, SCENE.replace("dB}]}", "dB}, {from: [1 m, 2 m], to: [3 m, 2 m], loss: 3.4 dB}]}"));
    const [first, second] = groundOf(treeOf(more)).walls;
    assert.ok(first && second);
    assert.equal(made(more, unwalled(more, treeOf(more), second)), SCENE);
    const none = made(SCENE, unwalled(SCENE, tree, first));
    assert.equal(none, SCENE.replace(", walls: [{from: [5 m, -3 m], to: [5 m, 3 m], loss: 6.9 dB}]", ""));
    assert.deepEqual(groundOf(treeOf(none)).walls, []);
  });
  test("makes a medium at no distance one of signals, and a list of nodes a map", () => {
    const flat = "nodes: [ap, a]\nlinks:\n  w: {ends: [ap, a], medium: {kind: wifi, standard: a}}\n";
    const [medium] = groundOf(treeOf(flat)).media;
    assert.ok(medium?.isFlat);
    const found = made(flat, placed(flat, treeOf(flat), "a", [5, 0]));
    const wanted = flat.replace("[ap, a]\nl", "{ap: {}, a: {position: [5 m, 0 m]}}\nl");
    assert.equal(found, wanted.replace("standard: a}", "standard: a, access: radio}"));
    const cell = "links:\n  c: {ends: [t, a], medium: {kind: cell, base: t, cells: {west: {position: [1 m, 2 m]}}}}\n";
    const { media, stands } = groundOf(treeOf(cell));
    assert.deepEqual([media[0]?.walls, stands[0]?.name, stands[0]?.at], [null, "west", [1, 2]]);
  });
});

test("a scene in metres fits into its frame, in round steps", () => {
  const frame = frameOf(groundOf(treeOf(SCENE)), 2);
  assert.ok(frame.left < 0 && frame.left + frame.width > 1200 && frame.bottom < -40);
  assert.ok(Math.abs(frame.width / frame.height - 2) < 1e-9);
  assert.equal(frame.step, 200);
  assert.deepEqual(snapped([13.24, -7.77], 5), [13, -8]);
  assert.deepEqual(snapped([0.234, 12.9], 0.5), [0.25, 12.9]);
  assert.equal(frameOf(groundOf(null), 1).step, 5);
});

test("three texts become one, and nothing is lost", () => {
  const base = "a\nb\nc\nd\ne";
  assert.deepEqual(merge(base, "A\nb\nc\nd\ne", "a\nb\nc\nd\nE"), { text: "A\nb\nc\nd\nE", conflict: false });
  assert.deepEqual(merge(base, base, "x"), { text: "x", conflict: false });
  assert.deepEqual(merge(base, "x", base), { text: "x", conflict: false });
  const both = merge(base, "a\nmine\nc\nd\ne", "a\ntheirs\nc\nd\ne");
  assert.ok(both.conflict && both.text.includes("mine") && both.text.includes("theirs"), both.text);
});

describe("what may stand where", () => {
  const word = { words: ["host", "router"] };
  const keys: Keys = {
    top: "lab",
    sections: {
      lab: {
        doc: "",
        keys: [
          {
            name: "nodes",
            doc: "",
            example: "",
            required: true,
            kind: { map: { names: "", values: { optional: "node" } } },
          },
          {
            name: "timeline",
            doc: "",
            example: "",
            required: false,
            kind: { list: { items: { one_of: [{ section: "run" }] } } },
          },
        ],
      },
      node: {
        doc: "",
        keys: [
          { name: "kind", doc: "", example: "", required: false, kind: word },
          { name: "cpu", doc: "", example: "", required: false, kind: { section: "cpu" } },
        ],
      },
      cpu: { doc: "", keys: [{ name: "byte", doc: "", example: "", required: false, kind: {} }] },
      run: { doc: "", keys: [{ name: "on", doc: "", example: "", required: true, kind: {} }] },
    },
  };
  const at = (text: string): { key: string | null; names: string } => {
    const found = contextAt(text, text.length);
    return {
      key: found.key,
      names: keysAt(keys, found.path)
        .map(({ name }) => name)
        .join(" "),
    };
  };
  for (const [text, key, names] of [
    ["no", null, "nodes timeline"],
    ["nodes:\n  a:\n    ki", null, "kind cpu"],
    ["nodes:\n  a: {ki", null, "kind cpu"],
    ["nodes:\n  a: {kind: ro", "kind", "kind cpu"],
    ["nodes: {a: {cpu: {by", null, "byte"],
    ["nodes:\n  a: {kind: host, cp", null, "kind cpu"],
    ["nodes:\n  a: {}\ntimeline:\n  - {o", null, "on"],
    ["timeline:\n  - o", null, "on"],
    ["timeline:\n  - at: 1 s\n    o", null, "on"],
    ["x: y # no", "#", "nodes timeline"],
  ] as const)
    test(JSON.stringify(text), () => assert.deepEqual(at(text), { key, names }));
});

describe("packets", () => {
  const kept = long(5000);
  const url = new URL("http://x/?from_ns=1000000&to_ns=2000000");
  const bytes = kept.packets(url);
  const buffer = new Uint8Array(bytes).buffer;
  const packets = decode(buffer);
  test("are read as they were sent", () => {
    assert.ok(packets.n > 900 && packets.n < 1100, String(packets.n));
    assert.equal((packets.arrived[20] ?? NaN) - (packets.arrived[0] ?? NaN), 20_000);
    const k = packets.fate.indexOf(0);
    assert.equal(progress(packets, k, (packets.started[k] ?? 0) + 4000), 0.5);
    assert.equal(progress(packets, k, (packets.started[k] ?? 0) - 1), null);
  });
  test("an answer that is cut off or of another kind is refused", () => {
    assert.throws(() => decode(buffer.slice(0, 1000)), /announced/);
    assert.throws(() => decode(new ArrayBuffer(8)), /did not send/);
    assert.throws(() => decode(new ArrayBuffer(100)), /did not send/);
  });
  test("instants are gone through in both directions", () => {
    const instants = instantsOf(packets, 1_000_000, 2_000_000);
    const first = next(instants, 1_500_000, false);
    assert.ok(first !== null && first > 1_500_000 && first <= 1_501_000, String(first));
    assert.equal(next(instants, first, true), 1_500_000);
    assert.equal(next(instants, 3e9, false), null);
  });
  test("a packet alone is a way of one pipe", () => assert.equal(chain(packets, packets.number[5] ?? 0).length, 1));
});

test("samples become figures, and their memory is bounded", () => {
  const pipe = {
    link: "l",
    direction: "forward",
    pipe: null,
    from: "a",
    to: "b",
    joined_in_kernel: false,
    rate_bits_per_second: 1e6,
    delay_ns: 0,
    up: true,
    arrived_packets: 0,
    arrived_bytes: 0,
    departed_packets: 0,
    departed_bytes: 0,
    queued_packets: 3,
    queued_bytes: 0,
    dropped_queue_packets: 0,
    dropped_loss_packets: 0,
    dropped_early_packets: 0,
    dropped_down_packets: 0,
    marked_packets: 0,
  } as PipeStats;
  const [flow] = flowsOf(
    { at_ns: 0, pipes: [pipe] },
    { at_ns: 5e8, pipes: [{ ...pipe, departed_bytes: 31_250, dropped_queue_packets: 5 }] },
  );
  assert.deepEqual([flow?.bits, flow?.use, flow?.drops, flow?.queue], [5e5, 0.5, 10, 3]);
  assert.equal(
    flowsOf({ at_ns: 0, pipes: [{ ...pipe, departed_bytes: 9 }] }, { at_ns: 1e9, pipes: [pipe] })[0]?.bits,
    0,
    "counters of another lab of the name",
  );
  assert.ok(flow);
  const history = new History(1);
  for (let k = 0; k < 10_000; k += 1) history.add(k, [{ ...flow, bits: k }]);
  const { t, y } = history.of(0, "bits");
  assert.deepEqual([t.length, t[0], y[y.length - 1]], [2400, 7600, 9999]);
  assert.ok(new History(20_000).length * 20_000 * 3 <= 4e6);
});

test("a map has a place for everything, and keys lead to neighbours", () => {
  const nodes = Array.from({ length: 9 }, (_, place) => ({ name: `n${place}`, kind: "host" }));
  const scene = arrange(
    nodes,
    nodes.slice(1).map((node) => ({ name: `l${node.name}`, ends: ["n0", node.name] })),
  );
  assert.ok(scene.nodes.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y)));
  assert.deepEqual(
    arrange(nodes, scene.links).nodes.map(({ x }) => x),
    scene.nodes.map(({ x }) => x),
    "the same network has the same places",
  );
  const graph = graphOf({
    nodes: [
      { name: "a", kind: "host", x: 0, y: 0 },
      { name: "b", kind: "host", x: 1, y: 0 },
      { name: "c", kind: "host", x: 0, y: 1 },
    ],
    links: [
      { name: "x", ends: ["a", "b"] },
      { name: "y", ends: ["b", "a"] },
      { name: "bus", ends: ["a", "b", "c"] },
      { name: "lost", ends: ["a", "nobody"] },
    ],
  });
  assert.equal(toward(graph, 0, 1, 0), 1);
  assert.equal(toward(graph, 0, 0, 1), 2);
  assert.equal(toward(graph, 0, -1, 0), 0);
  assert.notEqual(graph.lines[1]?.bend, 0, "two links between the same nodes are apart");
  assert.equal(graph.byLink.get("bus")?.length, 3);
});

test("what is near a point is found as by asking everything", () => {
  // A known generator: the same map in every run.
  let seed = 7;
  const random = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  const nodes = Array.from({ length: 150 }, (_, number) => ({
    name: `n${number}`,
    kind: "host",
    x: random() * 20,
    y: random() * 12,
  }));
  const links = Array.from({ length: 300 }, (_, number) => ({
    name: `l${number}`,
    ends: [Math.floor(random() * 150), Math.floor(random() * (number % 5 ? 150 : 3))].map((node) => `n${node}`),
  }));
  // Some join the same nodes, and are bent.
  links.push(...links.slice(0, 20).map(({ name, ends }) => ({ name: `${name}-again`, ends })));
  const graph = graphOf({ nodes, links });
  const near = new Near(graph);
  for (let tries = 0; tries < 500; tries += 1) {
    const [x, y, reach] = [random() * 24 - 2, random() * 16 - 2, { node: 0.2 + random() * 0.3, line: 0.1 }];
    const closest = graph.spots
      .filter((spot) => Math.hypot(spot.x - x, spot.y - y) < reach.node)
      .sort((one, other) => Math.hypot(one.x - x, one.y - y) - Math.hypot(other.x - x, other.y - y))[0];
    const far = graph.lines.map((line) => {
      const [a, b] = [graph.spots[line.a]!, graph.spots[line.b]!];
      const at = (part: number): [number, number] => along(a.x, a.y, b.x, b.y, line.bend, part);
      return Math.min(...Array.from({ length: 8 }, (_, step) => apart(x, y, at(step / 8), at((step + 1) / 8))));
    });
    const least = Math.min(...far);
    const found = near.find(x, y, reach);
    if (closest) assert.equal(found.node, closest.name);
    else if (least < reach.line ** 2)
      assert.ok(
        found.link !== undefined && far[graph.lines.findIndex(({ name }) => name === found.link)]! <= least + 1e-9,
      );
    else assert.deepEqual(found, {});
  }
  assert.deepEqual(new Near(graphOf({ nodes: [], links: [] })).find(0, 0, { node: 1, line: 1 }), {});
});

describe("drawing from nothing", () => {
  const added = (text: string, section: string, entries: [string, string][]): string => {
    const tree = text.trim() === "" ? null : treeOf(text);
    return apply(
      text,
      put(text, tree, section, entries).filter((change): change is Change => change !== null),
    );
  };

  test("a section that is missing or has nothing in it becomes a block, and one that has something stays as it is", () => {
    assert.equal(added("", "nodes", [["h1", "{}"]]), "nodes:\n  h1: {}\n");
    assert.equal(
      added("name: a\n", "layout", [
        ["h1", "[0, 0]"],
        ["h2", "[1, 0]"],
      ]),
      "name: a\nlayout:\n  h1: [0, 0]\n  h2: [1, 0]\n",
    );
    assert.equal(added("name: a\nnodes: {}\n", "nodes", [["h1", "{}"]]), "name: a\nnodes:\n  h1: {}\n");
    assert.equal(added("nodes:\n  h1: {}\n", "nodes", [["h2", "{}"]]), "nodes:\n  h1: {}\n  h2: {}\n");
    assert.equal(added("nodes: {h1: {}}\n", "nodes", [["h2", "{}"]]), "nodes: {h1: {}, h2: {}}\n");
  });

  test("a new node covers no other, wherever those are, and stands as near as can be", () => {
    const nodes: { x: number; y: number }[] = [];
    for (let number = 0; number < 60; number += 1) {
      const [x, y] = freePlace(nodes, [0.3, -0.2]);
      assert.ok(
        nodes.every((node) => Math.hypot(node.x - x, node.y - y) >= 0.75),
        `${x} ${y}`,
      );
      assert.ok(Math.hypot(x, y) < 8, `${x} ${y}`);
      nodes.push({ x, y });
    }
    assert.deepEqual(freePlace([{ x: 0.25, y: 0 }], [0, 0]), [1.25, 0]);
  });
});

test("flows that follow one another differ in colour and in shape, and 21 in one of the two", () => {
  const styles = Array.from({ length: 21 }, (_, flow) => flowStyle(flow));
  styles.slice(1).forEach((style, place) => {
    assert.ok(style.colour !== styles[place]?.colour && style.shape !== styles[place]?.shape);
  });
  assert.equal(new Set(styles.map(({ colour, shape }) => `${colour} ${shape}`)).size, 21);
  assert.ok(styles.every(({ colour }) => colour !== flowStyle(NO_FLOW).colour));
});

test("quantities are written as the command line does", () => {
  const cases = JSON.parse(readFileSync(join(WEB, "../tests/golden/quantities.json"), "utf8")) as {
    value: number;
    unit: string;
    text: string;
  }[];
  assert.ok(cases.length > 30);
  for (const { value, unit, text } of cases) assert.equal(quantity(value, unit), text, `${value} ${unit}`);
  const of = (wanted: string) => cases.filter(({ unit, value }) => unit === wanted && Number.isInteger(value));
  for (const { value, text } of of("bit/s")) assert.equal(rate(value), text);
  for (const { value, text } of of("ns")) assert.equal(span(value), text);
  for (const { value, text } of of("B")) assert.equal(bytes(value), text);
});

test("a value and what is said beside it have one unit", () => {
  for (const [mean, half, unit, words] of [
    [20e6, 300e3, "ns", "20 ± 0.3 ms"],
    [300e3, 20e6, "ns", "0.3 ± 20 ms"],
    [9.4e6, 4e5, "bit/s", "9.4 ± 0.4 Mbit/s"],
    [0.05, 0.0012, "share", "5 ± 0.12 %"],
    [12.5, 1, "packets", "12.5 ± 1 packets"],
    [3, 0.25, "", "3 ± 0.25"],
    [0, 0, "bit/s", "0 ± 0 bit/s"],
    [1.5, 0.002, "s", "1.5 ± 0.002 s"],
    [20e6, null, "ns", "20 ms"],
    [null, 1, "ns", "–"],
  ] as const)
    assert.equal(plusMinus(mean, half, unit), words);
  assert.equal(plusMinus(-20e6, 300e3, "ns", { count: 3, signed: true }), "−20 ± 0.3 ms");
});

test("quantities are read as the program does", () => {
  const lines = readFileSync(join(WEB, "../tests/golden/exact.csv"), "utf8").trim().split("\n").slice(1);
  const kinds: Record<string, Kind> = { time: "ns", rate: "bit/s", size: "B", share: "share" };
  let read = 0;
  for (const line of lines) {
    const [name = "", text = "", value = ""] = line.split(",");
    const kind = kinds[name];
    if (!kind) continue;
    assert.equal(exact(text, kind)?.toString() ?? "", value, line);
    read += 1;
  }
  assert.ok(read > 40, `${read} lines`);
  assert.deepEqual([amount("0.1 %", "share"), amount("250 ms", "ns"), amount("ten", "ns")], [0.001, 2.5e8, NaN]);
});

test("values that a sweep varies are numbers if they are of one kind", () => {
  assert.deepEqual(measured(["10 packets", "20 packets"])?.numbers, [10, 20]);
  assert.deepEqual(measured(["500 us", "10 ms", "1 s"])?.numbers, [5e5, 1e7, 1e9]);
  assert.deepEqual(measured(["1 Mbit/s", "500 kbit/s"])?.numbers, [1e6, 5e5]);
  assert.deepEqual(measured(["0.1 %", "1 %"])?.numbers, [0.001, 0.01]);
  assert.equal(measured(["1 Mbit/s", "500 kbit/s"])?.format(1e6), "1 Mbit/s");
  for (const other of [["cubic", "reno"], ["10 packets", "10 ms"], ["10", "10 ms"], ["7"], ["{kind: red}", "3"], []])
    assert.equal(measured(other), null, other.join());
});
