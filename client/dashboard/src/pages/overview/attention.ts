// What somebody should look at first.

import { countOf, numberOf, type BudgetReading } from '../../api/messages';
import { counted, percent } from '../../format/numbers';

export interface Attention {
  /** "budgets/people". */
  budget: string;
  /** After the budget's name: "is exhausted". */
  words: string;
  /** Where to look. */
  page: 'budget' | 'refusals';
  /** More is first. */
  weight: number;
}

const NEARLY = 0.8;

/** True if the budget is active and 80% or more of it, but not all, is spent. */
export function isNearly({ budget }: BudgetReading): boolean {
  const spent = numberOf(budget.spentFraction) ?? 0;
  return budget.state === 'ACTIVE' && spent >= NEARLY && spent < 1;
}

/** Returns what needs attention in one budget: its state, how much is spent, refusals of a day. */
export function attentionOf(reading: BudgetReading): Attention[] {
  const { budget, activity } = reading;
  const spent = numberOf(budget.spentFraction) ?? 0;
  const refused = countOf(activity?.refusedChargeCount);
  const items: Attention[] = [];
  const add = (words: string, weight: number, page: Attention['page'] = 'budget') =>
    items.push({ budget: budget.name, words, page, weight });
  if (budget.state === 'ACTIVE' && spent >= 1) add('is exhausted: no charge fits', 3 + spent);
  else if (isNearly(reading)) add(`has ${percent(spent, 'up')} of its cap spent`, 1 + spent);
  if (budget.state === 'FROZEN') {
    const reason = budget.stateReason ?? '';
    add(`is frozen${reason === '' ? '' : `: ${reason}`}`, 2.9);
  }
  if (refused > 0) add(`had ${counted(refused, 'refusal')} in 24 h`, 2, 'refusals');
  return items;
}
