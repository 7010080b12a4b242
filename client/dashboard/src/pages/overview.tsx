export function OverviewPage(_: Record<string, never>) {
  return <h1>Budgets</h1>;
}
