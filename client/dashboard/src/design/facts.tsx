import type { ComponentChildren } from 'preact';
import { Fragment } from 'preact';

/** Names and values. A value that is undefined or empty is left out. */
export function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}

/** One important number. */
export function Figure({
  name,
  value,
  note,
}: {
  name: ComponentChildren;
  value: ComponentChildren;
  note?: ComponentChildren;
}) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        {value}
        {note !== undefined && <small>{note}</small>}
      </dd>
    </div>
  );
}
