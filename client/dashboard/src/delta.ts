// The delta at which every epsilon of the application is shown: one, visible in the header, in the
// address (?delta=) and kept for the next visit.

import { computed } from '@preact/signals';
import { query, setQuery } from './router';

const KEY = 'epsledger.delta';
export const DEFAULT_DELTA = '1e-5';

/** The number that people typed, if it is in (0, 1). */
export function readDelta(text: string | null): number | undefined {
  if (text === null || text.trim() === '') return undefined;
  const value = Number(text);
  return value > 0 && value < 1 ? value : undefined;
}

function kept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** As it is typed and shown: "1e-5". Always the text of a number in (0, 1). */
export const deltaText = computed<string>(() => {
  for (const text of [query.value.get('delta'), kept()]) {
    if (text !== null && readDelta(text) !== undefined) return text.trim();
  }
  return DEFAULT_DELTA;
});

export const delta = computed<number>(() => Number(deltaText.value));

/** Returns false, and changes nothing, if the text is not a number in (0, 1). */
export function setDelta(text: string): boolean {
  if (readDelta(text) === undefined) return false;
  try {
    localStorage.setItem(KEY, text.trim());
  } catch {
    // A browser that keeps nothing still has the address.
  }
  setQuery({ delta: text.trim() });
  return true;
}
