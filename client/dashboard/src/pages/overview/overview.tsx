import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { knownBudgets, listBudgetReadings } from '../../api/budgets';
import { countOf, numberOf, type BudgetReading } from '../../api/messages';
import { useAnswer } from '../../api/read';
import { idOf } from '../../api/resource_names';
import { Answer } from '../../design/answer';
import { Figure } from '../../design/facts';
import { Empty } from '../../design/notice';
import { PageHead } from '../../design/page_head';
import { columnOf, Grid, type GridSort } from '../../design/grid';
import { Ago } from '../../design/time';
import { deltaText, isDeltaChosen } from '../../delta';
import { count, counted } from '../../format/numbers';
import { hrefOf } from '../../router';
import { RATE_DAYS } from '../../spending/spend_days';
import { attentionOf, isNearly, type Attention } from './attention';
import {
  groupKeys,
  groupsOf,
  readingRows,
  sortedReadings,
  type SortKey,
} from './overview_order';
import { OverviewRow, type RowRead } from './overview_row';

const MANY = 12;
const FIRST_BUDGET =
  'epsctl budget create people --epsilon 3 --delta 1e-5 --relation add-or-remove-one --privacy-unit person';

// One for each column; "caught at most" rises with epsilon and has none.
const SORT_KEYS: readonly (SortKey | undefined)[] = [
  'budget',
  'state',
  'spent',
  'rate',
  'epsilon',
  undefined,
  'charge',
  'refused',
];

/** Every budget in one row: what is left of it, and what it means. */
export function OverviewPage() {
  const atDelta = deltaText.value;
  const atCap = !isDeltaChosen.value;
  // A new budget is a new question; until its answer is there, the previous one stays.
  const list = useAnswer<BudgetReading[]>(
    `readings ${atDelta} ${String(atCap)} ${knownBudgets.value.size}`,
    (abort) => listBudgetReadings(atDelta, atCap, abort),
    { keepsOld: true },
  );
  return (
    <>
      <PageHead title="Budgets" />
      <Answer read={list} what="the list of budgets">
        {(readings) => <Budgets readings={readings} />}
      </Answer>
    </>
  );
}

