// Numbers with their units, as the command line writes them: crates/units/src/quantity.rs has the same rule, and both are tested from tests/golden/quantities.json.
// The unit is the largest one that the value reaches, and a number has four digits, or all before the point, without zeros that say nothing.

/** More decimals than these no number has. */
const MOST_DECIMALS = 9;

/** Four digits, without zeros behind the point. */
export function digits(value: number, count = 4): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  return withDecimals(value, Math.min(Math.max(count - 1 - size, 0), MOST_DECIMALS));
}

function withDecimals(value: number, decimals: number): string {
  const text = fixed(value, decimals);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** So many decimals; of two that are equally near the even one, where `toFixed` takes the larger. */
function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  // A double of this size has so many decimals at most: this is all of it.
  const isTie = /^50*$/.test(value.toFixed(Math.min(decimals + 60, 100)).slice(text.length + (decimals === 0 ? 1 : 0)));
  return isTie && /[13579]$/.test(text) ? (value * (1 - Number.EPSILON)).toFixed(decimals) : text;
}

/** Thousands apart. */
export function whole(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

type Units = readonly (readonly [number, string])[];

/** The largest unit that a value reaches, else the smallest one. */
const unitOf = (value: number, units: Units): readonly [number, string] =>
  units.find(([factor]) => Math.abs(value) >= factor) ?? units[units.length - 1] ?? [1, ""];

function scaled(value: number, units: Units, count = 4): string {
  const [factor, name] = unitOf(value, units);
  const shown = value / factor;
  // What is below the smallest unit has no more decimals for that.
  const size = Math.max(Math.floor(Math.log10(Math.abs(shown))), 0);
  return `${withDecimals(shown, Math.max(count - 1 - size, 0))} ${name}`;
}

const RATES = [
  [1e12, "Tbit/s"],
  [1e9, "Gbit/s"],
  [1e6, "Mbit/s"],
  [1e3, "kbit/s"],
  [1, "bit/s"],
] as const;
const TIMES = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "us"],
  [1, "ns"],
] as const;
const BYTES = [
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
  [1, "B"],
] as const;

/** Parts of a nanosecond or a byte are no measurements. */
const rounded = (value: number): number => Math.sign(value) * Math.round(Math.abs(value));

export const rate = (bits: number, count?: number): string => scaled(bits, RATES, count);
export const span = (ns: number, count?: number): string => scaled(rounded(ns), TIMES, count);
export const bytes = (count: number): string => scaled(rounded(count), BYTES);
export const share = (part: number, count = 3): string => `${digits(part * 100, count)} %`;
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
      return share(value, count ?? 4);
    case "packets":
      return packets(value, count);
    case "s":
      return span(value * 1e9, count);
    default:
      return unit === "" ? digits(value, count) : `${digits(value, count)} ${unit}`;
  }
}

/** The units in which a quantity is written, the largest first. */
const STEPS: Record<string, Units> = {
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
  const [size, name] = steps ? unitOf(larger, steps) : [1, quantity(0, unit).split(" ").slice(1).join(" ")];
  return `${sign}${digits(value / size, count ?? 4)} ± ${digits(half / size, 2)}${name ? ` ${name}` : ""}`;
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
