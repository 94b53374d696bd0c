// Values that a sweep varies, as numbers: texts of a lab file, all of one kind.
import { digits, quantity } from "./format";

/** Units by what they measure, each with its size in the unit that figures have. */
const UNITS: Record<string, Record<string, number>> = {
  ns: { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, min: 6e10, h: 3.6e12 },
  "bit/s": { "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, bps: 1, kbps: 1e3, Mbps: 1e6, Gbps: 1e9 },
  B: { B: 1, byte: 1, bytes: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 },
  share: { "%": 0.01 },
  packets: { packet: 1, packets: 1 },
};

export interface Measured {
  numbers: number[];
  format: (value: number) => string;
}

/** The numbers of values, if all of them are numbers of one kind and there are two or more that differ. */
export function measured(values: readonly string[]): Measured | null {
  const parts = values.map((value) => /^([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(\S*)$/i.exec(value.trim()));
  const kinds = new Set(parts.map((part) => (part ? kindOf(part[2] ?? "") : null)));
  const [kind] = kinds;
  if (kinds.size !== 1 || kind === null || kind === undefined) return null;
  const numbers = parts.map(
    (part) =>
      Number((part?.[1] ?? "").replaceAll("_", "")) * (kind === "" ? 1 : (UNITS[kind]?.[part?.[2] ?? ""] ?? NaN)),
  );
  if (numbers.some((number) => !Number.isFinite(number)) || new Set(numbers).size < 2) return null;
  return { numbers, format: (value) => (kind === "" ? digits(value, 5) : quantity(value, kind, 4)) };
}

/** What a unit measures: nothing of a bare number, null of what is no unit. */
const kindOf = (unit: string): string | null =>
  unit === "" ? "" : (Object.keys(UNITS).find((kind) => UNITS[kind]?.[unit] !== undefined) ?? null);
