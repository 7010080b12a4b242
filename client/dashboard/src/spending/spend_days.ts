// What was spent over days, and when a cap would be spent if that went on.

import { numberOf, type Budget, type BudgetActivity } from '../api/messages';

const DAY_MS = 86_400_000;
/** The rate is that of at most so many days, if nobody chooses another number. */
export const RATE_DAYS = 30;
/** A forecast further away would say nothing. */
const MOST_DAYS_AHEAD = 5 * 365;

export interface DayPoint {
  /** Days of UTC since 1970-01-01. */
  day: number;
  /** What was spent of the cap at its end, in [0, 1]. */
  spent: number;
}

/** Returns the days on which something was spent, ascending. */
export function pointsOf(activity: BudgetActivity | undefined): DayPoint[] {
  return Object.entries(activity?.spentByDay ?? {})
    .map(([date, spent]) => ({
      day: Date.parse(`${date}T00:00:00Z`) / DAY_MS,
      spent: numberOf(spent),
    }))
    .filter(({ day }) => !Number.isNaN(day))
    .sort((a, b) => a.day - b.day);
}

export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS);
}

/** What was spent at the end of a day: as on the newest day before it, 0 before the first. */
export function spentOn(points: readonly DayPoint[], day: number): number {
  let spent = 0;
  for (const point of points) {
    if (point.day > day) break;
    spent = point.spent;
  }
  return spent;
}

/** One point for each of the `count` days up to `today`. */
export function daily(points: readonly DayPoint[], today: number, count: number): DayPoint[] {
  return Array.from({ length: count }, (_, i) => {
    const day = today - count + 1 + i;
    return { day, spent: spentOn(points, day) };
  });
}

export interface Rate {
  /** The rate is that of these days up to today. */
  days: number;
  /** The share of the cap that was spent in them. */
  spent: number;
  perDay: number;
  /** The day on which the cap would be spent; undefined: not within five years, or it is spent. */
  fullDay: number | undefined;
}

/**
 * Returns the mean rate of the last `most` days, or of the days since the first if that is less.
 * Undefined on the first day: one day is no rate. `startsWith` is what a successor took over: it was
 * not spent on its first day.
 */
export function rateOf(
  points: readonly DayPoint[],
  today: number,
  startsWith: boolean,
  most = RATE_DAYS,
): Rate | undefined {
  const first = points[0];
  if (first === undefined) return undefined;
  // The days of the rate end today; what was spent before them is not in it.
  const days = Math.min(most, today - first.day + (startsWith ? 0 : 1));
  if (days < 2) return undefined;
  const now = spentOn(points, today);
  const spent = Math.max(0, now - spentOn(points, today - days));
  const perDay = spent / days;
  const ahead = (1 - now) / perDay;
  return {
    days,
    spent,
    perDay,
    fullDay: now < 1 && ahead <= MOST_DAYS_AHEAD ? today + Math.ceil(ahead) : undefined,
  };
}

/** True if the first of its days only says what the budget before it had spent. */
export function startsWithSpent(budget: Budget): boolean {
  return (budget.supersedes ?? '') !== '';
}

/** "14 March", with the year if it is another one. */
export function dayWords(day: number, nowMs: number): string {
  return dayText(day, nowMs, 'long');
}

/** "14 Mar", with the year if it is another one. */
export function shortDay(day: number, nowMs: number): string {
  return dayText(day, nowMs, 'short');
}

function dayText(day: number, nowMs: number, month: 'long' | 'short'): string {
  const date = new Date(day * DAY_MS);
  const isThisYear = date.getUTCFullYear() === new Date(nowMs).getUTCFullYear();
  return date.toLocaleDateString('en-GB', {
    day: 'numeric',
    month,
    timeZone: 'UTC',
    ...(isThisYear ? {} : { year: 'numeric' }),
  });
}

/** "2026-01-31" */
export function isoDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
