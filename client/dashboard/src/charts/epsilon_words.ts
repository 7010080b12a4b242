// The chart of epsilon against step in words.

import type { EpsilonSeries } from '../api/messages';
import { idOf } from '../api/resource_names';
import {
  count,
  counted,
  epsilonAtDelta,
  INFINITE,
  roundedDown,
  roundedUp,
} from '../format/numbers';
import { fullTime } from '../format/times';
import type { ChartTable } from './chart_table';
import type { EpsilonPlot } from './epsilon_plot';

/** Returns "1e-5", also for the number 0.00001. */
export function deltaWords(delta: string | number): string {
  if (typeof delta === 'string') return delta;
  return delta < 0.001 ? delta.toExponential() : String(delta);
}

function kindWords(plot: EpsilonPlot, accountant: string): string {
  const kind = plot.isApproximation
    ? `${accountant}: approximation, not a bound`
    : `${accountant}, upper bound`;
  return plot.restsOnClaim ? `${kind}, rests on an unverified claim` : kind;
}

/** "the cap of people", which others spend too, or "the cap of this session". */
export function capOwner({ capResource }: EpsilonPlot): string {
  if (capResource === '') return 'the cap';
  const isOwn = capResource.includes('/sessions/');
  return `the cap of ${isOwn ? 'this session' : idOf(capResource)}`;
}

/** A cap is exact, and digits cut off it would not be promised. */
export function capWords(cap: number, delta: string): string {
  return `epsilon ${roundedDown(cap, 6)} at delta ${delta}`;
}

export function summaryWords(plot: EpsilonPlot, delta: string, accountant: string): string {
  const last = plot.upper[plot.chargedCount - 1] ?? null;
  const parts = [
    `${epsilonAtDelta(last ?? (plot.isUnbounded ? Infinity : undefined), delta)} after ` +
      `${counted(plot.chargedSteps, 'step')} (${kindWords(plot, accountant)})`,
  ];
  if (plot.cap !== null) {
    const isShared = plot.capResource !== '' && !plot.capResource.includes('/sessions/');
    parts.push(
      `${capOwner(plot)} is ${capWords(plot.cap, delta)}` +
        (isShared ? ', which other sessions spend too' : ''),
    );
  }
  const ahead = (plot.steps.at(-1) ?? 0) - plot.chargedSteps;
  if (ahead > 0) {
    const end = plot.ahead.at(-1) ?? null;
    parts.push(
      `${counted(ahead, 'more step')} like the last would fit` +
        (end === null ? '' : `, up to ${epsilonAtDelta(end, delta)}`),
    );
  } else if (plot.cap !== null && plot.chargedSteps > 0) {
    parts.push('no more steps like the last are known to fit');
  }
  if (plot.leasedSteps > 0) parts.push(`${counted(plot.leasedSteps, 'step')} of it in open leases`);
  const [first, ...later] = plot.attempts;
  if (first !== undefined && later.length > 0) parts.push(counted(later.length + 1, 'attempt'));
  const text = parts.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function attemptAt(plot: EpsilonPlot, step: number): number | undefined {
  return plot.attempts.filter(({ stepsBefore }) => stepsBefore < step).at(-1)?.number;
}

export function readoutWords(
  series: EpsilonSeries,
  plot: EpsilonPlot,
  index: number,
  delta: string,
): string {
  const step = plot.steps[index];
  if (step === undefined) return 'Nothing was charged yet.';
  const isAhead = index >= plot.chargedCount;
  const epsilon = isAhead ? plot.ahead[index] : plot.upper[index];
  const words = epsilonAtDelta(epsilon ?? (plot.isUnbounded ? Infinity : undefined), delta);
  if (isAhead) return `Step ${count(step)}, ahead: ${words}, if the last event repeats.`;
  const parts = [`Step ${count(step)}: ${words}`];
  const attempt = attemptAt(plot, step);
  if (attempt !== undefined) parts.push(`attempt ${attempt}`);
  if (plot.leasedSteps > 0 && step > plot.chargedSteps - plot.leasedSteps)
    parts.push('in open leases');
  const time = series.points?.[index]?.time;
  if (time !== undefined && step > 0) parts.push(fullTime(time));
  return `${parts.join(', ')}.`;
}

export function stepTable(series: EpsilonSeries, plot: EpsilonPlot, delta: string): ChartTable {
  const rows: string[][] = [];
  const exactRows: (string | number)[][] = [];
  plot.steps.forEach((step, index) => {
    const isAhead = index >= plot.chargedCount;
    const point = isAhead ? series.ahead?.[index - plot.chargedCount + 1] : series.points?.[index];
    const epsilon = isAhead ? plot.ahead[index] : plot.upper[index];
    const state = isAhead ? 'ahead' : 'charged';
    const attempt = isAhead ? '' : String(attemptAt(plot, step) ?? '');
    const time = isAhead ? '' : (series.points?.[index]?.time ?? '');
    rows.push([
      count(step),
      typeof epsilon === 'number' ? roundedUp(epsilon) : plot.isUnbounded ? INFINITE : 'no answer',
      state,
      attempt,
      time === '' ? '' : fullTime(time),
    ]);
    exactRows.push([
      step,
      point?.epsilon?.upper ?? '',
      point?.epsilon?.lower ?? '',
      state,
      attempt,
      time,
      point?.epsilon?.theorem ?? '',
    ]);
  });
  return {
    columns: ['steps', `epsilon at delta ${delta}`, 'state', 'attempt', 'time'],
    rows,
    exactColumns: [
      'steps',
      `epsilon upper bound at delta ${delta}`,
      `epsilon lower bound at delta ${delta}`,
      'state',
      'attempt',
      'time',
      'theorem',
    ],
    exactRows,
  };
}
