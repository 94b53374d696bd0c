// Where on the map there is room for one more node.

/** How far apart two nodes are at least, in lengths of a link: names are below their signs. */
const APART = 0.75;
/** Rings around the wanted place that are searched: 80,000 places. */
const RINGS = 140;

/** The place that is nearest to the wanted one and covers no other node, in steps of a link's length. */
export function freePlace(
  taken: readonly { x: number; y: number }[],
  [x, y]: readonly [number, number],
): [number, number] {
  if (taken.length === 0) return [0, 0];
  // Steps go with what is there, so that nodes come to stand in rows.
  const [first] = taken;
  const on = (wanted: number, line: number): number => line + Math.round(wanted - line);
  const [left, top] = [on(x, first?.x ?? 0), on(y, first?.y ?? 0)];
  const isFree = (atX: number, atY: number): boolean =>
    taken.every((node) => Math.hypot(node.x - atX, node.y - atY) >= APART);
  for (let ring = 0; ring <= RINGS; ring += 1) {
    const found = around(ring)
      .map(([dx, dy]) => [left + dx, top + dy] as [number, number])
      .find(([atX, atY]) => isFree(atX, atY));
    if (found) return found;
  }
  return [left, top + RINGS + 1];
}

/** The steps of a ring, the nearest first. */
function around(ring: number): [number, number][] {
  if (ring === 0) return [[0, 0]];
  const steps: [number, number][] = [];
  for (let side = -ring; side <= ring; side += 1)
    steps.push(
      [side, -ring],
      [side, ring],
      ...(Math.abs(side) < ring
        ? ([
            [-ring, side],
            [ring, side],
          ] as [number, number][])
        : []),
    );
  // To the right first, then below.
  return steps.sort(
    (one, other) => Math.hypot(...one) - Math.hypot(...other) || other[0] - one[0] || other[1] - one[1],
  );
}
