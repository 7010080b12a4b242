// The least noise that caps take, found by asking them.

import { rounded } from '../format/numbers';

/** True if the caps take it; a text says why they cannot be asked. */
export type Ask = (noise: number) => Promise<boolean | string>;

const LARGEST_NOISE = 1e6;
const SMALLEST_NOISE = 1e-3;
const ENOUGH = 1.002;

/**
 * A noise multiplier that `ask` takes, of four digits, at most about .3 % above the least; undefined if none up to
 * LARGEST_NOISE does. A text is the first reason why it could not be asked.
 */
export async function leastNoise(start: number, ask: Ask): Promise<number | string | undefined> {
  // `low` is refused and `high` is taken.
  let low = start;
  let high = start;
  let taken = await ask(start);
  if (typeof taken === 'string') return taken;
  if (taken) {
    while (taken) {
      high = low;
      low /= 2;
      if (low < SMALLEST_NOISE) return high;
      taken = await ask(low);
      if (typeof taken === 'string') return taken;
    }
  } else {
    while (!taken) {
      low = high;
      high *= 2;
      if (high > LARGEST_NOISE) return undefined;
      taken = await ask(high);
      if (typeof taken === 'string') return taken;
    }
  }
  while (high > low * ENOUGH) {
    const middle = Math.sqrt(low * high);
    taken = await ask(middle);
    if (typeof taken === 'string') return taken;
    if (taken) high = middle;
    else low = middle;
  }
  // What is shown is what was asked: more noise costs no more, and is asked all the same.
  const shown = Number(rounded(high, 'up', 4));
  taken = await ask(shown);
  if (typeof taken === 'string') return taken;
  return taken ? shown : high;
}
