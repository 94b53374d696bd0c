// Values of several lines, changed by spans of the text: with the program's own reader, before and after. What is not meant to change stays as it is, to the letter.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Checked, Tree } from "../ui/api";
import { apply, type Path, remove, set, setLines, shown, valueAt } from "../ui/edit/spans";
import { accessible, launch, place as made, type Served, serve, visit } from "./real";

const FILE = `# A lab.
name: several
nodes:
  a: {}   # the first
  b:
    env:   # what it knows
      GREETING: |-  # said
        ü hello
          there

        again
      PLAIN: one
        two   # three
      QUOTED: "one # two
        three"
    # between
    files: {/etc/one: "1",   # }
            /etc/two: '2 }'}   # both
    kind: host
links:
  l:
    ends: [a, b]
    queue:
      # short

      kind: codel
      limit: 400 packets   # all
    delay: {normal: 10 ms,
      deviation: 1 ms}
  m: {ends: [a, b], queue: {kind: codel,
      limit: 3 packets}, rate: 1 Mbit/s}
timeline:
  - {on: a, run: ping b}   # later
# the end
`;

let place: ReturnType<typeof made>;
let server: Served;

const LAB = `name: form
nodes: {a: {}, b: {}}
links:
  # the only one
  l:
    ends: [a, b]
    queue:   # short
      kind: codel
      limit: 400 packets   # all
    delay: 1 ms
`;

before(async () => {
  place = made({ "several.yaml": FILE, "form.yaml": LAB });
  server = await serve(place);
});
after(async () => {
  await server?.end();
  place?.done();
});

async function treeOf(text: string): Promise<Tree> {
  const { origin, searchParams } = new URL(server.addresses[0] ?? "");
  const answer = await fetch(`${origin}/api/check`, {
    method: "POST",
    headers: { Authorization: `Bearer ${searchParams.get("token") ?? ""}`, "Content-Type": "application/json" },
    body: JSON.stringify({ path: "several.yaml", text }),
  });
  const { tree, errors } = (await answer.json()) as Checked;
  assert.ok(tree, `${JSON.stringify(errors)}\n${text}`);
  return tree;
}

/** What a tree says, without its places. */
const said = (tree: Tree | null): unknown =>
  tree?.map
    ? Object.fromEntries(tree.map.map(({ name, value }) => [name, said(value)]))
    : tree?.list
      ? tree.list.map(said)
      : tree?.empty
        ? null
        : tree?.text;

test("a form shows them as they are written, without what they are indented by", async () => {
  const tree = await treeOf(FILE);
  const all: [Path, string][] = [
    [["nodes", "b", "env", "GREETING"], "|-  # said\nü hello\n  there\n\nagain"],
    [["nodes", "b", "env", "PLAIN"], "one\ntwo"],
    [["nodes", "b", "env", "QUOTED"], '"one # two\nthree"'],
    [
      ["nodes", "b", "env"],
      'GREETING: |-  # said\n  ü hello\n    there\n\n  again\nPLAIN: one\n  two   # three\nQUOTED: "one # two\n  three"',
    ],
    [["nodes", "b", "files"], "{/etc/one: \"1\",   # }\n/etc/two: '2 }'}"],
    [["nodes", "b", "kind"], "host"],
    [["links", "l", "queue"], "kind: codel\nlimit: 400 packets"],
    [["links", "l", "delay"], "{normal: 10 ms,\ndeviation: 1 ms}"],
    [["links", "m", "queue"], "{kind: codel,\nlimit: 3 packets}"],
    [["links", "m", "rate"], "1 Mbit/s"],
    [["links", "m", "loss"], ""],
  ];
  for (const [path, text] of all) assert.equal(shown(FILE, tree, path), text, path.join("."));
});

