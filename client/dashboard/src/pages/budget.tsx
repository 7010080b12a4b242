export function BudgetPage(_: { budget: string }) {
  return <h1>Budget</h1>;
}
