import { useState } from 'preact/hooks';
import { caller, logOut } from '../caller';

/** Logout, for callers who logged in with a token. */
export function CallerMenu() {
  const [problem, setProblem] = useState('');
  const who = caller.value;
  // A caller with a certificate, or without access control, cannot log out.
  if (who?.principal?.startsWith('tokens/') !== true) return null;
  const tenant = (who.tenant ?? '') === '' ? '' : ` of ${who.tenant}`;
  const leave = async () => {
    const answer = await logOut();
    setProblem(answer.ok ? '' : `Still logged in. ${answer.error.message}`);
  };
  return (
    <>
      <button
        type="button"
        title={`${who.principal}, ${(who.role ?? '').toLowerCase()}${tenant}`}
        onClick={() => void leave()}
      >
        Log out
      </button>
      {problem !== '' && (
        <span class="field-error" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}
