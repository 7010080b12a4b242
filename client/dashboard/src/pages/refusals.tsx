import { useState } from 'preact/hooks';
import { budgetsListed, rootBudgets } from '../api/budgets';
import { get, pathOfResource, type ApiError, type Result } from '../api/client';
import type { Charge, ListChargesResponse } from '../api/messages';
import { useAnswer } from '../api/read';
import { idOf } from '../api/resource_names';
import { Answer } from '../design/answer';
import { Empty, Problem } from '../design/notice';
import { PageHead } from '../design/page_head';
import { RefusalsTable } from '../ledger/charge_tables';
import { go, hrefOf } from '../router';
import { BudgetChoice } from './budget_choice';

const PAGE_SIZE = 50;

/** Refused charges with cause and remedy: of one budget and all below it, or of every budget. */
export function RefusalsPage({ budget }: { budget?: string }) {
  const crumbs =
    budget === undefined
      ? []
      : [
          { text: 'Budgets', href: hrefOf({ page: 'overview' }) },
          { text: budget, href: hrefOf({ page: 'budget', budget }) },
        ];
  return (
    <>
      <PageHead title={budget === undefined ? 'Refusals' : `Refusals of ${budget}`} crumbs={crumbs}>
        <p class="muted">
          Charges that were refused, newest first: nothing was spent for them. The same key gives
          the same answer for ever.
        </p>
      </PageHead>
      <BudgetChoice
        chosen={budget}
        all="all budgets"
        onChoose={(id) =>
          go(id === undefined ? { page: 'refusals' } : { page: 'refusals', budget: id })
        }
      />
      {budget === undefined ? <OfAllBudgets /> : <OfBudget key={budget} budget={budget} />}
    </>
  );
}

function refusalsOf(budget: string, pageToken: string | undefined, abort?: AbortSignal) {
  return get<ListChargesResponse>(
    pathOfResource(budget, 'refusals'),
    { pageSize: PAGE_SIZE, pageToken },
    abort,
  );
}

function OfBudget({ budget }: { budget: string }) {
  const name = `budgets/${budget}`;
  const read = useAnswer(`refusals ${name}`, (abort) => refusalsOf(name, undefined, abort), {
    touchedBy: [name],
    touchedWhen: (change) => change.charge?.decision === 'REFUSED',
  });
  return (
    <Answer read={read} what="the refusals">
      {(value) => <Refusals budget={name} first={value} />}
    </Answer>
  );
}

/** The newest page, which follows the ledger, and older ones on demand. */
function Refusals({ budget, first }: { budget: string; first: ListChargesResponse }) {
  const [older, setOlder] = useState<Charge[]>([]);
  // Undefined: as the first page says.
  const [next, setNext] = useState<string | undefined>();
  const [error, setError] = useState<ApiError | undefined>();
  const charges = unique([...(first.charges ?? []), ...older]);
  const token = next ?? first.nextPageToken ?? '';
  const more = async () => {
    const page = await refusalsOf(budget, token);
    setError(page.ok ? undefined : page.error);
    if (!page.ok) return;
    setOlder([...older, ...(page.value.charges ?? [])]);
    setNext(page.value.nextPageToken ?? '');
  };
  if (charges.length === 0) return <NoRefusals />;
  return (
    <>
      <RefusalsTable charges={charges} />
      {error !== undefined && <Problem error={error} />}
      {token !== '' && (
        <div class="actions">
          <button type="button" onClick={() => void more()}>
            Older ones
          </button>
        </div>
      )}
    </>
  );
}

/** One page that moved while it was read may repeat a charge. */
function unique(charges: readonly Charge[]): Charge[] {
  const seen = new Set<string>();
  return charges.filter((charge) => {
    if (seen.has(charge.name)) return false;
    seen.add(charge.name);
    return true;
  });
}

function OfAllBudgets() {
  const roots = rootBudgets();
  const ask = async (abort: AbortSignal): Promise<Result<Charge[]>> => {
    const charges: Charge[] = [];
    // What is below a root is told with it.
    for (const root of roots) {
      const page = await refusalsOf(root, undefined, abort);
      if (!page.ok) return page;
      charges.push(...(page.value.charges ?? []));
    }
    charges.sort((a, b) => (b.createTime ?? '').localeCompare(a.createTime ?? ''));
    return { ok: true, value: charges };
  };
  const read = useAnswer(roots.length === 0 ? undefined : `refusals ${roots.join()}`, ask, {
    touchedBy: roots,
    touchedWhen: (change) => change.charge?.decision === 'REFUSED',
  });
  if (!budgetsListed.value) return <p class="muted">Loading the budgets …</p>;
  if (roots.length === 0) return <NoRefusals />;
  return (
    <Answer read={read} what="the refusals">
      {(charges) =>
        charges.length === 0 ? (
          <NoRefusals />
        ) : (
          <>
            <RefusalsTable charges={charges} />
            <p class="small muted">
              The newest {PAGE_SIZE} of each tree of budgets. Older ones: choose a budget
              {roots.length === 1 && `, ${idOf(roots[0] ?? '')}`}.
            </p>
          </>
        )
      }
    </Answer>
  );
}

function NoRefusals() {
  return (
    <Empty command="epsctl charge preview people/first-run --gaussian 1.1 --sampling-probability 0.01">
      Nothing was refused. Whether a charge would fit can be asked without charging:
    </Empty>
  );
}
