export function AuditPage(_: { budget?: string }) {
  return <h1>Audit</h1>;
}
