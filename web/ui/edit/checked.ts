// The text of a lab file as it was checked last, and changes that are worked out on it.
import type { Checked, Tree } from "../api";
import { tell } from "../tell";
import type { Source } from "./source";
import { apply, type Change, push, put, valueAt } from "./spans";

const round = (value: number): string => String(Math.round(value * 100) / 100);
const pair = ([x, y]: [number, number]): string => `[${round(x)}, ${round(y)}]`;

/** A file without anything but comments: what is added is the first of it. */
const isBlank = (text: string): boolean => text.split("\n").every((line) => /^\s*(#.*)?$/.test(line));

export class CheckedText {
  private readonly waiting: (() => void)[] = [];
  private readonly idlers: (() => void)[] = [];

  /** `fresh` is the text that was checked, whose spans `checked` has. */
  constructor(
    private readonly source: Source,
    private readonly checked: () => Checked | null,
    readonly fresh: () => string,
  ) {}

  readonly tree = (): Tree | null => this.checked()?.tree ?? null;

  readonly nodes = (): NonNullable<Checked["scene"]>["nodes"] => this.checked()?.scene?.nodes ?? [];

  readonly links = (): NonNullable<Checked["scene"]>["links"] => this.checked()?.scene?.links ?? [];

  readonly nodeNames = (): string[] => this.nodes().map(({ name }) => name);

  readonly linkNames = (): string[] => this.links().map(({ name }) => name);

  /** Changes are worked out on what was checked; while the text is ahead of that, they would land elsewhere, and wait. */
  soon<A extends unknown[]>(act: (...given: A) => void): (...given: A) => void {
    const later = (...given: A): void => {
      if (this.fresh() !== this.source.text()) this.waiting.push(() => later(...given));
      else if (this.tree() || isBlank(this.fresh())) act(...given);
      else tell("the text is not valid YAML at the moment: repair it first", true);
    };
    return later;
  }

  /** The text has been checked: does what waited for that. */
  readonly renewed = (): void => {
    this.waiting.shift()?.();
    if (this.waiting.length > 0) return;
    for (const done of this.idlers.splice(0)) done();
  };

  /** Resolves when nothing waits for the text to be checked. */
  readonly idle = (): Promise<void> =>
    this.waiting.length === 0 ? Promise.resolve() : new Promise((done) => this.idlers.push(done));

  /** Several changes that build on one another become one: the text is read anew in between by what they add. */
  commit(changes: (Change | null)[]): void {
    const all = changes.filter((change): change is Change => change !== null);
    if (all.length < changes.length) tell("a part of this cannot be changed here: change it in the text", true);
    if (all.length > 0) this.source.replace(apply(this.fresh(), joined(all)));
  }

  newNode(name: string, value: string): Change | null {
    const list = valueAt(this.tree(), ["nodes"]);
    if (list?.list) return value === "{}" ? push(this.fresh(), list, name) : listToMap(this.fresh(), list, name, value);
    return put(this.fresh(), this.tree(), "nodes", [[name, value]])[0] ?? null;
  }

  places(wanted: Map<string, [number, number]>): (Change | null)[] {
    const entries = [...wanted].map(([name, at]) => [name, pair(at)] as const);
    return put(this.fresh(), this.tree(), "layout", entries);
  }
}

/** Changes at the same place become one, in their order. */
function joined(changes: Change[]): Change[] {
  const made: Change[] = [];
  for (const change of [...changes].sort((a, b) => a.from - b.from || a.to - b.to)) {
    const last = made[made.length - 1];
    if (last && change.from === last.from && change.to === last.to) last.insert += joint(last.insert, change.insert);
    else if (last && change.from < last.to) continue;
    else made.push({ ...change });
  }
  return made;
}

/** What comes second into an empty map needs a comma, too. */
const joint = (first: string, second: string): string =>
  first !== "" &&
  !first.startsWith("\n") &&
  !first.startsWith(",") &&
  !second.startsWith("\n") &&
  !second.startsWith(",") &&
  !first.endsWith("\n")
    ? `, ${second}`
    : second;

/** A list of names becomes a map when one of them has settings. */
function listToMap(text: string, list: Tree, name: string, value: string): Change | null {
  const names = (list.list ?? []).map((item) => item.text);
  if (names.some((one) => one === undefined)) return null;
  const end = text.slice(list.from, list.to).trimEnd().length + list.from;
  return {
    from: list.from,
    to: end,
    insert: `{${[...names.map((one) => `${one}: {}`), `${name}: ${value}`].join(", ")}}`,
  };
}
