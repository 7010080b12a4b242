import { useEffect } from 'preact/hooks';
import { pathOfResource } from '../../api/client';
import { epsilonWords } from '../../api/guarantees';
import {
  countOf,
  numberOf,
  type ComputeResponse,
  type Session,
  type SessionGuarantees,
} from '../../api/messages';
import { useGet, useRpc } from '../../api/read';
import { budgetOf, idOf } from '../../api/resource_names';
import { ClaimBadge, isUnproven, StateBadge } from '../../design/badge';
import { deltaText } from '../../delta';
import { count, roundedUp } from '../../format/numbers';
import { ClaimNote } from '../../ledger/claim_note';
import { hrefOf } from '../../router';

interface BudgetSessionRowProps {
  session: Session;
  /** The budget of this page: sessions of budgets below it show their own. */
  budget: string;
  order: number | undefined;
  onDivergence: (divergence: number | undefined) => void;
}

export function BudgetSessionRow({
  session: listed,
  budget,
  order,
  onDivergence,
}: BudgetSessionRowProps) {
  const { name } = listed;
  const touchedBy = [name];
  const read = useGet<Session>(pathOfResource(name), {}, { initial: listed, touchedBy });
  const session = read.value.value ?? listed;
  const guarantees = useGet<SessionGuarantees>(
    pathOfResource(name, 'guarantees'),
    { delta: deltaText.value },
    { touchedBy },
  );
  const unproven = isUnproven(session.claim);
  const computed = useRpc<ComputeResponse>(
    'AccountingService.Compute',
    order === undefined || unproven || session.eventsOmitted === true
      ? undefined
      : {
          accountant: 'RENYI',
          neighboringRelation: session.neighboringRelation,
          events: session.history ?? [],
          query: { renyiDivergenceAtOrder: order },
        },
    // The order is the same here: another order makes the rows again.
    { keepsOld: true },
  );
  const divergence = numberOf(computed.value.value?.upper);
  // While a newer one is computed, the previous one stays.
  useEffect(() => {
    if (!computed.value.loading || unproven) onDivergence(divergence);
  }, [divergence, computed.value.loading, unproven]);
  useEffect(() => () => onDivergence(undefined), []);

  const owner = budgetOf(name);
  const steps = countOf(session.stepCount);
  const told = guarantees.value.value;
  return (
    <tr>
      <th scope="row">
        <a href={hrefOf({ page: 'session', budget: idOf(owner), session: idOf(name) })}>
          {owner === budget ? idOf(name) : `${idOf(owner)}/${idOf(name)}`}
        </a>
        {(session.displayName ?? '') !== '' && <span class="under">{session.displayName}</span>}
        <span class="under">
          {session.mode === 'DECLARED' ? 'declared plan' : 'adaptive'}
          {(session.group ?? '') !== '' && `, group ${session.group}`}
        </span>
      </th>
      <td data-label="State">
        <span class="badges">
          <StateBadge state={session.state} />
          <ClaimBadge claim={session.claim} />
        </span>
      </td>
      <td data-label={`Epsilon at delta ${deltaText.value}`} class="number">
        {unproven ? (
          <span class="muted">no proven bound</span>
        ) : told === undefined ? (
          <span class="muted">{guarantees.value.loading ? '…' : 'unknown'}</span>
        ) : (
          <>
            {epsilonWords(told.readings)}
            <ClaimNote readings={told.readings} />
          </>
        )}
      </td>
      <td
        data-label={order === undefined ? 'Share' : `Rényi divergence at order ${roundedUp(order)}`}
        class="number"
      >
        {divergence === undefined ? <span class="muted">none</span> : roundedUp(divergence)}
      </td>
      <td data-label="Steps" class="number">
        {count(steps)}
      </td>
      <td data-label="Refused" class="number">
        {count(session.refusedChargeCount)}
      </td>
    </tr>
  );
}
