import { useState } from 'preact/hooks';
import { get, pathOfResource, type ApiError } from '../api/client';
import type { LedgerHead, ListAuditEntriesResponse } from '../api/messages';
import { idOf } from '../api/resource_names';
import { Card } from '../design/card';
import { Icon } from '../design/icons';
import { Problem } from '../design/notice';
import { exportHeader, exportRow, exportTrailer } from '../format/export_file';
import { count, counted } from '../format/numbers';
import { saveFile } from '../save_file';

const PAGE_SIZE = 1000;

const GAP: ApiError = {
  kind: 'broken',
  message: 'The entries from the server do not lead to its head: nothing was saved.',
  remedy: 'Verify the ledger.',
};

/** The whole ledger as a self-checking file of JSON lines. */
export function AuditExport({ root }: { root: string }) {
  const [progress, setProgress] = useState<string | undefined>();
  const [error, setError] = useState<ApiError | undefined>();
  const [busy, setBusy] = useState(false);

  const save = async (): Promise<ApiError | undefined> => {
    const head = await get<LedgerHead>(pathOfResource(root, 'head'));
    if (!head.ok) return head.error;
    const last = Number(head.value.sequence ?? 0);
    const parts = [exportHeader(head.value.rootBudget ?? root)];
    let lastHash: string | undefined;
    for (let at = 0; at < last; ) {
      setProgress(`${count(at)} of ${counted(last, 'entry', 'entries')}`);
      const page = await get<ListAuditEntriesResponse>(pathOfResource(root, 'entries'), {
        afterSequence: at,
        pageSize: Math.min(PAGE_SIZE, last - at),
      });
      if (!page.ok) return page.error;
      for (const entry of page.value.entries ?? []) {
        if (Number(entry.sequence) !== at + 1) return GAP;
        parts.push(exportRow(entry));
        lastHash = entry.hash;
        at += 1;
      }
      if ((page.value.entries ?? []).length === 0) return GAP;
    }
    if (lastHash !== head.value.hash) return GAP;
    parts.push(exportTrailer(head.value));
    saveFile(`ledger-${idOf(root)}-${last}.jsonl`, 'application/jsonl', parts);
    setProgress(`${counted(last, 'entry', 'entries')} saved`);
    return undefined;
  };

  const start = async () => {
    setBusy(true);
    setError(undefined);
    const problem = await save();
    setError(problem);
    if (problem !== undefined) setProgress(undefined);
    setBusy(false);
  };

  return (
    <Card title="Export">
      <p class="muted">
        Every entry as it is hashed, a line of JSON each, with the head at the end: the same file as{' '}
        <code>epsctl ledger export</code> writes.
      </p>
      <div class="actions">
        <button type="button" disabled={busy} onClick={() => void start()}>
          <Icon name="download" /> Download JSON lines
        </button>
      </div>
      <p role="status" class="small muted">
        {progress ?? ''}
      </p>
      {error !== undefined && <Problem error={error} what="Not exported" />}
    </Card>
  );
}
