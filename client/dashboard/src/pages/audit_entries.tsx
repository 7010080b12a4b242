import type { ReadonlySignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { ApiError } from '../api/client';
import type { LedgerHead } from '../api/messages';
import type { Read } from '../api/read';
import { idOf } from '../api/resource_names';
import { Answer } from '../design/answer';
import { Card } from '../design/card';
import { Choice } from '../design/choice';
import { Problem } from '../design/notice';
import { count, counted } from '../format/numbers';
import { EntriesTable, readEntries, type ReadEntry } from '../ledger/entries_table';
import { lastEntryBefore, useEntryLog } from '../ledger/entry_log';
import { isAbout, KINDS } from '../ledger/entry_words';
import { query, setQuery } from '../router';

const FIRST_COUNT = 200;
const MORE_COUNT = 1800;
const SHOWN = 100;

/** What the address says about the entries that are wanted. */
interface Filter {
  find: string;
  kind: string;
  who: string;
  about: string;
}

function filterOf(parameters: URLSearchParams): Filter {
  const of = (name: string) => parameters.get(name) ?? '';
  return { find: of('find'), kind: of('kind'), who: of('who'), about: of('about') };
}

function matches({ entry, words, who }: ReadEntry, filter: Filter): boolean {
  // Prices are what the ledger computes for itself.
  if (filter.kind === '' ? words.kind === 'price' : filter.kind !== 'everything' && words.kind !== filter.kind) {
    return false;
  }
  if (filter.who !== '' && who !== filter.who) return false;
  if (filter.about !== '' && !isAbout(words, filter.about)) return false;
  const find = filter.find.trim().toLowerCase();
  return (
    find === '' ||
    `${who} ${words.text} ${words.reason} ${entry.description ?? ''} ${entry.sequence ?? ''}`
      .toLowerCase()
      .includes(find)
  );
}

interface AuditEntriesProps {
  root: string;
  /** Of the ledger. */
  head: ReadonlySignal<Read<LedgerHead>>;
}

/** The entries of a ledger in words, with search, filters and a jump to a date. */
export function AuditEntries({ root, head }: AuditEntriesProps) {
  // The last entry that is wanted; undefined: the newest one.
  const [upTo, setUpTo] = useState<number | undefined>();
  const [wanted, setWanted] = useState(FIRST_COUNT);
  const [shown, setShown] = useState(SHOWN);
  const [error, setError] = useState<ApiError | undefined>();
  const read = useEntryLog({ budget: root, head, upTo, count: wanted });
  const filter = filterOf(query.value);
  const last = read.value.value?.lastSequence ?? 0;

  const jump = async (date: string) => {
    setWanted(FIRST_COUNT);
    setShown(SHOWN);
    if (date === '') return setUpTo(undefined);
    const end = new Date(`${date}T00:00:00`);
    end.setDate(end.getDate() + 1);
    const found = await lastEntryBefore(root, end.getTime(), last);
    setError(found.ok ? undefined : found.error);
    if (found.ok) setUpTo(found.value >= last ? undefined : Math.max(1, found.value));
  };

  return (
    <Card title="Entries">
      <Answer read={read} what="the entries">
        {({ entries, lastSequence }) => {
          const all = readEntries(entries);
          const found = all.filter((one) => matches(one, filter));
          const newest = Number(entries[0]?.sequence ?? 0);
          const oldest = Number(entries.at(-1)?.sequence ?? 0);
          const names = [...new Set([...all.map(({ who }) => who), filter.who])].filter(Boolean);
          return (
            <>
              <Fields filter={filter} names={names.sort()} onJump={(date) => void jump(date)} />
              {error !== undefined && <Problem error={error} what="The date" />}
              <p class="small muted" role="status">
                {counted(found.length, 'entry', 'entries')} of {count(oldest)} to {count(newest)};
                the ledger of {idOf(root)} has {count(lastSequence)}.
                {filter.kind === '' && ' Prices that the ledger computes for itself are left out.'}
              </p>
              {found.length > 0 ? (
                <EntriesTable entries={found.slice(0, shown)} />
              ) : (
                <p class="muted">No entry of these matches.</p>
              )}
              <div class="actions">
                {upTo !== undefined && (
                  <button type="button" onClick={() => void jump('')}>
                    Newest
                  </button>
                )}
                {found.length > shown && (
                  <button type="button" onClick={() => setShown(shown + 4 * SHOWN)}>
                    Show more of these
                  </button>
                )}
                {oldest > 1 && (
                  <button
                    type="button"
                    disabled={read.value.loading}
                    onClick={() => setWanted(wanted + MORE_COUNT)}
                  >
                    {read.value.loading ? 'Reading …' : 'Look further back'}
                  </button>
                )}
              </div>
            </>
          );
        }}
      </Answer>
    </Card>
  );
}

interface FieldsProps {
  filter: Filter;
  names: readonly string[];
  onJump: (date: string) => void;
}

function Fields({ filter, names, onJump }: FieldsProps) {
  const set = (name: keyof Filter) => (value: string) =>
    setQuery({ [name]: value === '' ? undefined : value });
  return (
    <div class="fields-inline">
      <label class="field-inline">
        Find
        <input
          type="search"
          placeholder="words, a name, an entry"
          value={filter.find}
          onInput={(event) => set('find')(event.currentTarget.value)}
        />
      </label>
      <Choice label="What" value={filter.kind} onChoose={set('kind')}>
        {[
          ['', 'all but prices'],
          ['everything', 'everything'],
          ...Object.entries(KINDS),
        ]}
      </Choice>
      <Choice label="Who" value={filter.who} onChoose={set('who')}>
        {[['', 'anybody'], ...names.map((name) => [name, name] as const)]}
      </Choice>
      <label class="field-inline">
        Up to the day
        <input type="date" onChange={(event) => onJump(event.currentTarget.value)} />
      </label>
      {filter.about !== '' && (
        <span class="field-inline">
          About {filter.about}
          <button type="button" onClick={() => set('about')('')}>
            Show all
          </button>
        </span>
      )}
    </div>
  );
}
