// What a budget's history amounts to, and what an attacker can do with it.

import type { ReadonlySignal } from '@preact/signals';
import { get, pathOfResource, type Result } from './client';
import { numberOf, type AccountantReading, type BudgetGuarantees } from './messages';
import { useAnswer, type Read } from './read';

export const SHOWN_FALSE_POSITIVE_RATE = 0.01;

/** Epsilon at delta of a budget, with the worst-case true positive rate where the server knows it. */
export function useBudgetGuarantees(
  name: string,
  deltaText: string,
): ReadonlySignal<Read<BudgetGuarantees>> {
  const ask = async (abort: AbortSignal): Promise<Result<BudgetGuarantees>> => {
    const path = pathOfResource(name, 'guarantees');
    const both = await get<BudgetGuarantees>(
      path,
      { delta: deltaText, typeOneError: SHOWN_FALSE_POSITIVE_RATE },
      abort,
    );
    // An older server knows no typeOneError here.
    if (both.ok || both.error.kind !== 'not-offered') return both;
    return get<BudgetGuarantees>(path, { delta: deltaText }, abort);
  };
  return useAnswer(`guarantees ${name} ${deltaText}`, ask, { touchedBy: [name] });
}

/** The smallest proven epsilon; infinite where there is none; undefined if nobody knows. */
export function bestEpsilon(
  readings: readonly AccountantReading[] | undefined,
): number | undefined {
  const best = readings?.find((reading) => reading.accountant === 'BEST');
  return numberOf(best?.guarantee?.upper);
}
