import type { ComponentChildren } from 'preact';

interface GridProps {
  /** Its content, for screen readers. */
  label: string;
  /** The heads of the columns; "#" in front marks a column of numbers, "|" is a line break. */
  heads: readonly string[];
  /** Stays a table on a narrow screen, if it has two or three narrow columns. */
  narrow?: boolean;
  /** Rows. */
  children: ComponentChildren;
}

/** A table in its own box; on a narrow screen each row is a card. */
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
