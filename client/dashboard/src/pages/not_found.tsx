export function NotFoundPage(_: { path: string }) {
  return <h1>Not found</h1>;
}
