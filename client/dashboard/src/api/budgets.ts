// Which budget lies below which, and so which budgets further up a session's event touches.

import { signal } from '@preact/signals';
import { get } from './client';
import type { Budget, LedgerChange, ListBudgetsResponse } from './messages';
import { budgetOf, changedName } from './resource_names';

/** All budgets of the caller by name, if they were listed. */
export const knownBudgets = signal<ReadonlyMap<string, Budget>>(new Map());

/** True after they were listed. Before that, an empty list means "not known yet". */
export const budgetsListed = signal(false);

const PAGE_SIZE = 1000;

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
export async function listBudgets(abort?: AbortSignal) {
  const number = ++asked;
  const budgets: Budget[] = [];
  let pageToken: string | undefined;
  do {
    const page = await get<ListBudgetsResponse>(
      '/v1/budgets',
      { pageSize: PAGE_SIZE, pageToken },
      abort,
    );
    if (!page.ok) return page;
    budgets.push(...(page.value.budgets ?? []));
    pageToken = page.value.nextPageToken;
  } while (pageToken !== undefined && pageToken !== '');
  if (number > answered) {
    answered = number;
    knownBudgets.value = new Map(budgets.map((budget) => [budget.name, budget]));
    budgetsListed.value = true;
  }
  return { ok: true as const, value: budgets };
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
 * about something in it, or about a budget or session further down.
 */
export function isTouched(resource: string, change: LedgerChange): boolean {
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
