import type { Budget } from '../../api/messages';
import { idOf } from '../../api/resource_names';
import { Notice } from '../../design/notice';
import { hrefOf } from '../../router';

/** What somebody must know about a budget before reading its numbers. */
export function BudgetNotices({ budget }: { budget: Budget }) {
  const reason = budget.stateReason ?? '';
  const because = reason === '' ? '' : ` Reason given: ${reason}.`;
  const successor = budget.supersededBy ?? '';
  const before = budget.supersedes ?? '';
  return (
    <>
      {budget.state === 'SUPERSEDED' && (
        <Notice tone="bad">
          <p>
            <strong>The guarantee of this budget is void.</strong> It was superseded by{' '}
            <a href={hrefOf({ page: 'budget', budget: idOf(successor) })}>{idOf(successor)}</a>,
            which starts with everything spent here: only its guarantee holds.{because}
          </p>
        </Notice>
      )}
      {before !== '' && (
        <Notice>
          <p>
            It supersedes{' '}
            <a href={hrefOf({ page: 'budget', budget: idOf(before) })}>{idOf(before)}</a>, whose
            guarantee is void, and started with everything that was spent there.
          </p>
        </Notice>
      )}
      {budget.state === 'FROZEN' && (
        <Notice tone="warn">
          <p>
            <strong>Frozen:</strong> every charge below is refused until it is thawed.{because}
          </p>
        </Notice>
      )}
      {budget.state === 'CLOSED' && (
        <Notice>
          <p>
            <strong>Closed</strong> for good: every charge below is refused.{because}
          </p>
        </Notice>
      )}
      {budget.cap?.noGuarantee !== undefined && (
        <Notice tone="warn">
          <p>
            <strong>This budget promises nothing.</strong> It records runs as published, whose
            guarantee is not proven; its epsilon is infinite whatever was charged.
          </p>
        </Notice>
      )}
    </>
  );
}
