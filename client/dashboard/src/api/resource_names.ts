// Names of resources: "budgets/people/sessions/first/attempts/1/charges/a".

import type { LedgerChange } from './messages';

/** "budgets/people" of "budgets/people/sessions/first/attempts/1". */
export function budgetOf(name: string): string {
  return name.split('/').slice(0, 2).join('/');
}

export function sessionName(budget: string, session: string): string {
  return `budgets/${budget}/sessions/${session}`;
}

/** The last id in a name: "first" of "budgets/people/sessions/first". */
export function idOf(name: string): string {
  return name.split('/').at(-1) ?? name;
}

/** The name of what a change is about. */
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
