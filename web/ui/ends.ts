// Ends of flows, by the names of their nodes in place of addresses.

/** Which node has an address. Addresses may have the length of their subnet's prefix. */
export const namesOf = (nodes: Iterable<{ name: string; addresses: readonly string[] }>): Map<string, string> =>
  new Map(
    [...nodes].flatMap(({ name, addresses }) =>
      addresses.map((address) => [address.replace(/\/\d+$/, ""), name] as const),
    ),
  );

/** An end, with its port if it has one, as in `[fd00::1]:80`, by the name of its node if that is known. */
export function endWords(end: string, names: ReadonlyMap<string, string>): string {
  const whole = names.get(end);
  if (whole !== undefined) return whole;
  const at = end.lastIndexOf(":");
  const address = end.slice(0, at).replace(/^\[(.*)\]$/, "$1");
  const name = names.get(address);
  return name === undefined ? end : `${name}:${end.slice(at + 1)}`;
}

const PROTOCOLS = new Map([
  ["tcp", "TCP"],
  ["udp", "UDP"],
  ["icmp", "ICMP"],
  ["icmpv6", "ICMPv6"],
  ["sctp", "SCTP"],
]);

/** A flow in words; the arrow stays with where it goes. */
export const flowWords = (
  { protocol, source, destination }: { protocol: string; source: string; destination: string },
  names: ReadonlyMap<string, string>,
): string => `${PROTOCOLS.get(protocol) ?? protocol} ${endWords(source, names)} →\u00a0${endWords(destination, names)}`;

/** An address and a port as they are written together; the port may be missing. */
export const endOf = (address: string, port: number | null): string =>
  port === null ? address : `${address.includes(":") ? `[${address}]` : address}:${port}`;
