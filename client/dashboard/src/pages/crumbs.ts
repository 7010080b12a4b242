import { ancestorsOf } from '../api/budgets';
import { idOf } from '../api/resource_names';
import type { Crumb } from '../design/page_head';
import { hrefOf } from '../router';

/** The path from all budgets down to one, or to its session; empty without a budget. */
export function crumbsTo(budget: string | undefined, session?: string): Crumb[] {
  if (budget === undefined) return [];
  const names = [...ancestorsOf(`budgets/${budget}`).reverse().map(idOf), budget];
  const crumbs = [
    { text: 'Budgets', href: hrefOf({ page: 'overview' }) },
    ...names.map((id) => ({ text: id, href: hrefOf({ page: 'budget', budget: id }) })),
  ];
  if (session !== undefined) {
    crumbs.push({ text: session, href: hrefOf({ page: 'session', budget, session }) });
  }
  return crumbs;
}
