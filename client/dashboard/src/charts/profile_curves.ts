// The privacy profile as a chart: delta against epsilon, delta on a logarithmic axis. Everything is in
// powers of ten, because delta may lie below what a number can hold.

import { numberOf, type PrivacyProfilePoint } from '../api/messages';
import { roundedUp } from '../format/numbers';
import type { ChartTable } from './chart_table';
import type { Curve } from './curve';

export interface ProfilePoint {
  epsilon: number;
  /** Powers of ten; -Infinity for delta 0, NaN if not known. */
  upper: number;
  lower: number;
  /** The upper bound itself, if a number can hold it. */
  delta?: number;
  isApproximation: boolean;
  theorem: string;
  accountant: string;
}

/** Powers of ten below this are drawn at the edge. */
export const DEEPEST_POWER = -30;

export function profilePoints(points: readonly PrivacyProfilePoint[]): ProfilePoint[] {
  return points.map(({ epsilon, delta = {} }) => ({
    epsilon: numberOf(epsilon) ?? NaN,
    upper: power(numberOf(delta.logUpper), numberOf(delta.upper)),
    lower: power(numberOf(delta.logLower), numberOf(delta.lower)),
    delta: numberOf(delta.upper),
    isApproximation: delta.kind === 'APPROXIMATION',
    theorem: delta.theorem ?? '',
    accountant: delta.accountant ?? '',
  }));
}

function power(logarithm: number | undefined, value: number | undefined): number {
  if (logarithm !== undefined) return logarithm / Math.LN10;
  return value === undefined ? NaN : Math.log10(value);
}

// Numbers below this have lost precision.
const SMALLEST_EXACT = 1e-300;

/** Delta rounded up to two digits: "3.1e-6", also "1.2e-400". */
export function deltaWords({ delta, upper }: { delta?: number; upper: number }): string {
  if (delta !== undefined && delta >= SMALLEST_EXACT) return roundedUp(delta, 2);
  if (Number.isNaN(upper)) return 'unknown';
  if (upper === -Infinity) return '0';
  const exponent = Math.floor(upper);
  const tenths = Math.ceil(10 ** (upper - exponent) * 10);
  return tenths >= 100 ? `1e${exponent + 1}` : `${tenths / 10}e${exponent}`;
}

export function profileCurves(points: readonly ProfilePoint[], name: string): Curve[] {
  const isApproximation = points.some((point) => point.isApproximation);
  const drawn = (value: number) => (value === -Infinity ? DEEPEST_POWER * 2 : value);
  const hasLower = points.some(({ lower }) => Number.isFinite(lower));
  return [
    {
      name,
      kind: isApproximation ? 'approximation' : hasLower ? 'band' : 'bound',
      color: 1,
      upper: points.map(({ upper }) => drawn(upper)),
      lower: points.map(({ lower }) => drawn(lower)),
    },
  ];
}

export function profileWords(point: ProfilePoint | undefined): string {
  if (point === undefined) return 'No points.';
  const delta = deltaWords(point);
  if (point.upper >= 0)
    return `At epsilon ${roundedUp(point.epsilon)} nothing is promised: delta is 1.`;
  return point.isApproximation
    ? `At epsilon ${roundedUp(point.epsilon)} delta is about ${delta}: an approximation, not a bound.`
    : `The history is (epsilon ${roundedUp(point.epsilon)}, delta ${delta})-differentially private.`;
}

/** The whole curve in words; delta is at most `wanted`, "1e-5", from `reached` on, if anywhere. */
export function profileSummary(
  points: readonly ProfilePoint[],
  reached: number,
  wanted: string,
): string {
  const first = points[0];
  const at = points[reached];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return 'No points.';
  const isApproximation = points.some((point) => point.isApproximation);
  const what = isApproximation ? 'The approximation' : 'The bound on delta';
  if (at === undefined) {
    return `${what} stays above ${wanted} up to epsilon ${roundedUp(last.epsilon)}, where the axis ends.`;
  }
  return isApproximation
    ? `About ${wanted} at epsilon ${roundedUp(at.epsilon)}: an approximation, not a bound.`
    : `Delta falls from ${deltaWords(first)} at epsilon 0; ` +
        `from epsilon ${roundedUp(at.epsilon)} on it is at most ${wanted}.`;
}

export function profileTable(points: readonly ProfilePoint[]): ChartTable {
  return {
    columns: ['epsilon', 'delta at most', 'accountant'],
    rows: points.map((point) => [
      roundedUp(point.epsilon, 4),
      deltaWords(point),
      point.isApproximation ? `${point.accountant}, approximation` : point.accountant,
    ]),
    exactColumns: ['epsilon', 'log10 delta upper', 'log10 delta lower', 'accountant', 'theorem'],
    exactRows: points.map((point) => [
      point.epsilon,
      point.upper,
      point.lower,
      point.accountant,
      point.theorem,
    ]),
  };
}
