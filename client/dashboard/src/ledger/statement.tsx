import { useState } from 'preact/hooks';
import { get, pathOfResource, type ApiError } from '../api/client';
import type { PrivacyStatement } from '../api/messages';
import { idOf } from '../api/resource_names';
import { Card } from '../design/card';
import { Facts } from '../design/facts';
import { Icon } from '../design/icons';
import { Problem } from '../design/notice';
import { deltaText } from '../delta';
import { count } from '../format/numbers';
import { Term } from '../glossary/term';
import { saveFile } from '../save_file';
import { caughtWords } from './caught_at_most';
import { muWords } from './mu_words';

/** The signed privacy statement of a budget or session, made on request. */
export function StatementCard({ name }: { name: string }) {
  const [statement, setStatement] = useState<PrivacyStatement | undefined>();
  const [madeAt, setMadeAt] = useState('');
  const [caught, setCaught] = useState('');
  const [mu, setMu] = useState('');
  const [error, setError] = useState<ApiError | undefined>();
  const [busy, setBusy] = useState(false);
  const delta = deltaText.value;

  const make = async () => {
    setBusy(true);
    const answer = await get<PrivacyStatement>(pathOfResource(name, 'statement'), { delta });
    setBusy(false);
    setError(answer.ok ? undefined : answer.error);
    if (!answer.ok) return;
    setStatement(answer.value);
    setMadeAt(delta);
    const [caughtAtMost, muAtMost] = await Promise.all([caughtWords(name, delta), muWords(name)]);
    setCaught(caughtAtMost);
    setMu(muAtMost);
  };
  const save = (extension: string, type: string, content: string) => (
    <button
      type="button"
      onClick={() => saveFile(`privacy-statement-${idOf(name)}.${extension}`, type, [content])}
    >
      <Icon name="download" /> {extension.toUpperCase()}
    </button>
  );

  return (
    <Card
      title="Privacy statement"
      heading={
        <>
          Privacy <Term word="statement">statement</Term>
        </>
      }
    >
      <p class="muted">
        What is guaranteed, by which theorem, under which caps, and what is not covered; signed by
        the server.
      </p>
      <div class="actions">
        <button type="button" class="button-main" disabled={busy} onClick={() => void make()}>
          {busy ? 'Making it …' : `Make it at delta ${delta}`}
        </button>
        {statement !== undefined && (
          <>
            {save('txt', 'text/plain', statement.text ?? '')}
            {save('json', 'application/json', `${JSON.stringify(statement, null, 2)}\n`)}
            {save('html', 'text/html', statement.html ?? '')}
          </>
        )}
        <button type="button" onClick={() => print()}>
          Print this page
        </button>
      </div>
      {error !== undefined && <Problem error={error} what="The statement" />}
      {statement !== undefined && (
        <>
          <p role="status" class="small muted">
            Made at delta {madeAt}, at entry {count(statement.head?.sequence)} of the ledger. The
            JSON file has the signature: <code>epsctl statement verify</code> checks it, and{' '}
            <code>epsctl statement sign-off</code> records in the ledger who answers for it.
          </p>
          {caught !== '' && (
            <p class="small">
              <Term word="true-positive-rate">Caught at most</Term>: {caught}.
            </p>
          )}
          {mu !== '' && (
            <p class="small">
              <Term word="mu">Mu</Term> of Gaussian DP: {mu}.
            </p>
          )}
          <pre class="text-box" tabIndex={0} role="region" aria-label="Text of the statement">
            {statement.text}
          </pre>
          <details>
            <summary>Signature</summary>
            <Facts
              rows={[
                ['Ed25519 signature of the JSON', <span class="hash">{statement.signature}</span>],
                ['public key', <span class="hash">{statement.publicKey}</span>],
              ]}
            />
          </details>
        </>
      )}
      <div class="paper-only sign-off">
        <span>Place and date</span>
        <span>Name and signature</span>
      </div>
    </Card>
  );
}
