import { useState } from 'preact/hooks';
import { pathOfResource } from '../api/client';
import type { ListAuditEntriesResponse } from '../api/messages';
import { useGet } from '../api/read';
import { Answer } from '../design/answer';
import { Card } from '../design/card';
import { count } from '../format/numbers';
import { EntriesTable } from '../ledger/entries_table';

const PAGE_SIZE = 50;

interface AuditEntriesProps {
  root: string;
  /** 0 until it is known. */
  lastSequence: number;
}

/** The entries of a ledger, the newest page first; that page follows new entries. */
export function AuditEntries({ root, lastSequence }: AuditEntriesProps) {
  // The last entry of the page; undefined: the newest one.
  const [upTo, setUpTo] = useState<number | undefined>();
  const last = Math.min(upTo ?? lastSequence, lastSequence);
  const after = Math.max(0, last - PAGE_SIZE);
  const read = useGet<ListAuditEntriesResponse>(
    last === 0 ? undefined : pathOfResource(root, 'entries'),
    { afterSequence: after, pageSize: Math.max(1, last - after) },
    { keepsOld: true },
  );
  if (lastSequence === 0) return null;
  return (
    <Card
      title="Entries"
      aside={
        <span class="muted small" role="status">
          {count(after + 1)} to {count(last)} of {count(lastSequence)}, newest first
        </span>
      }
    >
      <Answer read={read} what="the entries">
        {(value) => <EntriesTable entries={[...(value.entries ?? [])].reverse()} />}
      </Answer>
      <div class="actions">
        <button type="button" disabled={upTo === undefined} onClick={() => setUpTo(undefined)}>
          Newest
        </button>
        <button
          type="button"
          disabled={upTo === undefined}
          onClick={() => setUpTo(last + PAGE_SIZE >= lastSequence ? undefined : last + PAGE_SIZE)}
        >
          Newer
        </button>
        <button type="button" disabled={after === 0} onClick={() => setUpTo(after)}>
          Older
        </button>
      </div>
    </Card>
  );
}
