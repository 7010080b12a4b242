import type { ComponentChildren } from 'preact';

interface GridProps {
  /** What is in it, for screen readers. */
  label: string;
  /** What is above each column; "#" in front is a column of numbers, a line break is "|". */
  heads: readonly string[];
  /** A table also where there is little room: of two or three narrow columns. */
  narrow?: boolean;
  /** Rows. */
  children: ComponentChildren;
}

/** A table in a box of its own, a card a row where there is little room. */
export function Grid({ label, heads, narrow, children }: GridProps) {
  return (
    <div class="table-box" role="region" aria-label={`${label} (table)`} tabIndex={0}>
      <table class={narrow === true ? 'grid' : 'grid as-cards'}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col" class={head.startsWith('#') ? 'number' : undefined}>
                {head
                  .replace('#', '')
                  .split('|')
                  .map((line, i) => (i === 0 ? line : [<br key={i} />, line]))}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
