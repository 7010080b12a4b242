export function PrivacyProfilePage(_: { budget: string; session: string }) {
  return <h1>Privacy profile</h1>;
}
