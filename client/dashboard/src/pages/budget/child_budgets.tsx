import { pathOfResource } from '../../api/client';
import type { Budget, GetBudgetTreeResponse } from '../../api/messages';
import { useGet } from '../../api/read';
import { idOf } from '../../api/resource_names';
import { Answer } from '../../design/answer';
import { StateBadge } from '../../design/badge';
import { Card } from '../../design/card';
import { Grid } from '../../design/grid';
import { count } from '../../format/numbers';
import { hrefOf } from '../../router';
import { BudgetBar } from '../../ledger/budget_bar';
import { budgetRows } from '../overview/overview_order';

/** At most this many are listed on one page. */
const MOST_BUDGETS = 200;

/** The budgets below one, as a tree. Empty if there are none. */
export function ChildBudgets({ budget }: { budget: Budget }) {
  const read = useGet<GetBudgetTreeResponse>(
    pathOfResource(budget.name, 'tree'),
    { pageSize: MOST_BUDGETS },
    { touchedBy: [budget.name] },
  );
  const all = read.value.value?.budgets ?? [];
  if (read.value.error === undefined && all.length <= 1) return null;
  return (
    <Card
      title="Budgets below"
      aside={
        budget.partition !== undefined && (
          <span class="muted small">
            disjoint by {budget.partition.function}: the largest counts, not the sum
          </span>
        )
      }
    >
      <Answer read={read} what="the budgets below">
        {(tree) => (
          <>
            <Grid label="Budgets below" heads={['Budget', 'Spent of its cap', '#Charges']}>
              {budgetRows((tree.budgets ?? []).filter((one) => one.name !== budget.name)).map(
                ({ budget: one, depth }) => (
                  <tr key={one.name}>
                    <th scope="row">
                      <span
                        class={depth > 0 ? `indent-${Math.min(depth, 3)} under-parent` : undefined}
                      >
                        <a href={hrefOf({ page: 'budget', budget: idOf(one.name) })}>
                          {idOf(one.name)}
                        </a>{' '}
                        {one.state !== 'ACTIVE' && <StateBadge state={one.state} />}
                        {depth > 0 && <span class="under">below {idOf(one.parent ?? '')}</span>}
                      </span>
                    </th>
                    <td>
                      <BudgetBar budget={one} />
                    </td>
                    <td data-label="Charges" class="number">
                      {count(one.acceptedChargeCount)}
                      <span class="under">{count(one.refusedChargeCount)} refused</span>
                    </td>
                  </tr>
                ),
              )}
            </Grid>
            {(tree.nextPageToken ?? '') !== '' && (
              <p class="small muted">
                Only the first are shown: `epsctl budget tree {idOf(budget.name)}` lists them all.
              </p>
            )}
          </>
        )}
      </Answer>
    </Card>
  );
}
