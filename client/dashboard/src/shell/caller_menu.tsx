import { logOut, caller } from '../caller';

/** Who is logged in, with the way out; nothing where there is no access control. */
export function CallerMenu() {
  const who = caller.value;
  if (who === undefined || who.tenant === undefined || who.tenant === '') return null;
  return (
    <button
      type="button"
      title={`${who.principal ?? ''}, ${(who.role ?? '').toLowerCase()} of ${who.tenant}`}
      onClick={() => void logOut()}
    >
      Log out
    </button>
  );
}
