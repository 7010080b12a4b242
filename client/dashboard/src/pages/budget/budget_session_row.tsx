import { epsilonWords } from '../../api/guarantees';
import { countOf, numberOf, type SessionReading } from '../../api/messages';
import { budgetOf, idOf } from '../../api/resource_names';
import { ClaimBadge, isUnproven, StateBadge } from '../../design/badge';
import { count, roundedUp } from '../../format/numbers';
import { ClaimNote } from '../../ledger/claim_note';
import { hrefOf } from '../../router';

interface BudgetSessionRowProps {
  reading: SessionReading;
  /** The budget of this page: sessions of budgets below it show their own. */
  budget: string;
  /** The names of the columns, for a row that is a card. */
  columns: readonly string[];
  /** Told the search that finds sessions of the same group or label. */
  onLabel(text: string): void;
}

export function BudgetSessionRow({ reading, budget, columns, onLabel }: BudgetSessionRowProps) {
  const { session } = reading;
  const { name } = session;
  const owner = budgetOf(name);
  const readings = reading.reading === undefined ? [] : [reading.reading];
  const unproven = isUnproven(session.claim);
  const divergence = unproven ? undefined : numberOf(reading.renyiDivergence?.upper);
  const labels = [
    ...((session.group ?? '') === '' ? [] : [session.group ?? '']),
    ...Object.entries(session.labels ?? {}).map(([key, value]) => `${key}=${value}`),
  ];
  return (
    <tr>
      <th scope="row">
        <a href={hrefOf({ page: 'session', budget: idOf(owner), session: idOf(name) })}>
          {owner === budget ? idOf(name) : `${idOf(owner)}/${idOf(name)}`}
        </a>
        {(session.displayName ?? '') !== '' && <span class="under">{session.displayName}</span>}
        {session.mode === 'DECLARED' && <span class="under">declared plan</span>}
        {labels.length > 0 && (
          <span class="under labels">
            {labels.map((label) => (
              <button
                type="button"
                key={label}
                title={`Find the sessions of ${label}`}
                onClick={() => onLabel(label)}
              >
                {label}
              </button>
            ))}
          </span>
        )}
      </th>
      <td
        data-label={columns[1]}
        class={session.state === 'ACTIVE' && !unproven ? 'short usual' : 'short'}
      >
        <span class="badges">
          <StateBadge state={session.state} />
          <ClaimBadge claim={session.claim} />
        </span>
      </td>
      <td data-label={columns[2]} class="number">
        {unproven ? (
          <span class="muted">no proven bound</span>
        ) : (
          <>
            {epsilonWords(readings)}
            <ClaimNote readings={readings} />
          </>
        )}
      </td>
      <td data-label={columns[3]} class="number">
        {divergence === undefined ? <span class="muted">none</span> : roundedUp(divergence)}
      </td>
      <td data-label={columns[4]} class="number">
        {count(countOf(session.stepCount))}
      </td>
      <td data-label={columns[5]} class="number">
        {count(session.refusedChargeCount)}
      </td>
    </tr>
  );
}
