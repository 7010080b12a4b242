import type { ComponentChildren } from 'preact';
import { knownBudgets } from '../api/budgets';
import type { AuditEntry } from '../api/messages';
import { Grid } from '../design/grid';
import { hexOf } from '../format/hashes';
import { count } from '../format/numbers';
import { clockTime, dayName } from '../format/times';
import { hrefOf } from '../router';
import { doorWords, entryWords, placeOfName, whoWords, type EntryWords } from './entry_words';

/** An entry with its words. */
export interface ReadEntry {
  entry: AuditEntry;
  words: EntryWords;
  who: string;
}

/** Reads entries with the caps that are known. */
export function readEntries(entries: readonly AuditEntry[]): ReadEntry[] {
  const capOf = (id: string) => knownBudgets.value.get(`budgets/${id}`)?.cap;
  return entries.map((entry) => ({
    entry,
    words: entryWords(entry, capOf),
    who: whoWords(entry.actor),
  }));
}

/** Entries of a ledger as sentences, day by day, the newest first. */
export function EntriesTable({ entries }: { entries: readonly ReadEntry[] }) {
  const rows: ComponentChildren[] = [];
  let day = '';
  for (const read of entries) {
    const next = dayName(read.entry.time ?? '');
    if (next !== day) {
      day = next;
      rows.push(
        <tr class="group-row" key={day}>
          <th scope="rowgroup" colSpan={4}>
            {day}
          </th>
        </tr>,
      );
    }
    rows.push(<EntryRow key={read.entry.sequence} {...read} />);
  }
  return (
    <Grid label="Entries" heads={['Time', 'Who', 'What happened', '#Entry']}>
      {rows}
    </Grid>
  );
}

function EntryRow({ entry, words, who }: ReadEntry) {
  return (
    <tr>
      <td class="nowrap short">
        {clockTime(entry.time ?? '')}
      </td>
      <td class="who" title={[doorWords(entry.actor), entry.actor?.client].filter(Boolean).join(', ')}>
        {who}
        {entry.actor?.door === 'OFFLINE' && <span class="under">{doorWords(entry.actor)}</span>}
      </td>
      <td class="breakable">
        <span>
          <Sentence words={words} />
          {words.reason !== '' && (
            <span class="under">
              {words.kind === 'refusal' ? '' : 'Reason: '}
              {words.reason}
            </span>
          )}
        </span>
      </td>
      <td
        class="number"
        title={`hash ${hexOf(entry.hash)}, after ${hexOf(entry.previousHash)}`}
      >
        <span class="hash muted">{hexOf(entry.hash).slice(0, 8)}</span> {count(entry.sequence)}
      </td>
    </tr>
  );
}

/** The text, with a link where it names a budget or session. */
function Sentence({ words }: { words: EntryWords }) {
  const at = placeOfName(words.text, words.about);
  if (at < 0) return <>{words.text}</>;
  const [budget = '', session] = words.about.split('/');
  const href = hrefOf(
    session === undefined ? { page: 'budget', budget } : { page: 'session', budget, session },
  );
  return (
    <>
      {words.text.slice(0, at)}
      <a href={href}>{words.about}</a>
      {words.text.slice(at + words.about.length)}
    </>
  );
}