/** What is written at a path: the path, the value, what stands there before and after, what it means. */
const CASES: [Path, string, string, string, unknown][] = [
  [
    ["links", "l", "queue"],
    "kind: red\nlimit: 9 packets\n# mine",
    "kind: codel\n      limit: 400 packets   # all",
    "kind: red\n      limit: 9 packets\n      # mine   # all",
    { kind: "red", limit: "9 packets" },
  ],
  [
    ["links", "l", "queue"],
    "20 packets",
    "kind: codel\n      limit: 400 packets   # all",
    "20 packets   # all",
    "20 packets",
  ],
  [
    ["links", "l", "delay"],
    "normal: 5 ms\ndeviation: 2 ms",
    "delay: {normal: 10 ms,\n      deviation: 1 ms}",
    "delay:\n      normal: 5 ms\n      deviation: 2 ms",
    { normal: "5 ms", deviation: "2 ms" },
  ],
  [["links", "l", "delay"], "5 ms", "{normal: 10 ms,\n      deviation: 1 ms}", "5 ms", "5 ms"],
  [
    ["links", "l", "delay"],
    "{normal: 5 ms,\ndeviation: 2 ms}",
    "{normal: 10 ms,\n      deviation: 1 ms}",
    "{normal: 5 ms,\n      deviation: 2 ms}",
    { normal: "5 ms", deviation: "2 ms" },
  ],
  [
    ["links", "m", "queue"],
    "{kind: red,\nlimit: 3 packets}",
    "{kind: codel,\n",
    "{kind: red,\n",
    { kind: "red", limit: "3 packets" },
  ],
  [
    ["links", "m", "queue"],
    "7 packets",
    "{kind: codel,\n      limit: 3 packets}, rate",
    "7 packets, rate",
    "7 packets",
  ],
  [
    ["nodes", "b", "env", "GREETING"],
    "|\nbye\n\n  all",
    "|-  # said\n        ü hello\n          there\n\n        again",
    "|\n        bye\n\n          all",
    "bye\n\n  all\n",
  ],
  [
    ["nodes", "b", "env", "GREETING"],
    "bye",
    "|-  # said\n        ü hello\n          there\n\n        again",
    "bye",
    "bye",
  ],
  [
    ["nodes", "b", "env"],
    "ONE: 1\nTWO: |\n  2\n",
    FILE.slice(FILE.indexOf("GREETING"), FILE.indexOf("    # between")).trimEnd(),
    "ONE: 1\n      TWO: |\n        2",
    { ONE: "1", TWO: "2\n" },
  ],
  [["nodes", "b", "kind"], "host", "kind: host", "kind: host", "host"],
];

test("what is written back unchanged changes nothing, and what is changed means what was written", async () => {
  const tree = await treeOf(FILE);
  const known = said(tree);
  for (const path of [
    ["nodes", "b", "env", "GREETING"],
    ["nodes", "b", "env", "PLAIN"],
    ["nodes", "b", "env", "QUOTED"],
    ["nodes", "b", "env"],
    ["nodes", "b", "files"],
    ["links", "l", "queue"],
    ["links", "l", "delay"],
    ["links", "m", "queue"],
  ]) {
    const change = setLines(FILE, tree, path, shown(FILE, tree, path));
    assert.ok(change, path.join("."));
    assert.equal(apply(FILE, [change]), FILE, path.join("."));
  }
  for (const [path, value, before_, after_, meaning] of CASES) {
    const change = setLines(FILE, tree, path, value);
    assert.ok(change, path.join("."));
    const text = apply(FILE, [change]);
    assert.ok(FILE.includes(before_), before_);
    assert.equal(
      text,
      FILE.replace(before_, () => after_),
      path.join("."),
    );
    const now = await treeOf(text);
    assert.deepEqual(said(valueAt(now, path)), meaning, text);
    // Nothing else means anything else.
    const other = structuredClone(known) as Record<string, unknown>;
    let at = other;
    for (const part of path.slice(0, -1)) at = at[part] as Record<string, unknown>;
    at[String(path[path.length - 1])] = meaning;
    assert.deepEqual(said(now), other, text);
  }
  // Blocks do not stand in braces.
  assert.equal(setLines(FILE, tree, ["links", "m", "queue"], "kind: red\nlimit: 3 packets"), null);
});

