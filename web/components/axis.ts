// The time axis that all plots of a page share: what is in sight, where the cursor is, and what is marked.

export interface Mark {
  t: number;
  kind: string;
  text: string;
  link?: string;
  direction?: string;
}

/** A span of time in which something was wrong: it is shaded. */
export interface FaultSpan {
  from: number;
  /** null: to the end. */
  to: number | null;
  text: string;
}

export interface Member {
  /** What is in sight has changed. */
  show(from: number, to: number): void;
  /** The cursor is at this instant, or nowhere. */
  point(at: number | null): void;
}

export class TimeAxis {
  from = 0;
  to: number;
  marks: Mark[];
  readonly faults: readonly FaultSpan[];
  cursor: number | null = null;
  private readonly members = new Set<Member>();
  private readonly listeners = new Set<() => void>();
  private busy = false;

  constructor(
    readonly end: number,
    marks: Mark[],
    faults: readonly FaultSpan[] = [],
  ) {
    this.to = end;
    this.marks = marks;
    this.faults = faults;
  }

  join(member: Member): void {
    this.members.add(member);
  }

  leave(member: Member): void {
    this.members.delete(member);
  }

  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  get isWhole(): boolean {
    return this.from <= 0 && this.to >= this.end;
  }

  /** Puts `from` to `to` in sight, in all plots. */
  set(from: number, to: number): void {
    if (this.busy || !(to > from)) return;
    const least = Math.max(this.end * 1e-5, 1e-6);
    let width = Math.min(Math.max(to - from, least), this.end);
    if (width > this.end * 0.9999) width = this.end;
    const begin = Math.min(Math.max(from, 0), this.end - width);
    if (begin === this.from && begin + width === this.to) return;
    [this.from, this.to] = [begin, begin + width];
    this.busy = true;
    this.members.forEach((member) => {
      member.show(this.from, this.to);
    });
    this.listeners.forEach((listener) => {
      listener();
    });
    this.busy = false;
  }

  reset(): void {
    this.set(0, this.end);
  }

  /** Makes what is in sight `factor` times as long, around the cursor or the middle. */
  zoom(factor: number): void {
    const middle =
      this.cursor !== null && this.cursor > this.from && this.cursor < this.to
        ? this.cursor
        : (this.from + this.to) / 2;
    this.set(middle - (middle - this.from) * factor, middle + (this.to - middle) * factor);
  }

  pan(part: number): void {
    const by = (this.to - this.from) * part;
    const from = Math.min(Math.max(this.from + by, 0), this.end - (this.to - this.from));
    this.set(from, from + (this.to - this.from));
  }

  point(at: number | null): void {
    this.cursor = at;
    this.members.forEach((member) => {
      member.point(at);
    });
  }

  redraw(): void {
    this.members.forEach((member) => {
      member.show(this.from, this.to);
    });
  }
}
