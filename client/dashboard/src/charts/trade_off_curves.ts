// The trade-off curve of a session as a chart: what a membership test can do against it.

import { numberOf, type TradeOffPoint } from '../api/messages';
import { percent } from '../format/numbers';
import type { ChartTable } from './chart_table';
import type { Curve } from './curve';

/** How the curve is shown. */
export type TradeOffView =
  // Missed members against false alarms, as [DRS19] draws it.
  | 'trade-off'
  // Caught members against false alarms, both logarithmic, for few false alarms.
  | 'few-false-alarms';

export const SMALLEST_FALSE_ALARM = 1e-6;

/** False alarm rates of the curve: ten a decade, then every 2%. */
export const falseAlarmRates: readonly number[] = (() => {
  const rates = new Set<number>([0]);
  for (const power of [-6, -5, -4, -3, -2, -1]) {
    for (const mantissa of [1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8]) {
      rates.add(Number(`${mantissa}e${power}`));
    }
  }
  for (let hundredth = 2; hundredth <= 100; hundredth += 2) rates.add(hundredth / 100);
  return [...rates].sort((a, b) => a - b);
})();

/** What is known about a test at one false alarm rate. */
export interface AttackBounds {
  falseAlarm: number;
  missedAtLeast: number;
  missedAtMost: number;
  caughtAtMost: number;
  caughtAtLeast: number;
  isApproximation: boolean;
  theorem: string;
}

export function attackBounds(points: readonly TradeOffPoint[]): AttackBounds[] {
  return points.map((point) => {
    const falseAlarm = numberOf(point.typeOneError) ?? NaN;
    const bounds = point.typeTwoError ?? {};
    const isApproximation = bounds.kind === 'APPROXIMATION';
    const upper = numberOf(bounds.upper);
    const lower = numberOf(bounds.lower);
    const caughtUpper = numberOf(point.truePositiveRateUpper);
    const caughtLower = numberOf(point.truePositiveRateLower);
    if (isApproximation) {
      // Only one number is set, in either field.
      const missed = lower ?? upper ?? NaN;
      const caught = caughtUpper ?? caughtLower ?? NaN;
      return {
        falseAlarm,
        missedAtLeast: missed,
        missedAtMost: missed,
        caughtAtMost: caught,
        caughtAtLeast: caught,
        isApproximation,
        theorem: bounds.theorem ?? '',
      };
    }
    return {
      falseAlarm,
      // Without a bound everything is possible: from perfect privacy to none.
      missedAtLeast: lower ?? 0,
      missedAtMost: upper ?? 1 - falseAlarm,
      caughtAtMost: caughtUpper ?? 1,
      caughtAtLeast: caughtLower ?? falseAlarm,
      isApproximation,
      theorem: bounds.theorem ?? '',
    };
  });
}

/** The points that the view can show: a logarithmic axis has no place for 0. */
export function shownBounds(bounds: readonly AttackBounds[], view: TradeOffView): AttackBounds[] {
  return view === 'trade-off' ? [...bounds] : bounds.filter(({ falseAlarm }) => falseAlarm > 0);
}

/** `bounds` is what `shownBounds` returned. */
export function tradeOffCurves(
  bounds: readonly AttackBounds[],
  view: TradeOffView,
  name: string,
): Curve[] {
  const isApproximation = bounds.some((bound) => bound.isApproximation);
  const kind = isApproximation ? 'approximation' : 'band';
  if (view === 'trade-off') {
    return [
      {
        name: 'perfect privacy',
        kind: 'reference',
        color: 0,
        upper: bounds.map(({ falseAlarm }) => 1 - falseAlarm),
        label: { text: 'perfect privacy', at: 0.5, side: 'above' },
      },
      {
        name,
        kind,
        color: 1,
        upper: bounds.map(({ missedAtMost }) => missedAtMost),
        lower: bounds.map(({ missedAtLeast }) => missedAtLeast),
      },
    ];
  }
  return [
    {
      name: 'perfect privacy',
      kind: 'reference',
      color: 0,
      upper: bounds.map(({ falseAlarm }) => falseAlarm),
      label: { text: 'perfect privacy', at: 1e-4, side: 'below' },
    },
    {
      name,
      kind,
      color: 1,
      upper: bounds.map(({ caughtAtMost }) => caughtAtMost),
      // Everything below the smallest rate of the axis, 0 included.
      lower: bounds.map(({ caughtAtLeast }) => Math.max(caughtAtLeast, SMALLEST_FALSE_ALARM / 10)),
    },
  ];
}

/** "An attacker at 1% false alarms catches at most 4.2% of members." */
export function attackWords(bound: AttackBounds | undefined): string {
  if (bound === undefined) return 'No points.';
  const at = `at ${falseAlarmWords(bound.falseAlarm)}`;
  if (bound.isApproximation) {
    return `An attacker ${at} catches about ${percent(bound.caughtAtMost, 'up')} of members: an approximation, not a bound.`;
  }
  if (bound.caughtAtMost >= 1 && bound.falseAlarm < 1) {
    return `There is no bound: an attacker ${at} may catch every member.`;
  }
  const perfect = `With perfect privacy it would be ${percent(bound.falseAlarm, 'up')}.`;
  return `An attacker ${at} catches at most ${percent(bound.caughtAtMost, 'up')} of members. ${perfect}`;
}

export function falseAlarmWords(rate: number): string {
  return `${percent(rate, 'up', 3)} false alarms`;
}

export function tradeOffSummary(bounds: readonly AttackBounds[]): string {
  if (bounds.some(({ falseAlarm, caughtAtMost }) => falseAlarm === 0 && caughtAtMost >= 1)) {
    return 'There is no bound: an attack may catch every member without any false alarm.';
  }
  const words = [1e-3, 0.01, 0.1]
    .map((rate) => bounds.find(({ falseAlarm }) => falseAlarm === rate))
    .filter((bound) => bound !== undefined)
    .map((bound) => `${percent(bound.caughtAtMost, 'up')} at ${falseAlarmWords(bound.falseAlarm)}`);
  if (words.length === 0) return 'No points.';
  const isApproximation = bounds.some((bound) => bound.isApproximation);
  return (
    `Among the members of the training data, any attack catches ${isApproximation ? 'about' : 'at most'} ` +
    `${words.slice(0, -1).join(', ')}${words.length > 1 ? ' and ' : ''}${words.at(-1)}` +
    `${isApproximation ? ': an approximation, not a bound' : ''}.`
  );
}

export function tradeOffTable(bounds: readonly AttackBounds[]): ChartTable {
  return {
    columns: [
      'false alarms',
      'members caught at most',
      'at least, by the best test',
      'missed at least',
    ],
    rows: bounds.map((bound) => [
      percent(bound.falseAlarm, 'up', 3),
      percent(bound.caughtAtMost, 'up', 3),
      percent(bound.caughtAtLeast, 'down', 3),
      percent(bound.missedAtLeast, 'down', 3),
    ]),
    exactColumns: [
      'false positive rate',
      'true positive rate upper',
      'true positive rate lower',
      'type II error lower',
      'type II error upper',
      'kind',
      'theorem',
    ],
    exactRows: bounds.map((bound) => [
      bound.falseAlarm,
      bound.caughtAtMost,
      bound.caughtAtLeast,
      bound.missedAtLeast,
      bound.missedAtMost,
      bound.isApproximation ? 'APPROXIMATION' : 'BOUNDS',
      bound.theorem,
    ]),
  };
}
