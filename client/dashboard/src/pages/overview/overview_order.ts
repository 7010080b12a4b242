// The order of budgets in a table: children below their parent, or by a column.

import {
  countOf,
  numberOf,
  type Budget,
  type BudgetActivity,
  type BudgetReading,
} from '../../api/messages';
import { idOf } from '../../api/resource_names';
import {
  dayOf,
  pointsOf,
  rateOf,
  RATE_DAYS,
  spentOn,
  startsWithSpent,
} from '../../spending/spend_days';

export interface BudgetRow {
  budget: Budget;
  depth: number;
}

export interface ReadingRow {
  reading: BudgetReading;
  depth: number;
}

/** What sorts the table. */
export type SortKey = 'budget' | 'spent' | 'rate' | 'epsilon' | 'charge' | 'refused';

/**
 * Trees by the name of their root, every child after its parent. With `wanted`, only budgets that
 * have it in a name, unit or label, without indentation.
 */
export function budgetRows(budgets: readonly Budget[], wanted = ''): BudgetRow[] {
  const text = wanted.trim().toLowerCase();
  if (text !== '') {
    return budgets
      .filter((budget) => words(budget).includes(text))
      .map((budget) => ({ budget, depth: 0 }));
  }
  const children = new Map<string, Budget[]>();
  const names = new Set(budgets.map((budget) => budget.name));
  for (const budget of budgets) {
    // If the parent is not in the list, the child is at the top.
    const parent = names.has(budget.parent ?? '') ? (budget.parent ?? '') : '';
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [budget]);
    else siblings.push(budget);
  }
  const rows: BudgetRow[] = [];
  const add = (parent: string, depth: number) => {
    const below = [...(children.get(parent) ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const budget of below) {
      rows.push({ budget, depth });
      add(budget.name, depth + 1);
    }
  };
  add('', 0);
  return rows;
}

/** The same, of readings. */
export function readingRows(readings: readonly BudgetReading[], wanted = ''): ReadingRow[] {
  const byName = new Map(readings.map((reading) => [reading.budget.name, reading]));
  return budgetRows(
    readings.map(({ budget }) => budget),
    wanted,
  ).flatMap(({ budget, depth }) => {
    const reading = byName.get(budget.name);
    return reading === undefined ? [] : [{ reading, depth }];
  });
}

/** By one number or name; equal ones by name. Budgets that have no such number are last. */
export function sortedReadings(
  readings: readonly BudgetReading[],
  wanted: string,
  key: SortKey,
  isDescending: boolean,
  days = RATE_DAYS,
): ReadingRow[] {
  const sign = isDescending ? -1 : 1;
  return readingRows(readings, wanted)
    .map(({ reading }) => ({ reading, depth: 0 }))
    .sort((a, b) => {
      const left = valueOf(key, a.reading, days);
      const right = valueOf(key, b.reading, days);
      const byName = a.reading.budget.name < b.reading.budget.name ? -1 : 1;
      if (left === undefined || right === undefined) {
        return left === right ? byName : left === undefined ? 1 : -1;
      }
      return left === right ? byName : (left < right ? -1 : 1) * sign;
    });
}

/** What was spent of the cap in the last days; undefined if nothing was ever spent. */
function spentLately(budget: Budget, activity: BudgetActivity | undefined, days: number) {
  const points = pointsOf(activity);
  const today = dayOf(Date.now());
  const rate = rateOf(points, today, startsWithSpent(budget), days);
  const isKnown = points.length > 0 && !startsWithSpent(budget);
  return rate?.spent ?? (isKnown ? spentOn(points, today) : undefined);
}

function valueOf(key: SortKey, { budget, reading, activity }: BudgetReading, days: number) {
  switch (key) {
    case 'budget':
      return budget.name;
    case 'spent':
      return budget.cap?.noGuarantee === undefined
        ? (numberOf(budget.spentFraction) ?? 0)
        : undefined;
    case 'rate':
      return spentLately(budget, activity, days);
    case 'epsilon':
      return numberOf(reading?.guarantee?.upper);
    case 'charge':
      return activity?.lastChargeTime;
    case 'refused':
      return countOf(activity?.refusedChargeCount);
  }
}

/** The keys of labels that budgets carry, by name. */
export function groupKeys(readings: readonly BudgetReading[]): string[] {
  return [...new Set(readings.flatMap(({ budget }) => Object.keys(budget.labels ?? {})))].sort();
}

/** Rows by the value of a label; one group without a title if `key` is empty. */
export function groupsOf(
  rows: readonly ReadingRow[],
  key: string,
): { title?: string; rows: ReadingRow[] }[] {
  if (key === '') return [{ rows: [...rows] }];
  const groups = new Map<string, ReadingRow[]>();
  for (const row of rows) {
    const value = row.reading.budget.labels?.[key];
    const title = value === undefined ? `without ${key}` : `${key}=${value}`;
    const group = groups.get(title);
    const flat = { ...row, depth: 0 };
    if (group === undefined) groups.set(title, [flat]);
    else group.push(flat);
  }
  return [...groups].map(([title, below]) => ({ title, rows: below }));
}

function words(budget: Budget): string {
  const labels = Object.entries(budget.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return [idOf(budget.name), budget.displayName, budget.privacyUnit, ...labels]
    .join(' ')
    .toLowerCase();
}