function Budgets({ readings: listed }: { readings: BudgetReading[] }) {
  // What rows read since the list was made, by name: the figures follow the rows.
  const newer = useSignal<ReadonlyMap<string, RowRead>>(new Map());
  const readings = listed.map((reading) => ({
    ...reading,
    ...newer.value.get(reading.budget.name),
  }));
  const tell = (read: RowRead) => {
    newer.value = new Map(newer.peek()).set(read.budget.name, read);
  };
  // A row that is shown again, after a search, was not following: the list may be old for it.
  const shown = useRef({ listed, names: new Set<string>() });
  if (shown.current.listed !== listed) shown.current = { listed, names: new Set() };
  const wanted = useSignal('');
  const days = useSignal(RATE_DAYS);
  const group = useSignal('');
  const by = useSignal<SortKey | undefined>(undefined);
  const isDescending = useSignal(false);
  if (readings.length === 0) {
    return (
      <Empty command={FIRST_BUDGET}>There is no budget yet. The first one is made with:</Empty>
    );
  }
  const heads = [
    'Budget',
    'State',
    'Spent of its cap',
    `Last ${days.value} days`,
    isDeltaChosen.value ? `#Epsilon at|delta ${deltaText.value}` : '#Epsilon at|the delta of its cap',
    '#Caught at most,|at 1% false alarms',
    'Last charge',
    '#Refused|in 24 h',
  ];
  const columns = heads.map(columnOf);
  const sort: GridSort = {
    columns: columns.filter((_, i) => SORT_KEYS[i] !== undefined),
    by: columns[by.value === undefined ? -1 : SORT_KEYS.indexOf(by.value)] ?? '',
    isDescending: isDescending.value,
    choose(column) {
      const key = SORT_KEYS[columns.indexOf(column)];
      // Numbers are wanted largest first, names as in a book.
      isDescending.value = by.value === key ? !isDescending.value : key !== 'budget';
      by.value = key;
    },
  };
  const rows =
    by.value === undefined
      ? readingRows(readings, wanted.value)
      : sortedReadings(readings, wanted.value, by.value, isDescending.value, days.value);
  const keys = groupKeys(readings);
  return (
    <>
      <OverviewFigures readings={readings} />
      <AttentionList items={readings.flatMap(attentionOf)} />
      {readings.length > 1 && (
        <p class="fields-inline">
          {readings.length > MANY && (
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
          <label class="field-inline">
            Spending of
            <select
              aria-label="Spending of"
              value={days.value}
              onChange={(event) => {
                days.value = Number(event.currentTarget.value);
              }}
            >
              {[7, RATE_DAYS].map((number) => (
                <option key={number} value={number}>
                  the last {number} days
                </option>
              ))}
            </select>
          </label>
          {keys.length > 0 && (
            <label class="field-inline">
              Group by
              <select
                value={group.value}
                onChange={(event) => {
                  group.value = event.currentTarget.value;
                }}
              >
                <option value="">nothing</option>
                {keys.map((key) => (
                  <option key={key} value={key}>
                    {key}
                  </option>
                ))}
              </select>
            </label>
          )}
        </p>
      )}
      <Grid label="Budgets" heads={heads} sort={sort}>
        {groupsOf(rows, group.value).map(({ title, rows: below }) => [
          title !== undefined && (
            <tr class="group-row" key={title}>
              <th scope="rowgroup" colSpan={heads.length}>
                {title}: {counted(below.length, 'budget')}
              </th>
            </tr>
          ),
          ...below.map(({ reading, depth }) => (
            <OverviewRow
              key={`${reading.budget.name} ${String(reading.delta)}`}
              reading={reading}
              depth={depth}
              days={days.value}
              epsilonColumn={columns[4] ?? ''}
              isCurrent={!shown.current.names.has(reading.budget.name)}
              onShown={(name) => shown.current.names.add(name)}
              onRead={tell}
            />
          )),
        ])}
      </Grid>
      {rows.length === 0 && <p class="muted">No budget matches.</p>}
      <p class="small muted">
        “Caught at most” is the true positive rate of the best membership test with 1% false
        positives. It and epsilon are of what was released; a declared plan counts against its caps in
        full and is released step by step. The hatched part of a bar is held by open leases. A date is an estimate: the mean rate of the shown days, carried on.
      </p>
    </>
  );
}

/** Four numbers over all budgets. They are shown when all budgets are known, never in part. */
function OverviewFigures({ readings }: { readings: readonly BudgetReading[] }) {
  const active = readings.filter(({ budget }) => budget.state === 'ACTIVE');
  const spent = (least: number) =>
    active.filter(({ budget }) => (numberOf(budget.spentFraction) ?? 0) >= least).length;
  const frozen = readings.filter(({ budget }) => budget.state === 'FROZEN').length;
  // A refusal counts in each budget above it: the budgets at the top have all.
  const names = new Set(readings.map(({ budget }) => budget.name));
  const refused = readings
    .filter(({ budget }) => !names.has(budget.parent ?? ''))
    .reduce((sum, { activity }) => sum + countOf(activity?.refusedChargeCount), 0);
  const newest = readings
    .map(({ activity }) => activity?.lastChargeTime ?? '')
    .reduce((a, b) => (a > b ? a : b), '');
  return (
    <dl class="figures card">
      <Figure
        name="Budgets"
        value={count(readings.length)}
        note={`${count(active.length)} active${frozen > 0 ? `, ${count(frozen)} frozen` : ''}`}
      />
      <Figure
        name="Exhausted"
        value={count(spent(1))}
        note={`${count(active.filter(isNearly).length)} more with 80% or more spent`}
      />
      <Figure
        name="Refused in 24 h"
        value={refused === 0 ? '0' : <a href={hrefOf({ page: 'refusals' })}>{count(refused)}</a>}
        note="charges and plans"
      />
      <Figure name="Last charge" value={<Ago time={newest} />} note="of any budget" />
    </dl>
  );
}

const MOST_ATTENTION = 6;

function AttentionList({ items }: { items: readonly Attention[] }) {
  if (items.length === 0) return null;
  const sorted = [...items].sort((a, b) => b.weight - a.weight);
  return (
    <section class="card" aria-label="Needs attention">
      <h2>Needs attention</h2>
      <ul class="attention">
        {sorted.slice(0, MOST_ATTENTION).map(({ budget, words, page }) => (
          <li key={`${budget} ${words}`}>
            <a href={hrefOf({ page, budget: idOf(budget) })}>
              {idOf(budget)} {words}
            </a>
          </li>
        ))}
      </ul>
      {sorted.length > MOST_ATTENTION && (
        <p class="small muted">and {count(sorted.length - MOST_ATTENTION)} more, in the table</p>
      )}
    </section>
  );
}
