export function TradeOffPage(_: { budget: string; session: string }) {
  return <h1>Trade-off curve</h1>;
}
