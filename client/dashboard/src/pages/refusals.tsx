import { useState } from 'preact/hooks';
import { budgetsListed, rootBudgets } from '../api/budgets';
import { get, pathOfResource, type ApiError, type Result } from '../api/client';
import { isRefusal, refusedIn } from '../api/refusals';
import type { Charge, ListRefusalsResponse } from '../api/messages';
import { useAnswer } from '../api/read';
import { idOf } from '../api/resource_names';
import { Answer } from '../design/answer';
import { Empty, Problem } from '../design/notice';
import { PageHead } from '../design/page_head';
import { RefusalList } from '../ledger/refusal_list';
import { go, hrefOf } from '../router';
import { BudgetChoice } from './budget_choice';
import { crumbsTo } from './crumbs';

const PAGE_SIZE = 50;

/** Refusals with cause and remedy: of one budget and all below it, or of every budget. */
export function RefusalsPage({ budget }: { budget?: string }) {
  return (
    <>
      <PageHead
        title={budget === undefined ? 'Refusals' : `Refusals of ${budget}`}
        crumbs={crumbsTo(budget)}
      >
        <p class="muted">
          Charges and sessions that were refused, newest first: nothing was spent for them. The same
          key gives the same answer for ever.
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
  return get<ListRefusalsResponse>(
    pathOfResource(budget, 'refusals'),
    { pageSize: PAGE_SIZE, pageToken },
    abort,
  );
}

function OfBudget({ budget }: { budget: string }) {
  const name = `budgets/${budget}`;
  const read = useAnswer(`refusals ${name}`, (abort) => refusalsOf(name, undefined, abort), {
    touchedBy: [name],
    touchedWhen: isRefusal,
  });
  return (
    <Answer read={read} what="the refusals">
      {(value) => <Refusals budget={name} first={value} />}
    </Answer>
  );
}

interface Shown {
  charges: Charge[];
  next: string;
}

/** The newest page, which follows the ledger, and older ones on demand. */
function Refusals({ budget, first }: { budget: string; first: ListRefusalsResponse }) {
  // All that was shown when an older page arrived, and that page.
  const [before, setBefore] = useState<Shown | undefined>();
  const [error, setError] = useState<ApiError | undefined>();
  const newest = refusedIn(first);
  const names = new Set(newest.map(({ name }) => name));
  // If more arrived since then than a page holds, a gap would come before the earlier ones.
  const joins = before?.charges.some(({ name }) => names.has(name)) === true;
  const shown: Shown = joins
    ? {
        charges: [...newest, ...before.charges.filter(({ name }) => !names.has(name))],
        next: before.next,
      }
    : { charges: newest, next: first.nextPageToken ?? '' };
  const more = async () => {
    const page = await refusalsOf(budget, shown.next);
    setError(page.ok ? undefined : page.error);
    if (!page.ok) return;
    setBefore({
      charges: [...shown.charges, ...refusedIn(page.value)],
      next: page.value.nextPageToken ?? '',
    });
  };
  if (shown.charges.length === 0) return <NoRefusals />;
  return (
    <>
      <RefusalList charges={shown.charges} />
      {error !== undefined && <Problem error={error} what="Older ones" />}
      {shown.next !== '' ? (
        <div class="actions">
          <button type="button" onClick={() => void more()}>
            Older ones
          </button>
        </div>
      ) : (
        joins && (
          <p class="small muted">
            No older ones are listed. Every refusal is an entry of the{' '}
            <a href={hrefOf({ page: 'audit', budget: idOf(budget) })}>ledger</a>.
          </p>
        )
      )}
    </>
  );
}

function OfAllBudgets() {
  const roots = rootBudgets();
  const ask = async (abort: AbortSignal): Promise<Result<Charge[]>> => {
    const charges: Charge[] = [];
    // The answer for a root includes everything below it.
    for (const root of roots) {
      const page = await refusalsOf(root, undefined, abort);
      if (!page.ok) return page;
      charges.push(...refusedIn(page.value));
    }
    charges.sort((a, b) => (b.createTime ?? '').localeCompare(a.createTime ?? ''));
    return { ok: true, value: charges };
  };
  const read = useAnswer(roots.length === 0 ? undefined : `refusals ${roots.join()}`, ask, {
    touchedBy: roots,
    touchedWhen: isRefusal,
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
            <RefusalList charges={charges} />
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
