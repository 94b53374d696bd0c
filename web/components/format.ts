// Numbers with their units, as the command line writes them.

/** Four digits, without zeros behind the point. */
export function digits(value: number, count = 4): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  const text = value.toFixed(Math.min(Math.max(count - 1 - size, 0), 12));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Thousands apart. */
export function whole(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

function scaled(value: number, step: readonly (readonly [number, string])[], count?: number): string {
  const size = Math.abs(value);
  const found = step.find(([factor]) => size >= factor * 0.99995) ?? step[step.length - 1];
  return found ? `${digits(value / found[0], count)} ${found[1]}` : digits(value, count);
}

const RATES = [
  [1e9, "Gbit/s"],
  [1e6, "Mbit/s"],
  [1e3, "kbit/s"],
  [1, "bit/s"],
] as const;
const TIMES = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
] as const;
const BYTES = [
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
  [1, "B"],
] as const;

export const rate = (bits: number, count?: number): string => (bits === 0 ? "0 bit/s" : scaled(bits, RATES, count));
export const span = (ns: number, count?: number): string => (ns === 0 ? "0 s" : scaled(ns, TIMES, count));
export const bytes = (count: number): string => (count === 0 ? "0 B" : scaled(count, BYTES));
export const share = (part: number): string => `${digits(part * 100, 3)} %`;
export const packets = (count: number, digitsShown?: number): string =>
  Number.isInteger(count) ? counted(count, "packet") : `${digits(count, digitsShown)} packets`;

/** A value in one of the units that figures have. */
export function quantity(value: number | null | undefined, unit: string, count?: number): string {
  if (value === null || value === undefined) return "–";
  switch (unit) {
    case "bit/s":
      return rate(value, count);
    case "ns":
      return span(value, count);
    case "B":
      return bytes(value);
    case "share":
      return share(value);
    case "packets":
      return packets(value, count);
    case "s":
      return span(value * 1e9, count);
    default:
      return unit === "" ? digits(value, count ?? 5) : `${digits(value, count)} ${unit}`;
  }
}

/** The units in which a quantity is written, the largest first. */
const STEPS: Record<string, readonly (readonly [number, string])[]> = {
  "bit/s": RATES,
  ns: TIMES,
  B: BYTES,
  s: TIMES.map(([size, name]) => [size / 1e9, name] as const),
  share: [[0.01, "%"]],
};

/** A value of a mean with what is said beside it, both in one unit, that of the larger, which is said once. */
export function plusMinus(
  mean: number | null | undefined,
  half: number | null | undefined,
  unit: string,
  { count, signed = false }: { count?: number; signed?: boolean } = {},
): string {
  if (mean === null || mean === undefined) return "–";
  const sign = signed ? (mean > 0 ? "+" : mean < 0 ? "−" : "") : "";
  const value = signed ? Math.abs(mean) : mean;
  if (half === null || half === undefined) return sign + quantity(value, unit, count);
  const steps = STEPS[unit];
  const larger = Math.max(Math.abs(mean), Math.abs(half));
  const [size, name] = steps?.find(([factor]) => larger >= factor * 0.99995) ??
    (larger === 0 ? undefined : steps?.[steps.length - 1]) ?? [1, quantity(0, unit).split(" ").slice(1).join(" ")];
  return `${sign}${digits(value / size, count ?? (steps ? 4 : 5))} ± ${digits(half / size, 2)}${name ? ` ${name}` : ""}`;
}

export function counted(count: number, thing: string, things = `${thing}s`): string {
  return `${whole(count)} ${count === 1 ? thing : things}`;
}

/** Nice steps: 1, 2 or 5 times a power of ten, about `wanted` of them. */
export function ticks(from: number, to: number, wanted: number): number[] {
  if (!(to > from)) return [from];
  const rough = (to - from) / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999) ?? power * 10;
  const all: number[] = [];
  for (let number = Math.ceil(from / step - 1e-9); number * step <= to + step * 1e-9; number += 1) {
    all.push(Number((number * step).toPrecision(12)));
  }
  return all;
}
