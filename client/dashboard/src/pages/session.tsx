export function SessionPage(_: { budget: string; session: string }) {
  return <h1>Session</h1>;
}
