import { get, pathOfResource, type Result } from '../../api/client';
import type { LedgerHead, ListAuditEntriesResponse } from '../../api/messages';
import { useAnswer } from '../../api/read';
import { idOf } from '../../api/resource_names';
import { Answer } from '../../design/answer';
import { Card } from '../../design/card';
import { hrefOf } from '../../router';
import { EntriesTable } from '../../ledger/entries_table';

const SHOWN = 8;

/** The newest entries of the ledger of a budget's tree. */
export function NewestEntries({ budget }: { budget: string }) {
  const ask = async (abort: AbortSignal): Promise<Result<ListAuditEntriesResponse>> => {
    const head = await get<LedgerHead>(pathOfResource(budget, 'head'), {}, abort);
    if (!head.ok) return head;
    const after = Math.max(0, Number(head.value.sequence ?? 0) - SHOWN);
    return get<ListAuditEntriesResponse>(
      pathOfResource(budget, 'entries'),
      { afterSequence: after, pageSize: SHOWN },
      abort,
    );
  };
  const read = useAnswer(`newest entries ${budget}`, ask, { touchedBy: [budget] });
  return (
    <Card
      title="Newest entries of the ledger"
      aside={
        <a href={hrefOf({ page: 'audit', budget: idOf(budget) })}>
          Audit: verify, export, all entries
        </a>
      }
    >
      <Answer read={read} what="the newest entries">
        {(value) => <EntriesTable entries={[...(value.entries ?? [])].reverse()} />}
      </Answer>
    </Card>
  );
}
