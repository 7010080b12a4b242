// The order of budgets in a table: children below their parent.

import { idOf } from '../../api/resource_names';
import type { Budget } from '../../api/messages';

export interface BudgetRow {
  budget: Budget;
  depth: number;
}

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

function words(budget: Budget): string {
  const labels = Object.entries(budget.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return [idOf(budget.name), budget.displayName, budget.privacyUnit, ...labels]
    .join(' ')
    .toLowerCase();
}
