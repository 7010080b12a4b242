// A cap in words, with the given numbers: they are exact.

import { numberOf, type Budget, type Cap, type Double } from '../api/messages';
import { eventWords } from './events';
import { count, percent, rounded, roundedUp } from './numbers';

/** With the filter of an (epsilon, delta) cap: "epsilon 3 at delta 1e-5, enforced by ...". */
export function capWords(cap: Cap | undefined): string {
  const filter = cap?.approximateDp?.filter;
  const name = filter === undefined ? undefined : FILTERS[filter];
  return name === undefined ? shortCapWords(cap) : `${shortCapWords(cap)}, enforced by ${name}`;
}

const FILTERS: Record<string, string> = {
  RENYI_ORDERS: 'Rényi divergences at a grid of orders',
  RENYI_ONE_ORDER: 'the Rényi divergence at one order',
  BASIC: 'basic composition',
  ADVANCED: 'advanced composition',
  ZCDP: 'zCDP',
  RESIDUE: 'units of a reference',
  PORTFOLIO: 'units of a reference, mu-GDP and Rényi orders side by side',
};

export function shortCapWords(cap: Cap | undefined): string {
  if (cap?.approximateDp !== undefined) {
    const { epsilon, delta } = cap.approximateDp;
    return `epsilon ${epsilon ?? 0} at delta ${exponential(delta)}`;
  }
  if (cap?.pureEpsilon !== undefined) return `pure epsilon ${cap.pureEpsilon.epsilon ?? 0}`;
  if (cap?.zcdp !== undefined) return `zCDP of rho ${cap.zcdp.rho ?? 0}`;
  if (cap?.gaussianDp !== undefined) return `Gaussian DP of mu ${cap.gaussianDp.mu ?? 0}`;
  if (cap?.renyi !== undefined) {
    return `Rényi divergence ${cap.renyi.divergence ?? 0} at order ${cap.renyi.order ?? 0}`;
  }
  if (cap?.tradeOffCurve !== undefined) {
    const points = cap.tradeOffCurve.points ?? [];
    return `trade-off curve through ${points.map((p) => `(${p.epsilon ?? 0}, ${exponential(p.delta)})`).join(', ')}`;
  }
  if (cap?.units !== undefined) {
    const at = cap.units.guarantee?.at(-1);
    const promise = at === undefined ? '' : `, epsilon ${rounded(numberOf(at.epsilon) ?? Infinity, 'up')} at delta ${exponential(at.delta)}`;
    return `${count(cap.units.count)} units${promise}`;
  }
  if (cap?.noGuarantee !== undefined) return 'none: promises nothing';
  return 'unknown cap';
}

/** What a cap in units holds and what is left of it; empty for other caps. */
export function unitsWords(budget: Budget): string {
  const units = (budget.cells ?? []).find((cell) => cell.quantity === 'UNITS');
  if (units === undefined) return '';
  const reference = budget.cap?.units?.reference ?? budget.cap?.approximateDp?.reference;
  if (reference === undefined) {
    return 'It will count units of the event that its first session expects, or else that its first charge suggests.';
  }
  const all = count(Math.floor(numberOf(units.cap) ?? 0));
  const left = count(Math.floor(numberOf(units.remaining) ?? 0));
  return `It counts units of ${eventWords(reference)}: a step that is exactly this costs one. ${all} such steps fit in all, ${left} are left.`;
}

/** The delta that a cap names; its epsilon is shown at it unless somebody chooses another. */
export function deltaOfCap(cap: Cap | undefined): number | undefined {
  return numberOf(cap?.approximateDp?.delta ?? cap?.units?.delta);
}

/** The epsilon that a cap promises at the delta that it names. */
function epsilonOfCap(cap: Cap | undefined): number | undefined {
  return numberOf(cap?.approximateDp?.epsilon ?? cap?.units?.guarantee?.at(-1)?.epsilon);
}

/**
 * How much is spent, in two ways: the share of what the cap counts, and the epsilon of all charges.
 * Empty if the cap names no delta, or if the epsilon is at another one.
 */
export function spentWords(budget: Budget, epsilon: number | undefined, at: number): string {
  const cap = epsilonOfCap(budget.cap);
  if (cap === undefined || epsilon === undefined || deltaOfCap(budget.cap) !== at) return '';
  const share = percent(numberOf(budget.spentFraction) ?? 0, 'up');
  return (
    `${share} of the cap is spent; its charges amount to epsilon ${roundedUp(epsilon)} of ` +
    `${roundedUp(cap)} at delta ${exponential(at)}. Epsilon grows fast at first, about as the square root of the ` +
    'steps; the share grows with each step, and it decides what still fits.'
  );
}

/** The curve that a cap in units promises; empty for other caps. */
export function curveWords(cap: Cap | undefined): string {
  const points = (cap?.units?.guarantee ?? []).map(
    (at) => `epsilon ${rounded(numberOf(at.epsilon) ?? Infinity, 'up')} at delta ${exponential(at.delta)}`,
  );
  return points.length === 0 ? '' : `It promises a whole curve, all of these at once: ${points.join('; ')}.`;
}

/** How far the cap's guarantee goes: accounting/filter/README.md, "Scope". */
export function scopeWords(budget: Budget): string {
  if (budget.cap?.noGuarantee !== undefined) return '';
  if ((budget.parent ?? '') === '') {
    return 'The cap holds for everything below this budget together; each step may depend on everything that was released before it under this budget.';
  }
  return 'The cap holds for everything charged below this budget together, if nothing else that was released about the same people was used to choose it. What the budgets above refuse or have left counts as released. The cap of the root budget holds for everything together.';
}

/** Returns "1e-5" for 0.00001: a delta as it was given. */
export function exponential(value: Double | undefined): string {
  const number = Number(value ?? 0);
  return number !== 0 && number < 1e-3 ? number.toExponential() : String(number);
}
