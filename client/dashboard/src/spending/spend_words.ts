// The rate of a budget, in words. It is an estimate and says what it assumes.

import { counted, percent } from '../format/numbers';
import { dayWords, type Rate } from './spend_days';

/** "spent by about 14 March"; empty if no day can be named. */
export function fullWords(rate: Rate, nowMs: number): string {
  return rate.fullDay === undefined ? '' : `spent by about ${dayWords(rate.fullDay, nowMs)}`;
}

/** One sentence, with its assumption. */
export function rateWords(rate: Rate | undefined, spent: number, nowMs: number): string {
  if (spent >= 1) return 'The cap is spent.';
  if (rate === undefined) {
    return spent > 0
      ? 'Everything was spent today: one day is no rate.'
      : 'Nothing has been spent yet.';
  }
  const days = `the last ${counted(rate.days, 'day')}`;
  if (rate.spent === 0) return `Nothing was spent in ${days}.`;
  const pace = `${percent(rate.spent, 'up')} of the cap was spent in ${days}, ${percent(rate.perDay, 'up')} a day on average.`;
  const full = fullWords(rate, nowMs);
  return full === ''
    ? `${pace} At this rate the cap lasts for more than five years.`
    : `${pace} ${full.charAt(0).toUpperCase()}${full.slice(1)}, if the rate of ${days} goes on: an estimate, which knows no plan.`;
}
