import './spending.css';
import type { Budget, BudgetActivity } from '../api/messages';
import { ChartFigure } from '../charts/chart_figure';
import { roundStep } from '../charts/scale';
import { percent } from '../format/numbers';
import { now } from '../format/times';
import { stepPath } from './sparkline';
import {
  daily,
  dayOf,
  isoDay,
  pointsOf,
  rateOf,
  RATE_DAYS,
  shortDay,
  spentOn,
  startsWithSpent,
  type DayPoint,
  type Rate,
} from './spend_days';
import { rateWords } from './spend_words';

const MOST_DAYS = 365;
const LEAST_DAYS = 14;
const HEIGHT = 100;

/** What was spent of a cap, day by day, with the day on which it would be spent at this rate. */
export function SpendChart({ budget, activity }: { budget: Budget; activity: BudgetActivity }) {
  const nowMs = now();
  const today = dayOf(nowMs);
  const points = pointsOf(activity);
  if (points.length === 0 || budget.cap?.noGuarantee !== undefined) return null;
  const first = points[0]?.day ?? today;
  const count = Math.max(LEAST_DAYS, Math.min(MOST_DAYS, today - first + 2));
  const days = daily(points, today, count);
  const spent = spentOn(points, today);
  const rate = rateOf(points, today, startsWithSpent(budget));
  const ahead = budget.state === 'ACTIVE' ? rate : undefined;
  return (
    <ChartFigure
      title="Spent over days"
      summary={rateWords(rate, spent, nowMs)}
      table={tableOf(days)}
    >
      <Plot days={days} rate={ahead} spent={spent} nowMs={nowMs} />
    </ChartFigure>
  );
}

interface PlotProps {
  days: readonly DayPoint[];
  rate: Rate | undefined;
  spent: number;
  nowMs: number;
}

function Plot({ days, rate, spent, nowMs }: PlotProps) {
  const first = days[0]?.day ?? 0;
  const today = days.at(-1)?.day ?? 0;
  // What lies ahead takes at most half of the width.
  const aheadDays =
    rate?.fullDay === undefined ? 0 : Math.min(days.length, rate.fullDay - today);
  const end = spent + (rate?.perDay ?? 0) * aheadDays;
  const top = Math.min(1, roundUpTo(Math.max(spent, end) * 1.05));
  const width = days.length + aheadDays;
  const scaled = days.map(({ day, spent: share }) => ({ day, spent: share / top }));
  const place = (share: number) => HEIGHT * (1 - Math.min(1, share / top));
  // Without the last digits of a product, which would be rounded up.
  const marks = [1, 0.75, 0.5, 0.25, 0].map((share) => Number((share * top).toPrecision(9)));
  return (
    <div class="spend-chart">
      <div class="spend-ys" aria-hidden="true">
        {marks.map((share) => (
          <span key={share}>{percent(share, 'up', 3)}</span>
        ))}
      </div>
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Share of the cap spent from ${isoDay(first)} to ${isoDay(today)}: ${percent(spent, 'up')}`}
      >
        {marks.map((share) => (
          <line
            key={share}
            class={share === 1 ? 'spend-cap' : 'spend-grid'}
            x2={width}
            y1={place(share)}
            y2={place(share)}
          />
        ))}
        <path
          class="spend-area"
          d={`${stepPath(scaled, days.length, HEIGHT)}V${HEIGHT}H0Z`}
        />
        <path class="spend-line" d={stepPath(scaled, days.length, HEIGHT)} />
        {aheadDays > 0 && (
          <path
            class="spend-ahead"
            d={`M${days.length} ${place(spent)}L${width} ${place(end)}`}
          />
        )}
      </svg>
      <div class="spend-xs" aria-hidden="true">
        {dayMarks(days, aheadDays, nowMs).map(({ at, words, where }) => (
          <span
            key={words}
            class={`spend-x-${where}`}
            style={{ left: `${at * 100}%` }}
          >
            {words}
          </span>
        ))}
      </div>
      {aheadDays > 0 && (
        <p class="small spend-note">
          Dashed: the mean rate of the last {rate?.days ?? RATE_DAYS} days, carried on. Days are
          those of UTC.
        </p>
      )}
    </div>
  );
}

interface DayMark {
  /** In [0, 1] of the width. */
  at: number;
  words: string;
  where: 'first' | 'middle' | 'last' | 'between';
}

/** Today is so near to the last day that is named: there is no room for both. */
const CROWDED = 0.75;

/** The days that are named below the plot. */
function dayMarks(days: readonly DayPoint[], aheadDays: number, nowMs: number): DayMark[] {
  const first = days[0]?.day ?? 0;
  const today = days.at(-1)?.day ?? 0;
  const width = days.length + aheadDays;
  const middle = first + Math.floor((days.length - 1) / 2);
  const at = days.length / width;
  const last: DayMark =
    aheadDays > 0
      ? { at: 1, words: shortDay(today + aheadDays, nowMs), where: 'last' }
      : { at: 1, words: 'today', where: 'last' };
  return [
    { at: 0, words: shortDay(first, nowMs), where: 'first' },
    { at: (middle - first + 0.5) / width, words: shortDay(middle, nowMs), where: 'middle' },
    ...(at < CROWDED ? [{ at, words: 'today', where: 'between' } as const] : []),
    last,
  ];
}

/** The next round number: 0.037 becomes 0.04. */
function roundUpTo(value: number): number {
  const step = roundStep(Math.max(value, 1e-9), 4);
  return Math.ceil(value / step - 1e-9) * step;
}

function tableOf(days: readonly DayPoint[]) {
  const changed = days.filter(({ spent }, i) => i === 0 || spent !== days[i - 1]?.spent).reverse();
  return {
    columns: ['Day (UTC)', 'Spent of the cap at its end'],
    rows: changed.map(({ day, spent }) => [isoDay(day), percent(spent, 'up')]),
    exactColumns: ['day', 'spent_fraction'],
    exactRows: days.map(({ day, spent }) => [isoDay(day), spent]),
  };
}
