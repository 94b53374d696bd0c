// Samples that are kept, the newest of them: instants, and some values at each.

export class Ring {
  private readonly t: Float64Array;
  private readonly values: Float32Array;
  private next = 0;
  count = 0;

  /** So many samples of so many values each. */
  constructor(
    readonly length: number,
    private readonly width: number,
  ) {
    this.t = new Float64Array(length);
    this.values = new Float32Array(length * width);
  }

  /** A value that is not known is NaN. */
  add(seconds: number, fill: (values: Float32Array, at: number) => void): void {
    this.t[this.next] = seconds;
    fill(this.values, this.next * this.width);
    this.next = (this.next + 1) % this.length;
    this.count = Math.min(this.count + 1, this.length);
  }

  /** The instant of the last sample; NaN if there is none. */
  get last(): number {
    return this.count === 0 ? NaN : (this.t[(this.next - 1 + this.length) % this.length] ?? NaN);
  }

  /** Instants in seconds and values, the oldest first; what is not known is null. */
  of(column: number): { t: number[]; y: (number | null)[] } {
    const [t, y] = [new Array<number>(this.count), new Array<number | null>(this.count)];
    const first = (this.next - this.count + this.length) % this.length;
    for (let k = 0; k < this.count; k += 1) {
      const place = (first + k) % this.length;
      const value = this.values[place * this.width + column] ?? NaN;
      t[k] = this.t[place] ?? 0;
      y[k] = Number.isNaN(value) ? null : value;
    }
    return { t, y };
  }
}
