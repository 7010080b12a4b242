import { useSignal } from '@preact/signals';
import { knownBudgets, listBudgets } from '../../api/budgets';
import { numberOf, type Budget } from '../../api/messages';
import { useAnswer } from '../../api/read';
import { Answer } from '../../design/answer';
import { Empty } from '../../design/notice';
import { PageHead } from '../../design/page_head';
import { Grid } from '../../design/grid';
import { deltaText, isDeltaChosen } from '../../delta';
import { counted } from '../../format/numbers';
import { budgetRows } from './overview_order';
import { OverviewRow } from './overview_row';

const MANY = 12;
const FIRST_BUDGET =
  'epsctl budget create people --epsilon 3 --delta 1e-5 --relation add-or-remove-one --privacy-unit person';

/** Every budget in one row: what is left of it, and what it means. */
export function OverviewPage() {
  const list = useAnswer<Budget[]>('budgets', listBudgets);
  return (
    <>
      <PageHead title="Budgets" />
      <Answer read={list} what="the list of budgets">
        {() => <Budgets budgets={[...knownBudgets.value.values()]} />}
      </Answer>
    </>
  );
}

function Budgets({ budgets }: { budgets: Budget[] }) {
  const wanted = useSignal('');
  if (budgets.length === 0) {
    return (
      <Empty command={FIRST_BUDGET}>There is no budget yet. The first one is made with:</Empty>
    );
  }
  const rows = budgetRows(budgets, wanted.value);
  return (
    <>
      <p class="muted" role="status">
        {summary(budgets)}
      </p>
      {budgets.length > MANY && (
        <label class="field-inline">
          Find
          <input
            type="search"
            placeholder="name, unit or label"
            value={wanted.value}
            onInput={(event) => {
              wanted.value = event.currentTarget.value;
            }}
          />
        </label>
      )}
      <Grid
        label="Budgets"
        heads={[
          'Budget',
          'State',
          'Spent of its cap',
          isDeltaChosen.value ? `#Epsilon at|delta ${deltaText.value}` : '#Epsilon at|the delta of its cap',
          '#Caught at most,|at 1% false alarms',
          'Last charge',
          '#Refused|in 24 h',
        ]}
      >
        {rows.map(({ budget, depth }) => (
          <OverviewRow key={budget.name} budget={budget} depth={depth} />
        ))}
      </Grid>
      {rows.length === 0 && <p class="muted">No budget matches.</p>}
      <p class="small muted">
        “Caught at most” is the true positive rate of the best membership test with 1% false
        positives. It and epsilon are of what was released; a declared plan counts against its caps in
        full and is released step by step. The hatched part of a bar is held by open leases.
      </p>
    </>
  );
}

function summary(budgets: readonly Budget[]): string {
  const active = budgets.filter((budget) => budget.state === 'ACTIVE');
  const exhausted = active.filter((budget) => (numberOf(budget.spentFraction) ?? 0) >= 1).length;
  const nearly =
    active.filter((budget) => (numberOf(budget.spentFraction) ?? 0) >= 0.8).length - exhausted;
  const frozen = budgets.filter((budget) => budget.state === 'FROZEN').length;
  const parts = [`${counted(budgets.length, 'budget')}, ${active.length} active`];
  if (exhausted > 0) parts.push(`${exhausted} exhausted`);
  if (nearly > 0) parts.push(`${nearly} with 80% or more spent`);
  if (frozen > 0) parts.push(`${frozen} frozen`);
  return `${parts.join(', ')}.`;
}
