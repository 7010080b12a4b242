// A cap in words, with the numbers as they were given: they are exact.

import type { Cap } from '../api/messages';
import { lowerName } from './names';

export function capWords(cap: Cap | undefined): string {
  if (cap?.approximateDp !== undefined) {
    const { epsilon, delta, filter } = cap.approximateDp;
    const by = filter === undefined || filter === 'FILTER_UNSPECIFIED' ? '' : `, by the ${lowerName(filter)} filter`;
    return `epsilon ${epsilon ?? 0} at delta ${delta ?? 0}${by}`;
  }
  if (cap?.pureEpsilon !== undefined) return `pure epsilon ${cap.pureEpsilon.epsilon ?? 0}`;
  if (cap?.zcdp !== undefined) return `zCDP of rho ${cap.zcdp.rho ?? 0}`;
  if (cap?.gaussianDp !== undefined) return `Gaussian DP of mu ${cap.gaussianDp.mu ?? 0}`;
  if (cap?.renyi !== undefined) {
    return `Rényi divergence ${cap.renyi.divergence ?? 0} at order ${cap.renyi.order ?? 0}`;
  }
  if (cap?.tradeOffCurve !== undefined) {
    const points = cap.tradeOffCurve.points ?? [];
    return `trade-off curve through ${points.map((p) => `(${p.epsilon ?? 0}, ${p.delta ?? 0})`).join(', ')}`;
  }
  if (cap?.noGuarantee !== undefined) return 'none: promises nothing';
  return 'unknown cap';
}
