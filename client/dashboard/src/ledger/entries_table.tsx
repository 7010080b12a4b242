import type { Actor, AuditEntry } from '../api/messages';
import { At } from '../design/time';
import { Grid } from '../design/grid';
import { hexOf } from '../format/hashes';
import { count } from '../format/numbers';

/** Who asked for a change. The client's description of itself is a claim, and shown apart. */
function who(actor: Actor | undefined) {
  if (actor === undefined) return 'not recorded';
  if (actor.door === 'SERVER') return 'the server';
  if (actor.door === 'OFFLINE') return `${actor.principal ?? ''} on the files`;
  return actor.door === 'HTTP' ? `${actor.principal ?? ''} over HTTP` : (actor.principal ?? '');
}

/** Entries of a ledger, with their hashes. */
export function EntriesTable({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <Grid label="Entries" heads={['#Entry', 'Time', 'Who', 'What happened', 'Hash']}>
      {entries.map((entry) => (
        <tr key={entry.sequence}>
          <th scope="row" class="number">
            {count(entry.sequence)}
          </th>
          <td data-label="Time">
            <At time={entry.time} />
          </td>
          <td class="breakable" data-label="Who" title={entry.actor?.client}>
            {who(entry.actor)}
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
