import { useState } from 'preact/hooks';
import { rpc, type Result } from '../api/client';
import type { VerifyLedgerResponse } from '../api/messages';
import { Card } from '../design/card';
import { Command, Notice, Problem } from '../design/notice';
import { hexOf } from '../format/hashes';
import { count, counted } from '../format/numbers';
import { fullTime } from '../format/times';

interface Verdict {
  answer: Result<VerifyLedgerResponse>;
  time: string;
}

/** Lets the server read every entry again, and shows the result in words. */
export function AuditVerify({ root }: { root: string }) {
  const [verdict, setVerdict] = useState<Verdict | undefined>();
  const [busy, setBusy] = useState(false);
  const verify = async () => {
    setBusy(true);
    const answer = await rpc<VerifyLedgerResponse>('AuditService.VerifyLedger', { budget: root });
    setVerdict({ answer, time: new Date().toISOString() });
    setBusy(false);
  };
  return (
    <Card title="Verify">
      <p class="muted">
        The server reads every stored entry again and replays it from empty: hashes, caps and the
        head.
      </p>
      <div class="actions">
        <button type="button" class="button-main" disabled={busy} onClick={() => void verify()}>
          {busy ? 'Reading every entry …' : 'Verify this ledger'}
        </button>
      </div>
      <div aria-live="polite">{verdict !== undefined && <VerdictWords verdict={verdict} />}</div>
      <p class="small muted">
        Here a server vouches for itself. Check an export file on another machine:
      </p>
      <Command text="epsledgerd ledger verify ledger.jsonl" />
    </Card>
  );
}

function VerdictWords({ verdict }: { verdict: Verdict }) {
  const { answer, time } = verdict;
  if (!answer.ok) return <Problem error={answer.error} what="Not verified" />;
  const { valid, head, firstBadSequence, problem } = answer.value;
  if (valid === true) {
    return (
      <Notice tone="good">
        <p>
          <strong>It verifies.</strong> All {counted(head?.sequence, 'entry', 'entries')} follow
          from one another and no cap is exceeded, as of {fullTime(time)}.
        </p>
        <p class="small muted">
          Head <span class="hash">{hexOf(head?.hash)}</span>
        </p>
      </Notice>
    );
  }
  return (
    <Notice tone="bad">
      <p>
        <strong>It does not verify.</strong> Entry {count(firstBadSequence)} is the first that is
        wrong: {problem}
      </p>
      <p>
        Stop charging this budget, keep the data directory as it is, and compare it with an export
        or a backup.
      </p>
    </Notice>
  );
}
