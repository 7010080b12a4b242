import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { knownBudgets, listBudgetReadings } from '../../api/budgets';
import type { BudgetReading } from '../../api/messages';
import { useAnswer } from '../../api/read';
import { Answer } from '../../design/answer';
import { Choice } from '../../design/choice';
import { Empty } from '../../design/notice';
import { PageHead } from '../../design/page_head';
import { columnOf, Grid, type GridSort } from '../../design/grid';
import { deltaText, deltaTextFor, isDeltaChosen } from '../../delta';
import { relationName, stateName } from '../../format/names';
import { counted } from '../../format/numbers';
import { RATE_DAYS } from '../../spending/spend_days';
import { needsAttention } from './attention';
import { AttentionList, OverviewFigures } from './overview_figures';
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
  // A new budget is a new question; until its answer is there, the previous one stays. The budgets
  // that are known first are those of the first answer.
  const known = knownBudgets.value.size;
  const first = useRef(0);
  if (first.current === 0) first.current = known;
  const list = useAnswer<BudgetReading[]>(
    `readings ${atDelta} ${String(atCap)} ${known === first.current ? '' : known}`,
    (abort) => listBudgetReadings(atDelta, atCap, abort),
    // One question for all rows when the page begins to follow; a change is asked for by its row.
    { keepsOld: true, touchedBy: ['budgets'], touchedWhen: () => false },
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
  const newer = useSignal<{ listed: unknown; rows: ReadonlyMap<string, RowRead> }>({
    listed,
    rows: new Map(),
  });
  const rowsRead = newer.value.listed === listed ? newer.value.rows : new Map<string, RowRead>();
  const readings = listed.map((reading) => ({ ...reading, ...rowsRead.get(reading.budget.name) }));
  const tell = (read: RowRead) => {
    const { listed: of, rows } = newer.peek();
    newer.value = {
      listed,
      rows: new Map(of === listed ? rows : []).set(read.budget.name, read),
    };
  };
  // A row that is shown again, after a search, was not following: the list may be old for it. A new
  // list has new rows.
  const shown = useRef({ listed, names: new Set<string>(), number: 0 });
  if (shown.current.listed !== listed) {
    shown.current = { listed, names: new Set(), number: shown.current.number + 1 };
  }
  const wanted = useSignal('');
  const chosenDays = useSignal(String(RATE_DAYS));
  const days = Number(chosenDays.value);
  const group = useSignal('');
  const show = useSignal('');
  const by = useSignal<SortKey | undefined>(undefined);
  const isDescending = useSignal(false);
  if (readings.length === 0) {
    return (
      <Empty command={FIRST_BUDGET}>There is no budget yet. The first one is made with:</Empty>
    );
  }
  const deltas = new Set(readings.map(({ budget }) => deltaTextFor(budget.cap)));
  const oneDelta = isDeltaChosen.value || deltas.size === 1;
  const units = new Set(
    readings.map(
      ({ budget }) => `${budget.privacyUnit}, ${relationName(budget.neighboringRelation)}`,
    ),
  );
  const heads = [
    'Budget',
    'Spent of its cap',
    `Last ${days} days`,
    oneDelta ? `#Epsilon at|delta ${[...deltas][0]}` : '#Epsilon at|the delta of its cap',
    '#Caught at most,|at 1% false alarms',
    'Last|charge',
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
  const attention = needsAttention(readings);
  const urgent = new Set(attention.map(({ budget }) => budget));
  const states = [...new Set(readings.map(({ budget }) => budget.state ?? ''))].sort();
  const shownReadings = readings.filter(
    ({ budget }) =>
      show.value === '' ||
      (show.value === 'attention' ? urgent.has(budget.name) : budget.state === show.value),
  );
  const rows =
    by.value === undefined
      ? readingRows(shownReadings, wanted.value)
      : sortedReadings(shownReadings, wanted.value, by.value, isDescending.value, days);
  const keys = groupKeys(readings);
  return (
    <>
      <OverviewFigures readings={readings} />
      <AttentionList items={attention} />
      {readings.length > 1 && (
        <div class="fields-inline">
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
          {(urgent.size > 0 || states.length > 1) && (
            <Choice label="Show" value={show}>
              {[
                ['', 'all budgets'],
                ['attention', 'what needs attention'],
                ...(states.length > 1 ? states.map((state) => [state, stateName(state)]) : []),
              ]}
            </Choice>
          )}
          {keys.length > 0 && (
            <Choice label="Group by" value={group}>
              {[['', 'nothing'], ...keys.map((key) => [key, key])]}
            </Choice>
          )}
          <Choice label="Spending of" value={chosenDays}>
            {[7, RATE_DAYS].map((number) => [String(number), `the last ${number} days`])}
          </Choice>
          {units.size === 1 && <span class="small muted">Each: one {[...units][0]}</span>}
        </div>
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
              key={`${shown.current.number} ${reading.budget.name} ${String(reading.delta)}`}
              reading={reading}
              depth={depth}
              days={days}
              epsilonColumn={columns[3] ?? ''}
              saysUnit={units.size > 1 && depth === 0}
              saysDelta={!oneDelta}
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
