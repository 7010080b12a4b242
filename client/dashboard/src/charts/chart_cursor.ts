// A cursor that stands on one of the points of a chart.

// Returns the index of the place nearest to `x`; places rise. -1 if there are none.
export function nearestIndex(places: readonly number[], x: number): number {
  let low = 0;
  let high = places.length - 1;
  if (high < 0) return -1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) <= x) low = middle;
    else high = middle;
  }
  const below = Math.abs((places[low] ?? 0) - x);
  const above = Math.abs((places[high] ?? 0) - x);
  return above < below ? high : low;
}

// Returns where a key moves a cursor on `count` points; undefined if it is not a cursor key.
export function indexAfterKey(key: string, index: number, count: number): number | undefined {
  const moved = (to: number) => Math.min(count - 1, Math.max(0, to));
  const page = Math.max(2, Math.round(count / 10));
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return moved(index - 1);
    case 'ArrowRight':
    case 'ArrowUp':
      return moved(index + 1);
    case 'PageDown':
      return moved(index - page);
    case 'PageUp':
      return moved(index + page);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}
