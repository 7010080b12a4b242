import { useState } from 'preact/hooks';
import { caller, logOut } from '../caller';

/** The way out, for who came in by a token. */
export function CallerMenu() {
  const [problem, setProblem] = useState('');
  const who = caller.value;
  // A certificate, or anybody on this machine, cannot log out.
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
