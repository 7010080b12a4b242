import { useId } from 'preact/hooks';
import type { AccountantKind, SessionGuarantees } from '../api/messages';
import { useGet } from '../api/read';
import { pathOfResource } from '../api/client';
import { delta } from '../delta';
import { accountantName } from '../format/names';
import { query, setQuery } from '../router';

/** The accountant that the address names; BEST if it names none. */
export function chosenAccountant(): AccountantKind {
  const named = query.value.get('accountant');
  return named === null || named === '' ? 'BEST' : (named as AccountantKind);
}

/** Chooses among the accountants that know every event of a session, and lists the others. */
export function AccountantChoice({ session }: { session: string }) {
  const name = useId();
  const answer = useGet<SessionGuarantees>(pathOfResource(session, 'guarantees'), {
    delta: delta.value,
  });
  const readings = answer.value.value?.readings ?? [];
  const chosen = chosenAccountant();
  const kinds = readings
    .filter(({ guarantee }) => guarantee !== undefined)
    .map(({ accountant }) => accountant ?? 'KIND_UNSPECIFIED');
  // The accountant in the address stays visible, whether it knows the events or not.
  if (!kinds.includes(chosen)) kinds.push(chosen);
  return (
    <span class="field-inline">
      <label for={name}>Accountant</label>
      <select
        id={name}
        value={chosen}
        onChange={(event) => {
          const kind = event.currentTarget.value;
          setQuery({ accountant: kind === 'BEST' ? undefined : kind });
        }}
      >
        {kinds.map((kind) => (
          <option value={kind} key={kind}>
            {accountantName(kind)}
            {kind === 'CLT' ? ' (approximation, not a bound)' : ''}
          </option>
        ))}
      </select>
    </span>
  );
}
