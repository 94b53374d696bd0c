// Quantities as texts of a lab file, read exactly: crates/units/src/decimal.rs and python/src/netloom/_quantity.py read them by the same rule, and all
// are tested from tests/golden/exact.csv.
import { digits, quantity } from "./format";

/** Units by what they measure, each with its size in the unit that figures have; those of shares in 10^-12. */
const UNITS = {
  ns: { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, min: 6e10, h: 3.6e12 },
  "bit/s": {
    "bit/s": 1,
    "kbit/s": 1e3,
    "Mbit/s": 1e6,
    "Gbit/s": 1e9,
    "Tbit/s": 1e12,
    "B/s": 8,
    "kB/s": 8e3,
    "MB/s": 8e6,
    "GB/s": 8e9,
  },
  B: { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 },
  share: { "%": 1e10 },
  packets: { packet: 1, packets: 1 },
} as const satisfies Record<string, Record<string, number>>;

export type Kind = keyof typeof UNITS;

const KINDS = Object.keys(UNITS) as Kind[];
const SHARE = 1e12;

/** A number and its unit: the number is `digits` over ten to the power of `decimals`. */
interface Scanned {
  digits: bigint;
  decimals: number;
  unit: string;
}

function scan(text: string): Scanned | null {
  const found = /^(\d+)(?:\.(\d+))?\s*([^\s\d.]\S*)?$/.exec(text.trim());
  if (!found) return null;
  const fraction = found[2] ?? "";
  return { digits: BigInt((found[1] ?? "") + fraction), decimals: fraction.length, unit: found[3] ?? "" };
}

const sizeOf = (unit: string, kind: Kind): number | undefined => (UNITS[kind] as Record<string, number>)[unit];

/** A quantity in the smallest unit of its kind, which it has to be a whole number of; null of every other text. */
export function exact(text: string, kind: Kind): bigint | null {
  const scanned = scan(text);
  const size = scanned && sizeOf(scanned.unit, kind);
  if (!scanned || size === undefined || size === null) return null;
  const product = scanned.digits * BigInt(size);
  const divisor = BigInt(10) ** BigInt(scanned.decimals);
  return product % divisor === BigInt(0) ? product / divisor : null;
}

/** A quantity in the unit that figures have, a share as a part of one; NaN of every other text. */
export function amount(text: string, kind: Kind): number {
  const whole = exact(text, kind);
  const scanned = scan(text);
  const size = scanned && sizeOf(scanned.unit, kind);
  const value = whole !== null ? Number(whole) : Number.parseFloat(text) * (size ?? NaN);
  return kind === "share" ? value / SHARE : value;
}

export interface Measured {
  numbers: number[];
  format: (value: number) => string;
}

/** The numbers of values, if all of them are numbers of one kind and there are two or more that differ. */
export function measured(values: readonly string[]): Measured | null {
  const kinds = new Set(values.map(kindOf));
  const [kind] = kinds;
  if (kinds.size !== 1 || kind === null || kind === undefined) return null;
  const numbers = values.map((value) => (kind === "" ? bare(value) : amount(value, kind)));
  if (numbers.some((number) => !Number.isFinite(number)) || new Set(numbers).size < 2) return null;
  return { numbers, format: (value) => (kind === "" ? digits(value, 5) : quantity(value, kind, 4)) };
}

/** What a value measures: nothing of a bare number, null of what is no quantity. */
function kindOf(text: string): Kind | "" | null {
  if (Number.isFinite(bare(text))) return "";
  const unit = scan(text)?.unit;
  return KINDS.find((kind) => unit !== undefined && sizeOf(unit, kind) !== undefined) ?? null;
}

/** A number as YAML has it: with a sign, an exponent, and underscores between digits. */
const bare = (text: string): number =>
  /^[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text.trim()) ? Number(text.trim().replaceAll("_", "")) : NaN;