test("keys beside values of several lines are set, added and removed, and these stay whole", async () => {
  const tree = await treeOf(FILE);
  const text = async (change: ReturnType<typeof set>): Promise<[string, unknown]> => {
    assert.ok(change);
    const now = apply(FILE, [change]);
    return [now, said(await treeOf(now))];
  };
  const [added, meaning] = await text(set(FILE, tree, ["links", "l", "loss"], "1 %"));
  assert.equal(added, FILE.replace("      deviation: 1 ms}\n", "      deviation: 1 ms}\n    loss: 1 %\n"));
  assert.equal((meaning as { links: { l: { loss: string } } }).links.l.loss, "1 %");
  const [within] = await text(set(FILE, tree, ["links", "m", "loss"], "1 %"));
  assert.equal(within, FILE.replace("rate: 1 Mbit/s}", "rate: 1 Mbit/s, loss: 1 %}"));
  const [deep] = await text(set(FILE, tree, ["links", "m", "queue", "ecn"], "true"));
  assert.equal(deep, FILE.replace("limit: 3 packets}", "limit: 3 packets, ecn: true}"));
  const [behind] = await text(set(FILE, tree, ["nodes", "b", "env", "MORE"], "x"));
  assert.equal(behind, FILE.replace('        three"\n', '        three"\n      MORE: x\n'));
  const [without, rest] = await text(remove(FILE, tree, ["nodes", "b", "env", "GREETING"]));
  assert.equal(without, FILE.replace(/ {6}GREETING[\s\S]*?again\n/, ""));
  assert.deepEqual(Object.keys((rest as { nodes: { b: { env: object } } }).nodes.b.env), ["PLAIN", "QUOTED"]);
  const [bare] = await text(remove(FILE, tree, ["links", "l", "delay"]));
  assert.equal(bare, FILE.replace("    delay: {normal: 10 ms,\n      deviation: 1 ms}\n", ""));
});

test("a form changes a value of several lines, by keys alone, and one line of a value of many is never taken for all of it", async () => {
  const browser = await launch();
  const { page, faults } = await visit(browser, server.addresses[0] ?? "", "#/edit/form.yaml");
  await page.locator(".badge", { hasText: "valid" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("show link l");
  await page.keyboard.press("Enter");
  const field = page.locator(".part textarea");
  assert.equal(await field.inputValue(), "kind: codel\nlimit: 400 packets");
  await accessible(page, "a form with a value of several lines");
  const shows = async (text: string): Promise<void> => {
    const now = (): Promise<string> =>
      page.evaluate(() => [...document.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n"));
    for (let tries = 0; (await now()) !== text && tries < 50; tries += 1) await page.waitForTimeout(100);
    assert.equal(await now(), text);
  };
  await field.focus();
  await page.keyboard.press("Control+End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("ecn: true");
  await page.keyboard.press("Control+Enter");
  const wider = LAB.replace("400 packets   # all", "400 packets\n      ecn: true   # all");
  await shows(wider);
  await page.locator(".badge", { hasText: "valid" }).waitFor();
  // The field is the same one, and a key that saves takes along what is in it.
  assert.ok(await field.evaluate((element) => element === document.activeElement));
  await page.keyboard.type(" # mine");
  await page.keyboard.press("Control+s");
  await page.locator(".toast", { hasText: "saved" }).waitFor();
  assert.equal(
    readFileSync(join(place.path, "labs/form.yaml"), "utf8"),
    wider.replace("true   # all", "true # mine   # all"),
  );
  await field.fill("20 packets");
  await page.keyboard.press("Control+Enter");
  await shows(LAB.replace("      kind: codel\n      limit: 400 packets   # all", "      20 packets # mine   # all"));
  // The field is another one when the new text has been read.
  await page.locator(".part textarea").waitFor({ state: "detached" });
  await page.getByLabel("queue", { exact: true }).waitFor();
  assert.equal(await page.getByLabel("queue", { exact: true }).inputValue(), "20 packets");
  assert.equal(await page.locator(".part textarea").count(), 0);
  assert.deepEqual(faults, []);
  await page.close();
  await browser.close();
});
