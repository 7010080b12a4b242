export function RefusalsPage(_: { budget?: string }) {
  return <h1>Refusals</h1>;
}
