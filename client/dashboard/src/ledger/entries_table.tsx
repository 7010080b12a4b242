import type { AuditEntry } from '../api/messages';
import { At } from '../design/time';
import { hexOf } from '../format/hashes';
import { count } from '../format/numbers';

/** Entries of a ledger, with their hashes. */
export function EntriesTable({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <div class="table-box" role="region" aria-label="Entries (table)" tabIndex={0}>
      <table class="grid as-cards">
        <thead>
          <tr>
            <th scope="col" class="number">
              Entry
            </th>
            <th scope="col">Time</th>
            <th scope="col">What happened</th>
            <th scope="col">Hash</th>
          </tr>
        </thead>
        <tbody>
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
                <span class="hash nowrap" title={`${hexOf(entry.hash)}, after ${hexOf(entry.previousHash)}`}>
                  {hexOf(entry.hash).slice(0, 16)}…
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
