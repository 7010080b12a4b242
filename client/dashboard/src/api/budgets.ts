// Which budget lies below which, and so which budgets further up a session's event touches.

import { signal } from '@preact/signals';
import { get, type Result } from './client';
import type {
  Budget,
  BudgetReading,
  LedgerChange,
  ListBudgetReadingsResponse,
  ListBudgetsResponse,
} from './messages';
import { budgetOf, changedName } from './resource_names';

/** All budgets of the caller by name, if they were listed. */
export const knownBudgets = signal<ReadonlyMap<string, Budget>>(new Map());

/** True after they were listed. Before that, an empty list means "not known yet". */
export const budgetsListed = signal(false);

/** The false positive rate at which the worst true positive rate is shown. */
export const SHOWN_FALSE_POSITIVE_RATE = 0.01;

// Requests by number: the answer to an older one never replaces the answer to a newer one.
let asked = 0;
let answered = 0;

/** Clears everything of this caller for the next one, requests under way included. */
export function forgetBudgets(): void {
  answered = ++asked;
  knownBudgets.value = new Map();
  budgetsListed.value = false;
}

/** Lists all budgets, page by page. */
export function listBudgets(abort?: AbortSignal): Promise<Result<Budget[]>> {
  return listAll(async (pageToken) => {
    const page = await get<ListBudgetsResponse>('/v1/budgets', { pageSize: 1000, pageToken }, abort);
    return page.ok ? { ok: true, value: { items: page.value.budgets ?? [], ...page.value } } : page;
  }, (budget) => budget);
}

/**
 * Lists all budgets, page by page, with what each was charged: at `delta`, or at the delta of the
 * budget's cap where it names one.
 */
export function listBudgetReadings(
  delta: string,
  atDeltaOfCap: boolean,
  abort?: AbortSignal,
): Promise<Result<BudgetReading[]>> {
  const parameters = {
    delta,
    atDeltaOfCap: String(atDeltaOfCap),
    typeOneError: SHOWN_FALSE_POSITIVE_RATE,
    pageSize: 200,
  };
  return listAll(async (pageToken) => {
    const page = await get<ListBudgetReadingsResponse>(
      '/v1/budget-readings',
      { ...parameters, pageToken },
      abort,
    );
    return page.ok ? { ok: true, value: { items: page.value.budgets ?? [], ...page.value } } : page;
  }, ({ budget }) => budget);
}

async function listAll<Item>(
  ask: (pageToken?: string) => Promise<Result<{ items: Item[]; nextPageToken?: string }>>,
  budgetOfItem: (item: Item) => Budget,
): Promise<Result<Item[]>> {
  const number = ++asked;
  const items: Item[] = [];
  let pageToken: string | undefined;
  do {
    const page = await ask(pageToken);
    if (!page.ok) return page;
    items.push(...page.value.items);
    pageToken = page.value.nextPageToken;
  } while (pageToken !== undefined && pageToken !== '');
  if (number > answered) {
    answered = number;
    knownBudgets.value = new Map(
      items.map(budgetOfItem).map((budget) => [budget.name, budget]),
    );
    budgetsListed.value = true;
  }
  return { ok: true, value: items };
}

/** Returns the budgets above one that the caller may see, the nearest first. */
export function ancestorsOf(name: string): string[] {
  const above: string[] = [];
  let at = knownBudgets.value.get(name)?.parent ?? '';
  while (knownBudgets.value.has(at) && !above.includes(at)) {
    above.push(at);
    at = knownBudgets.value.get(at)?.parent ?? '';
  }
  return above;
}

/** Returns the names of all budgets without a parent, or without one that the caller may see. */
export function rootBudgets(): string[] {
  return [...knownBudgets.value.values()]
    .filter((budget) => !knownBudgets.value.has(budget.parent ?? ''))
    .map((budget) => budget.name);
}

export function rootOf(name: string): string {
  return ancestorsOf(name).at(-1) ?? name;
}

/**
 * Returns true if the change may affect what is shown of a resource: it is about the resource,
 * about something in it, or about a budget or session further down. Until the
 * budgets were listed, nobody knows what lies further down, and every change may.
 */
export function isTouched(resource: string, change: LedgerChange): boolean {
  if (!budgetsListed.peek()) return true;
  const name = changedName(change);
  if (name === resource || name.startsWith(`${resource}/`)) return true;
  const isBudget = resource.split('/').length === 2;
  if (!isBudget) {
    // A session shows what its budgets leave for it.
    return change.budget !== undefined && budgetOf(resource) === name;
  }
  if (resource === change.watched) return true;
  return ancestorsOf(budgetOf(name)).includes(resource);
}
