// What somebody should look at first.

import { countOf, numberOf, type BudgetReading } from '../../api/messages';
import { isNearlySpent, percent } from '../../format/numbers';
import { refusedCount } from '../../format/refusals';
import {
  dayOf,
  dayWords,
  pointsOf,
  rateOf,
  startsWithSpent,
} from '../../spending/spend_days';

export interface Attention {
  /** "budgets/people". */
  budget: string;
  /** After the budget's name: "is exhausted". */
  words: string;
  /** Where to look. */
  page: 'budget' | 'refusals';
  /** Nothing can be charged, or it is about to be so, or somebody should know. */
  kind: 'stopped' | 'soon' | 'told';
  /** More is first, within a kind too. */
  weight: number;
}

/** A cap that is spent within so many days at the present rate needs a decision now. */
const SOON_DAYS = 14;

/** True if the budget is active and 80% or more of it, but not all, is spent. */
export function isNearly({ budget }: BudgetReading): boolean {
  return budget.state === 'ACTIVE' && isNearlySpent(numberOf(budget.spentFraction) ?? 0);
}

/**
 * Returns what needs attention in one budget: its state, how much is spent and how soon the rest
 * will be, refusals of a day.
 */
export function attentionOf(
  reading: BudgetReading,
  refused = countOf(reading.activity?.refusedChargeCount),
  nowMs = Date.now(),
): Attention[] {
  const { budget } = reading;
  const spent = numberOf(budget.spentFraction) ?? 0;
  const items: Attention[] = [];
  const add = (kind: Attention['kind'], words: string, weight: number) =>
    items.push({
      budget: budget.name,
      words,
      page: kind === 'told' ? 'refusals' : 'budget',
      kind,
      weight,
    });
  const soon = soonWords(reading, nowMs);
  if (budget.state === 'ACTIVE' && spent >= 1) {
    add('stopped', 'is exhausted: no charge fits', 3 + spent);
  } else if (isNearly(reading)) {
    add('soon', `has ${percent(spent, 'up')} of its cap spent${soon === '' ? '' : `, ${soon}`}`, 1 + spent);
  } else if (soon !== '') {
    add('soon', `is ${soon}`, 1 + spent);
  }
  if (budget.state === 'FROZEN') {
    const reason = budget.stateReason ?? '';
    add('stopped', `is frozen${reason === '' ? '' : `: ${reason}`}`, 2.9);
  }
  if (refused > 0) add('told', `had ${refusedCount(refused)} ${refused === 1 ? 'refusal' : 'refusals'} in 24 h`, refused / 1e6);
  return items;
}

/** "spent by about 14 March at its present rate"; empty if that is not soon. */
function soonWords({ budget, activity }: BudgetReading, nowMs: number): string {
  if (budget.state !== 'ACTIVE') return '';
  const today = dayOf(nowMs);
  const full = rateOf(pointsOf(activity), today, startsWithSpent(budget))?.fullDay;
  if (full === undefined || full - today > SOON_DAYS) return '';
  return `spent by about ${dayWords(full, nowMs)} at its present rate`;
}

/**
 * Returns what needs attention in all of them, the gravest first. A refusal counts in each budget
 * above it: it is named where it happened.
 */
export function needsAttention(readings: readonly BudgetReading[]): Attention[] {
  const below = new Map<string, number>();
  for (const { budget, activity } of readings) {
    const parent = budget.parent ?? '';
    below.set(parent, (below.get(parent) ?? 0) + countOf(activity?.refusedChargeCount));
  }
  return readings
    .flatMap((reading) => {
      const all = countOf(reading.activity?.refusedChargeCount);
      return attentionOf(reading, Math.max(0, all - (below.get(reading.budget.name) ?? 0)));
    })
    .sort((a, b) => b.weight - a.weight);
}
