// Names of resources: "budgets/people/sessions/first/attempts/1/charges/a".

import type { LedgerChange } from './messages';

/** Returns "budgets/people" for "budgets/people/sessions/first/attempts/1". */
export function budgetOf(name: string): string {
  return name.split('/').slice(0, 2).join('/');
}

export function sessionName(budget: string, session: string): string {
  return `budgets/${budget}/sessions/${session}`;
}

/** Returns the last id in a name: "first" for "budgets/people/sessions/first". */
export function idOf(name: string): string {
  return name.split('/').at(-1) ?? name;
}

/** Returns the name of the resource that changed. */
export function changedName(change: LedgerChange): string {
  return (
    change.charge?.name ??
    change.lease?.name ??
    change.attempt?.name ??
    change.session?.name ??
    change.budget?.name ??
    change.refusedSession?.name ??
    change.watched ??
    ''
  );
}
