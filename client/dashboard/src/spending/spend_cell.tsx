import type { Budget, BudgetActivity } from '../api/messages';
import { percent } from '../format/numbers';
import { now } from '../format/times';
import { daily, dayOf, pointsOf, rateOf, startsWithSpent } from './spend_days';
import { fullWords } from './spend_words';
import { Sparkline } from './sparkline';

interface SpendCellProps {
  budget: Budget;
  activity: BudgetActivity;
  /** The line and the rate are those of so many days. */
  days: number;
}

/** In a table: the last days of a budget, what was spent in them, and how long the rest lasts. */
export function SpendCell({ budget, activity, days }: SpendCellProps) {
  const nowMs = now();
  const today = dayOf(nowMs);
  const points = pointsOf(activity);
  if (points.length === 0 || budget.cap?.noGuarantee !== undefined) {
    return <span class="muted">none</span>;
  }
  const rate = rateOf(points, today, startsWithSpent(budget), days);
  const full = rate === undefined || budget.state !== 'ACTIVE' ? '' : fullWords(rate, nowMs);
  return (
    <span class="spend-cell">
      <Sparkline points={daily(points, today, days)} />
      <span class="under">
        {rate === undefined
          ? 'since today'
          : `${percent(rate.spent, 'up')} in ${rate.days} days${full === '' ? '' : ','}`}
      </span>
      {full !== '' && <span class="under">{full}</span>}
    </span>
  );
}
