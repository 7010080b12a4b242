// The columns that the plot of epsilon against step draws, from the server's series.

import { countOf, numberOf, type Double, type EpsilonSeries } from '../api/messages';

export interface EpsilonPlot {
  /** Rising: what was charged, then what is ahead. */
  steps: number[];
  /** As many each; null where nothing is drawn. */
  upper: (number | null)[];
  lower: (number | null)[];
  ahead: (number | null)[];
  /** The number of them that were charged. */
  chargedCount: number;
  /** The number of steps up to the newest charge. */
  chargedSteps: number;
  leasedSteps: number;
  cap: number | null;
  /** The owner of the cap: "budgets/people", or the session itself. Empty if unknown. */
  capResource: string;
  attempts: { number: number; stepsBefore: number }[];
  /** True if epsilon is not finite from some step on. */
  isUnbounded: boolean;
  isApproximation: boolean;
  /** True if some event is somebody's claim without a theorem. */
  restsOnClaim: boolean;
  /** The largest number that is drawn, without the cap. */
  top: number;
}

function drawable(value: Double | undefined): number | null {
  const number = numberOf(value);
  return number !== undefined && Number.isFinite(number) ? number : null;
}

export function epsilonPlot(series: EpsilonSeries): EpsilonPlot {
  const points = series.points ?? [];
  const [joint, ...ahead] = series.ahead ?? [];
  const plot: EpsilonPlot = {
    steps: [],
    upper: [],
    lower: [],
    ahead: [],
    chargedCount: points.length,
    chargedSteps: countOf(series.steps ?? points.at(-1)?.steps),
    leasedSteps: countOf(series.leasedSteps),
    cap: drawable(series.epsilonCap),
    capResource: series.epsilonCapResource ?? '',
    attempts: (series.attempts ?? []).map(({ number, stepsBefore }) => ({
      number: countOf(number),
      stepsBefore: countOf(stepsBefore),
    })),
    isUnbounded: points.some(({ epsilon }) => numberOf(epsilon?.upper) === Infinity),
    isApproximation: points.some(({ epsilon }) => epsilon?.kind === 'APPROXIMATION'),
    restsOnClaim: points.some(({ epsilon }) => epsilon?.containsUnverifiedClaim === true),
    top: 0,
  };
  for (const { steps, epsilon } of points) {
    plot.steps.push(countOf(steps));
    plot.upper.push(drawable(epsilon?.upper));
    plot.lower.push(drawable(epsilon?.lower));
    plot.ahead.push(null);
  }
  if (joint !== undefined && points.length > 0) {
    plot.ahead[points.length - 1] = drawable(joint.epsilon?.upper);
    for (const { steps, epsilon } of ahead) {
      plot.steps.push(countOf(steps));
      plot.upper.push(null);
      plot.lower.push(null);
      plot.ahead.push(drawable(epsilon?.upper));
    }
  }
  plot.top = [...plot.upper, ...plot.ahead].reduce<number>((top, v) => Math.max(top, v ?? 0), 0);
  return plot;
}

/** Epsilon at a step between two charges, on the line that is drawn between them. */
export function drawnEpsilonAt(plot: EpsilonPlot, step: number): number | null {
  for (let i = 1; i < plot.chargedCount; ++i) {
    const right = plot.steps[i] ?? 0;
    if (right < step) continue;
    const left = plot.steps[i - 1] ?? 0;
    const from = plot.upper[i - 1] ?? null;
    const to = plot.upper[i] ?? null;
    if (from === null || to === null) return null;
    return right === left ? to : from + ((to - from) * (step - left)) / (right - left);
  }
  return null;
}
