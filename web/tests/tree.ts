// The text of a lab file as the server says where its parts stand, for tests without one.
import type { Tree } from "../ui/api";

/** A reader of a small part of YAML, enough for these texts: block maps, flow maps and lists, plain words. */
class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  private skip(): void {
    while (/[ \t]/.test(this.text[this.at] ?? "")) this.at += 1;
  }

  private blank(): void {
    for (;;) {
      const line = /^[ \t]*(#[^\n]*)?\n/.exec(this.text.slice(this.at));
      if (!line) return;
      this.at += line[0].length;
    }
  }

  private spaces(): number {
    return /^ */.exec(this.text.slice(this.at))?.[0].length ?? 0;
  }

  private word(): Tree {
    const { text, at: from } = this;
    while (
      this.at < text.length &&
      !/[,}\]\n]/.test(text[this.at] ?? "") &&
      !(text[this.at] === ":" && /\s/.test(text[this.at + 1] ?? "")) &&
      !(text[this.at] === " " && text[this.at + 1] === "#")
    )
      this.at += 1;
    const word = text.slice(from, this.at).trimEnd();
    return { from, to: from + word.length, text: word, plain: true };
  }

  private flow(): Tree {
    const { text, at: from } = this;
    const open = text[from];
    if (open !== "{" && open !== "[") return this.word();
    this.at += 1;
    const [map, list]: [NonNullable<Tree["map"]>, Tree[]] = [[], []];
    for (this.skip(); text[this.at] !== "}" && text[this.at] !== "]"; this.skip()) {
      const item = this.flow();
      this.skip();
      if (text[this.at] === ":") {
        this.at += 1;
        this.skip();
        map.push({ name: item.text ?? "", from: item.from, to: item.to, value: this.flow() });
      } else list.push(item);
      this.skip();
      if (text[this.at] === ",") this.at += 1;
    }
    this.at += 1;
    return open === "{" ? { from, to: this.at, map } : { from, to: this.at, list };
  }

  /** What stands behind a key: on its line, or as a block below it. */
  private value(indent: number): Tree {
    this.skip();
    if (this.text[this.at] !== "\n" && this.at < this.text.length) return this.flow();
    const after = this.at;
    this.at += 1;
    this.blank();
    const deeper = this.spaces();
    return deeper > indent ? this.block(deeper) : { from: after, to: after, empty: true };
  }

  block(indent: number): Tree {
    const { text } = this;
    const [map, list]: [NonNullable<Tree["map"]>, Tree[]] = [[], []];
    this.blank();
    const first = this.at + indent;
    let end = first;
    for (;;) {
      this.blank();
      const spaces = this.spaces();
      if (this.at >= text.length || spaces !== indent) break;
      this.at += spaces;
      if (text.startsWith("- ", this.at)) {
        this.at += 2;
        list.push(this.flow());
      } else {
        const from = this.at;
        const name = /^[^:\n]+/.exec(text.slice(from))?.[0] ?? "";
        this.at += name.length + 1;
        map.push({ name, from, to: from + name.length, value: this.value(indent) });
      }
      end = this.at;
      const line = text.indexOf("\n", Math.max(this.at - 1, 0));
      if (text[this.at - 1] !== "\n") this.at = line < 0 ? text.length : line + 1;
    }
    return list.length > 0 ? { from: first, to: end, list } : { from: first, to: end, map };
  }
}

export const treeOf = (text: string): Tree => new Reader(text).block(0);
