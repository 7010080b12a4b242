import type { AuditEntry } from '../api/messages';
import { At } from '../design/time';
import { Grid } from '../design/grid';
import { hexOf } from '../format/hashes';
import { count } from '../format/numbers';

/** Entries of a ledger, with their hashes. */
export function EntriesTable({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <Grid label="Entries" heads={['#Entry', 'Time', 'What happened', 'Hash']}>
      {entries.map((entry) => (
        <tr key={entry.sequence}>
          <th scope="row" class="number">
            {count(entry.sequence)}
          </th>
          <td data-label="Time">
            <At time={entry.time} />
          </td>
          <td class="breakable">{entry.description}</td>
          <td data-label="Hash">
            <span
              class="hash nowrap"
              title={`${hexOf(entry.hash)}, after ${hexOf(entry.previousHash)}`}
            >
              {hexOf(entry.hash).slice(0, 16)}…
            </span>
          </td>
        </tr>
      ))}
    </Grid>
  );
}
