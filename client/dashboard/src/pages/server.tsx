export function ServerPage(_: Record<string, never>) {
  return <h1>Server</h1>;
}
