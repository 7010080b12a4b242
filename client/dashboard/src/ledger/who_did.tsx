import { rootOf } from '../api/budgets';
import { Answer } from '../design/answer';
import { Card } from '../design/card';
import { Grid } from '../design/grid';
import { Ago } from '../design/time';
import { count, counted } from '../format/numbers';
import { hrefOf } from '../router';
import { EntriesTable, readEntries, type ReadEntry } from './entries_table';
import { useEntryLog, useLedgerHead } from './entry_log';
import { isAbout } from './entry_words';

const READ = 300;
const SHOWN = 6;

interface WhoDidProps {
  /** The id of the budget whose ledger it is. */
  budget: string;
  /** "people" or "people/first": only entries about it. */
  about: string;
  /** More ids whose entries count: the budgets below. */
  below?: readonly string[];
}

/** Who charged and who changed something lately, by person, and the newest of it in words. */
export function WhoDid({ budget, about, below = [] }: WhoDidProps) {
  const ledger = `budgets/${budget}`;
  const head = useLedgerHead(ledger);
  const read = useEntryLog({ budget: ledger, head, upTo: undefined, count: READ });
  // A root budget is all of its ledger.
  const isAll = rootOf(`budgets/${budget}`) === `budgets/${about}`;
  const all = hrefOf({ page: 'audit', budget }, isAll ? {} : { about });
  return (
    <Card title="Who did what" aside={<a href={all}>Everything, with search and filters</a>}>
      <Answer read={read} what="the newest entries">
        {({ entries, lastSequence }) => {
          const ours = readEntries(entries).filter(
            ({ words }) =>
              words.kind !== 'price' && [about, ...below].some((wanted) => isAbout(words, wanted)),
          );
          const isWhole = entries.length >= lastSequence;
          return (
            <>
              {ours.length === 0 ? (
                <p class="muted">
                  {isWhole ? 'Nobody did anything here yet.' : 'Nobody did anything here lately.'}
                </p>
              ) : (
                <>
                  <People entries={ours} />
                  <EntriesTable entries={ours.slice(0, SHOWN)} />
                </>
              )}
              {!isWhole && (
                <p class="small muted">
                  Of the newest {count(entries.length)} of {counted(lastSequence, 'entry', 'entries')}{' '}
                  of the ledger. <a href={all}>Look further back</a>.
                </p>
              )}
            </>
          );
        }}
      </Answer>
    </Card>
  );
}

function People({ entries }: { entries: readonly ReadEntry[] }) {
  const people = new Map<string, ReadEntry[]>();
  for (const read of entries) {
    const known = people.get(read.who);
    if (known === undefined) people.set(read.who, [read]);
    else known.push(read);
  }
  const of = (reads: readonly ReadEntry[], kind: string) =>
    reads.filter(({ words }) => words.kind === kind).length;
  return (
    <Grid label="People" heads={['Who', '#Charged', '#Was refused', '#Changed', 'Last']}>
      {[...people].map(([who, reads]) => (
        <tr key={who}>
          <th scope="row" class="breakable">
            {who}
          </th>
          <td data-label="Charged" class="number">
            {count(of(reads, 'charge'))}
          </td>
          <td data-label="Was refused" class="number">
            {count(of(reads, 'refusal'))}
          </td>
          <td data-label="Changed" class="number">
            {count(reads.length - of(reads, 'charge') - of(reads, 'refusal'))}
          </td>
          <td data-label="Last" class="short">
            <Ago time={reads[0]?.entry.time} />
          </td>
        </tr>
      ))}
    </Grid>
  );
}
