export function ComparePage(_: { budget?: string; session?: string }) {
  return <h1>Compare accountants</h1>;
}
