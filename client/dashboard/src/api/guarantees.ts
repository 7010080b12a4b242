// What a budget's history adds up to, and what an attacker can do with it.

import type { ReadonlySignal } from '@preact/signals';
import { get, pathOfResource, type Result } from './client';
import {
  numberOf,
  type AccountantReading,
  type BudgetGuarantees,
  type Guarantee,
} from './messages';
import { roundedUp } from '../format/numbers';
import { SHOWN_FALSE_POSITIVE_RATE } from './budgets';
import { useAnswer, type Read, type ReadOptions } from './read';

/** Epsilon at delta of a budget, with the worst-case true positive rate if the server knows it. */
export function useBudgetGuarantees(
  name: string,
  deltaText: string,
  known: ReadOptions<BudgetGuarantees> = {},
): ReadonlySignal<Read<BudgetGuarantees>> {
  const ask = async (abort: AbortSignal): Promise<Result<BudgetGuarantees>> => {
    const path = pathOfResource(name, 'guarantees');
    const both = await get<BudgetGuarantees>(
      path,
      { delta: deltaText, typeOneError: SHOWN_FALSE_POSITIVE_RATE },
      abort,
    );
    // An older server does not know typeOneError here.
    if (both.ok || both.error.kind !== 'not-offered') return both;
    return get<BudgetGuarantees>(path, { delta: deltaText }, abort);
  };
  return useAnswer(`guarantees ${name} ${deltaText}`, ask, {
    touchedBy: [name],
    ...known,
  });
}

/** The reading of the smallest proven epsilon; undefined if no accountant knows every event. */
export function bestGuarantee(
  readings: readonly AccountantReading[] | undefined,
): Guarantee | undefined {
  return readings?.find(({ accountant }) => accountant === 'BEST')?.guarantee;
}

/** Its epsilon, rounded up; "no finite bound" if it is infinite. */
export function epsilonWords(readings: readonly AccountantReading[] | undefined): string {
  const epsilon = numberOf(bestGuarantee(readings)?.upper);
  return epsilon === undefined ? 'no bound' : roundedUp(epsilon);
}

/** The note beside an epsilon that rests on an event which somebody claims without a theorem. */
export function claimWords(readings: readonly AccountantReading[] | undefined): string {
  return bestGuarantee(readings)?.containsUnverifiedClaim === true
    ? 'rests on an unverified claim'
    : '';
}
