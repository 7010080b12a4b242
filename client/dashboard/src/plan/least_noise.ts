// The least noise with which a plan fits the caps, found by previews.

import { rounded } from '../format/numbers';

/** True if it fits the caps; a text says why they cannot be asked. */
export type Ask = (noise: number) => Promise<boolean | string>;

const LARGEST_NOISE = 1e6;
const SMALLEST_NOISE = 1e-3;
const ENOUGH = 1.002;

/**
 * A fitting noise multiplier, with four digits, at most about .3 % above the least; undefined if
 * none up to LARGEST_NOISE fits. A text is the first reason why the caps could not be asked.
 */
export async function leastNoise(start: number, ask: Ask): Promise<number | string | undefined> {
  // `low` is refused and `high` fits.
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
  // The shown number is one that was asked: more noise costs no more, but it is asked all the same.
  const shown = Number(rounded(high, 'up', 4));
  taken = await ask(shown);
  if (typeof taken === 'string') return taken;
  return taken ? shown : high;
}
