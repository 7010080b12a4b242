import { toChildArray, type ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Choice } from './choice';

// On a narrow screen each row is a card, and more rows than these are shown on request.
const MOST_CARDS = 12;
const NARROW = 'screen and (max-width: 48rem)';

function useIsNarrow(): boolean {
  const [isNarrow, setIsNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const changed = () => setIsNarrow(query.matches);
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, []);
  return isNarrow;
}

export interface GridSort {
  /** Heads without "#" and "|" that can be chosen. */
  columns: readonly string[];
  by: string;
  isDescending: boolean;
  choose(column: string): void;
}

interface GridProps {
  /** Its content, for screen readers. */
  label: string;
  /** The heads of the columns; "#" in front marks a column of numbers, "|" is a line break. */
  heads: readonly string[];
  /** The columns that sort the rows, and how they are sorted now. */
  sort?: GridSort;
  /** Stays a table on a narrow screen, if it has two or three narrow columns. */
  narrow?: boolean;
  /** Rows. */
  children: ComponentChildren;
}

/** A table in its own box; on a narrow screen each row is a card. */
export function Grid({ label, heads, narrow, sort, children }: GridProps) {
  const [showsAll, setShowsAll] = useState(false);
  const rows = toChildArray(children);
  const isCards = useIsNarrow() && narrow !== true;
  const isCut = isCards && !showsAll && rows.length > MOST_CARDS;
  return (
    <div class="table-box" role="region" aria-label={`${label} (table)`} tabIndex={0}>
      {isCards && sort !== undefined && rows.length > 1 && <CardSort sort={sort} />}
      <table class={narrow === true ? 'grid' : 'grid as-cards'}>
        <thead>
          <tr>
            {heads.map((head) => (
              <Head key={head} head={head} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>{isCut ? rows.slice(0, MOST_CARDS) : rows}</tbody>
      </table>
      {isCut && (
        <button type="button" class="more-rows" onClick={() => setShowsAll(true)}>
          Show all {rows.length} rows
        </button>
      )}
    </div>
  );
}

/** Cards have no heads: a choice sorts them. */
function CardSort({ sort }: { sort: GridSort }) {
  return (
    <div class="card-sort">
      <Choice label="Sort by" value={sort.by} onChoose={(column) => sort.choose(column)}>
        {[
          ...(sort.by === '' ? [['', 'the usual order']] : []),
          ...sort.columns.map((column) => [column, column]),
        ]}
      </Choice>
      {sort.by !== '' && (
        <button type="button" onClick={() => sort.choose(sort.by)}>
          {sort.isDescending ? 'Largest first ↓' : 'Smallest first ↑'}
        </button>
      )}
    </div>
  );
}

/** The name of a column, for sorting and for a row that is a card. */
export function columnOf(head: string): string {
  return head.replace('#', '').replace('|', ' ');
}

function Head({ head, sort }: { head: string; sort: GridSort | undefined }) {
  const column = columnOf(head);
  const classes = head.startsWith('#') ? 'number' : undefined;
  const lines = head
    .replace('#', '')
    .split('|')
    .map((line, i) => (i === 0 ? line : [<br key={i} />, line]));
  if (sort === undefined || !sort.columns.includes(column)) {
    return (
      <th scope="col" class={classes}>
        {lines}
      </th>
    );
  }
  const isBy = sort.by === column;
  return (
    <th
      scope="col"
      class={classes}
      aria-sort={isBy ? (sort.isDescending ? 'descending' : 'ascending') : 'none'}
    >
      <button type="button" class="sorts" onClick={() => sort.choose(column)}>
        <span>{lines}</span>
        <span class="sort-mark" aria-hidden="true">
          {isBy ? (sort.isDescending ? '↓' : '↑') : '↕'}
        </span>
      </button>
    </th>
  );
}
