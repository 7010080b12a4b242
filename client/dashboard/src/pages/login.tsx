export function LoginPage(_: Record<string, never>) {
  return <h1>Log in</h1>;
}
