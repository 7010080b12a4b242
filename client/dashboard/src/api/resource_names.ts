// Names of resources: "budgets/people/sessions/first/attempts/1/charges/a".

/** "budgets/people" of "budgets/people/sessions/first/attempts/1". */
export function budgetOf(name: string): string {
  return name.split('/').slice(0, 2).join('/');
}

/** "budgets/people/sessions/first" of a session or what is in it; empty for a budget. */
export function sessionOf(name: string): string {
  const parts = name.split('/');
  return parts.length < 4 ? '' : parts.slice(0, 4).join('/');
}

/** The last id in a name: "first" of "budgets/people/sessions/first". */
export function idOf(name: string): string {
  return name.split('/').at(-1) ?? name;
}
