// The names of the API's enum values on the page.

import type { AccountantKind, BudgetState, Quantity, RelationKind } from '../api/messages';

const ACCOUNTANTS: Partial<Record<AccountantKind, string>> = {
  BASIC: 'basic composition',
  ADVANCED: 'advanced composition',
  OPTIMAL: 'optimal composition',
  RENYI: 'Rényi',
  MOMENTS: 'moments',
  MOMENTS_HOLDER: 'moments with Hölder',
  MOMENTS_AS_PUBLISHED: 'moments as published',
  ZCDP: 'zCDP',
  GAUSSIAN: 'Gaussian DP',
  CLT: 'central limit',
  PLD: 'privacy loss distribution',
  TRADE_OFF: 'trade-off function',
  BEST: 'best',
};

export function accountantName(kind: AccountantKind | undefined): string {
  return (kind === undefined ? undefined : ACCOUNTANTS[kind]) ?? kind ?? 'unknown';
}

const RELATIONS: Partial<Record<RelationKind, string>> = {
  ADD_OR_REMOVE_ONE: 'add or remove one',
  REPLACE_ONE: 'replace one',
  REPLACE_SPECIAL: 'replace by nothing (zero-out)',
};

export function relationName(kind: RelationKind | undefined): string {
  return (kind === undefined ? undefined : RELATIONS[kind]) ?? 'unknown';
}

const QUANTITIES: Partial<Record<Quantity, string>> = {
  EPSILON: 'pure epsilon',
  DELTA: 'delta',
  EPSILON_SQUARED: 'sum of epsilon²',
  RHO: 'rho of zCDP',
  MU_SQUARED: 'mu² of Gaussian DP',
  RENYI_DIVERGENCE: 'Rényi divergence',
  PLAN_COUNT: 'plans that meet the curve',
  NO_GUARANTEE: 'nothing is counted',
  UNITS: 'units of the reference',
  RESERVE: 'reserve of delta',
};

/** "Rényi divergence at order 6". */
export function quantityName(quantity: Quantity | undefined, order?: number): string {
  const name = (quantity === undefined ? undefined : QUANTITIES[quantity]) ?? 'unknown quantity';
  return quantity === 'RENYI_DIVERGENCE' && order !== undefined
    ? `${name} at order ${order}`
    : name;
}

/** "ADD_OR_REMOVE_ONE" as "add or remove one": for values without a name of their own here. */
export function lowerName(value: string | undefined): string {
  return (value ?? '').toLowerCase().replaceAll('_', ' ');
}

const BUDGET_STATES: Partial<Record<BudgetState, string>> = {
  ACTIVE: 'active',
  FROZEN: 'frozen',
  CLOSED: 'closed',
  SUPERSEDED: 'superseded',
};

export function stateName(state: string | undefined): string {
  return BUDGET_STATES[state as BudgetState] ?? 'unknown state';
}
