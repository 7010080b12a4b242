import { logOut, caller } from '../caller';

/** The way out, for who came in by a token. */
export function CallerMenu() {
  const who = caller.value;
  // A certificate, or anybody on this machine, cannot log out.
  if (who?.principal?.startsWith('tokens/') !== true) return null;
  const tenant = (who.tenant ?? '') === '' ? '' : ` of ${who.tenant}`;
  return (
    <button
      type="button"
      title={`${who.principal}, ${(who.role ?? '').toLowerCase()}${tenant}`}
      onClick={() => void logOut()}
    >
      Log out
    </button>
  );
}
