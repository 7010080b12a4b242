// A cap in words, with the numbers as they were given: they are exact.

import type { Cap, Double } from '../api/messages';

/** With how an (epsilon, delta) cap is kept: "epsilon 3 at delta 1e-5, by Renyi orders". */
export function capWords(cap: Cap | undefined): string {
  const filter = cap?.approximateDp?.filter;
  const name = filter === undefined ? undefined : FILTERS[filter];
  return name === undefined ? shortCapWords(cap) : `${shortCapWords(cap)}, kept by ${name}`;
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
  if (cap?.noGuarantee !== undefined) return 'none: promises nothing';
  return 'unknown cap';
}

/** 0.00001 as "1e-5": a delta as it was given. */
export function exponential(value: Double | undefined): string {
  const number = Number(value ?? 0);
  return number !== 0 && number < 1e-3 ? number.toExponential() : String(number);
}
