// The delta at which an epsilon is shown: the one in the address (?delta=), if somebody chose one;
// else that of the cap that the page is about; else the last chosen one, kept for the next visit.

import { computed } from '@preact/signals';
import { knownBudgets } from './api/budgets';
import { deltaOfCap, exponential } from './format/caps';
import type { Cap } from './api/messages';
import { query, route, setQuery } from './router';

const KEY = 'epsledger.delta';
export const DEFAULT_DELTA = '1e-5';

/** The number that people typed, if it is in (0, 1). */
export function readDelta(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined || text.trim() === '') return undefined;
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

function firstOf(...texts: (string | null | undefined)[]): string {
  return texts.find((text) => readDelta(text) !== undefined)?.trim() ?? DEFAULT_DELTA;
}

function textOf(cap: Cap | undefined): string | undefined {
  const value = deltaOfCap(cap);
  return value === undefined ? undefined : exponential(value);
}

/** True if somebody chose one for everything that is shown. */
export const isDeltaChosen = computed<boolean>(
  () => readDelta(query.value.get('delta')) !== undefined,
);

/** The delta of one budget on a page with many. */
export function deltaTextFor(cap: Cap | undefined): string {
  return firstOf(query.value.get('delta'), textOf(cap), kept());
}

/** The delta of the page, as it is typed and shown: "1e-5". Always the text of a number in (0, 1). */
export const deltaText = computed<string>(() => {
  const { budget } = route.value as { budget?: string };
  return deltaTextFor(
    budget === undefined ? undefined : knownBudgets.value.get(`budgets/${budget}`)?.cap,
  );
});

export const delta = computed<number>(() => Number(deltaText.value));

/** Returns false, and changes nothing, if the text is not a number in (0, 1). */
export function setDelta(text: string): boolean {
  if (readDelta(text) === undefined) return false;
  try {
    localStorage.setItem(KEY, text.trim());
  } catch {
    // A browser without storage still has the address.
  }
  setQuery({ delta: text.trim() });
  return true;
}
