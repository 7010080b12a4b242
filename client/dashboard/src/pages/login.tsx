import { useState } from 'preact/hooks';
import type { ApiError } from '../api/client';
import { logIn } from '../caller';
import { BrandMark } from '../design/brand_mark';
import { Command, Problem } from '../design/notice';
import { go, route } from '../router';

/** Takes a token. It goes into a cookie that scripts cannot read, and nowhere else. */
export function LoginPage() {
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();

  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const answer = await logIn(token.trim());
    setBusy(false);
    if (!answer.ok) {
      const wrong = answer.error.kind === 'unauthenticated' || answer.error.kind === 'invalid';
      setError(
        wrong
          ? {
              ...answer.error,
              message: 'This token is not valid here.',
              remedy: 'It may have expired, been revoked, or lost a character. Ask for a new one.',
            }
          : answer.error,
      );
      return;
    }
    setToken('');
    if (route.peek().page === 'login') go({ page: 'overview' });
  };

  return (
    <main id="content" class="page login" tabIndex={-1}>
      <form class="card" onSubmit={(event) => void submit(event)}>
        <h1 class="login-title">
          <BrandMark /> Log in to epsledger
        </h1>
        <label class="field">
          <span>Token</span>
          <input
            type="password"
            name="token"
            autocomplete="current-password"
            spellcheck={false}
            required
            autofocus
            placeholder="epsl_…"
            value={token}
            aria-describedby="token-note"
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <p id="token-note" class="small muted">
          It goes into a cookie that no script can read and that ends with the browser's session.
        </p>
        {error !== undefined && <Problem error={error} />}
        <div class="actions">
          <button type="submit" class="button-main" disabled={busy || token.trim() === ''}>
            {busy ? 'Asking …' : 'Log in'}
          </button>
        </div>
        <details>
          <summary>No token yet?</summary>
          <p class="small muted">Somebody with an admin's token makes one:</p>
          <Command text="epsctl token create --role viewer --description dashboard" />
        </details>
      </form>
    </main>
  );
}
