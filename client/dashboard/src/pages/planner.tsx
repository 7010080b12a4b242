export function PlannerPage(_: { budget?: string; session?: string }) {
  return <h1>Planner</h1>;
}
