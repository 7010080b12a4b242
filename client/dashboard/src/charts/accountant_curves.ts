// Epsilon against step under several accountants: one history, read in several ways.

import {
  countOf,
  numberOf,
  type AccountantKind,
  type AccountantReading,
  type EpsilonSeries,
} from '../api/messages';
import { accountantName } from '../format/names';
import { count, roundedDown, roundedUp } from '../format/numbers';
import type { ChartTable } from './chart_table';
import type { Curve } from './curve';

/** How many curves are drawn: one for each color. */
export const MOST_CURVES = 5;
/** Curves further above the best one would flatten all others: words list them. */
const FAR_ABOVE = 5;

export interface AccountantSeries {
  accountant: AccountantKind;
  series: EpsilonSeries;
}

function upperOf({ guarantee }: AccountantReading): number {
  return numberOf(guarantee?.upper) ?? Infinity;
}

/**
 * The accountants whose curves are drawn: the band and the approximation first, then the smallest
 * bounds. BEST is left out, because it is one of the others, and so is a copy of an earlier one.
 */
export function drawnAccountants(readings: readonly AccountantReading[]): AccountantKind[] {
  const finite = readings.filter(
    (reading) => Number.isFinite(upperOf(reading)) && reading.accountant !== 'BEST',
  );
  const best = Math.min(...finite.map(upperOf));
  const rank = ({ accountant }: AccountantReading) =>
    accountant === 'PLD' ? 0 : accountant === 'CLT' ? 1 : 2;
  const drawn: AccountantReading[] = [];
  for (const reading of [...finite].sort((a, b) => rank(a) - rank(b) || upperOf(a) - upperOf(b))) {
    const repeats = drawn.some((other) => upperOf(other) === upperOf(reading));
    if (upperOf(reading) > FAR_ABOVE * best || repeats || drawn.length === MOST_CURVES) continue;
    drawn.push(reading);
  }
  return drawn.map(({ accountant }) => accountant ?? 'KIND_UNSPECIFIED');
}

export interface AccountantPlot {
  /** The steps that every accountant answered. */
  steps: number[];
  curves: Curve[];
  /** The largest epsilon that is drawn. */
  top: number;
}

export function accountantPlot(all: readonly AccountantSeries[]): AccountantPlot {
  const answers = all.map(({ accountant, series }) => ({
    accountant,
    isApproximation: (series.points ?? []).some(({ epsilon }) => epsilon?.kind === 'APPROXIMATION'),
    at: new Map((series.points ?? []).map(({ steps, epsilon }) => [countOf(steps), epsilon])),
  }));
  const [first, ...others] = answers;
  // The answers are from different moments of a run, so they may differ in their last steps.
  const steps = [...(first?.at.keys() ?? [])]
    .filter((step) => others.every(({ at }) => at.has(step)))
    .sort((a, b) => a - b);
  let top = 0;
  const curves = answers.map(({ accountant, isApproximation, at }, i): Curve => {
    const upper = steps.map((step) => numberOf(at.get(step)?.upper) ?? NaN);
    const lower = steps.map((step) => numberOf(at.get(step)?.lower) ?? NaN);
    for (const value of upper) if (Number.isFinite(value)) top = Math.max(top, value);
    const isBand = lower.some((value, j) => j > 0 && Number.isFinite(value));
    return {
      name: accountantName(accountant),
      kind: isApproximation ? 'approximation' : isBand ? 'band' : 'bound',
      color: i + 1,
      upper,
      lower,
      // Named beside the curve too, each at another place.
      label: {
        text: accountant,
        at: (steps.at(-1) ?? 0) * (0.3 + 0.08 * i),
        side: isApproximation ? 'below' : 'above',
      },
    };
  });
  return { steps, curves, top };
}

/** "At step 900 and delta 1e-5: Rényi at most 1.79; ...". */
export function accountantWords(plot: AccountantPlot, index: number, delta: string): string {
  const step = plot.steps[index];
  if (step === undefined) return 'Nothing was charged yet.';
  const parts = plot.curves.map((curve) => `${curve.name} ${valueWords(curve, index)}`);
  return `Step ${count(step)}, epsilon at delta ${delta}: ${parts.join('; ')}.`;
}

function valueWords(curve: Curve, index: number): string {
  const upper = curve.upper[index] ?? NaN;
  const lower = curve.lower?.[index] ?? NaN;
  if (curve.kind === 'approximation') return `about ${roundedUp(upper)} (not a bound)`;
  if (curve.kind === 'band' && Number.isFinite(lower)) {
    return `between ${roundedDown(lower)} and ${roundedUp(upper)}`;
  }
  return `at most ${roundedUp(upper)}`;
}

export function accountantTable(plot: AccountantPlot, delta: string): ChartTable {
  const at = `at delta ${delta}`;
  return {
    columns: [
      'steps',
      ...plot.curves.map(({ name, kind }) =>
        kind === 'approximation' ? `${name}, epsilon ${at}, not a bound` : `${name}, epsilon ${at}`,
      ),
    ],
    rows: plot.steps.map((step, i) => [
      count(step),
      ...plot.curves.map(({ upper }) => roundedUp(upper[i] ?? NaN)),
    ]),
    exactColumns: [
      'steps',
      ...plot.curves.flatMap(({ name, kind }) =>
        kind === 'approximation'
          ? [`${name} approximation ${at}`]
          : [`${name} upper ${at}`, `${name} lower ${at}`],
      ),
    ],
    exactRows: plot.steps.map((step, i) => [
      step,
      ...plot.curves.flatMap(({ kind, upper, lower }) =>
        kind === 'approximation' ? [upper[i] ?? ''] : [upper[i] ?? '', finite(lower?.[i])],
      ),
    ]),
  };
}

function finite(value: number | undefined): number | string {
  return value !== undefined && Number.isFinite(value) ? value : '';
}
