// Three texts become one: what the file was, what it is here, and what somebody else made of it meanwhile.

export interface Merged {
  text: string;
  conflict: boolean;
}

/** Where two texts differ, as lines: from the first difference to the last. */
function changed(base: string[], other: string[]): { from: number; to: number; lines: string[] } {
  let from = 0;
  while (from < base.length && from < other.length && base[from] === other[from]) from += 1;
  let [to, end] = [base.length, other.length];
  while (to > from && end > from && base[to - 1] === other[end - 1]) [to, end] = [to - 1, end - 1];
  return { from, to, lines: other.slice(from, end) };
}

/** Joins both changes if they are apart; else both stand in the text, between marks, and nothing is lost. */
export function merge(base: string, mine: string, theirs: string): Merged {
  if (mine === theirs || theirs === base) return { text: mine, conflict: false };
  if (mine === base) return { text: theirs, conflict: false };
  const lines = base.split("\n");
  const [own, other] = [changed(lines, mine.split("\n")), changed(lines, theirs.split("\n"))];
  const apart = own.to < other.from || other.to < own.from;
  if (apart) {
    const [first, second] = own.from < other.from ? [own, other] : [other, own];
    return {
      text: [
        ...lines.slice(0, first.from),
        ...first.lines,
        ...lines.slice(first.to, second.from),
        ...second.lines,
        ...lines.slice(second.to),
      ].join("\n"),
      conflict: false,
    };
  }
  const [from, to] = [Math.min(own.from, other.from), Math.max(own.to, other.to)];
  const whole = (one: { from: number; to: number; lines: string[] }): string[] => [
    ...lines.slice(from, one.from),
    ...one.lines,
    ...lines.slice(one.to, to),
  ];
  const marked = (name: string, all: string[]): string[] => [`# >>> ${name}`, ...all];
  return {
    text: [
      ...lines.slice(0, from),
      ...marked("changed here", whole(own)),
      ...marked("changed on disk", whole(other)),
      "# <<< choose one of both",
      ...lines.slice(to),
    ].join("\n"),
    conflict: true,
  };
}
