import { useSignal, type Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import {
  countOf,
  numberOf,
  type AccountantReading,
  type Budget,
  type ListSessionReadingsResponse,
} from '../../api/messages';
import { idOf } from '../../api/resource_names';
import { MOST_SESSIONS, useSessionReadings, type SessionPage } from '../../api/sessions';
import { Answer } from '../../design/answer';
import { Card } from '../../design/card';
import { Empty } from '../../design/notice';
import { columnOf, Grid, type GridSort } from '../../design/grid';
import { deltaText } from '../../delta';
import { count, counted, roundedUp } from '../../format/numbers';
import { BudgetSessionRow } from './budget_session_row';
import { DivergenceStack } from './divergence_stack';
import { serverOrder, sortedSessions, type SessionSortKey } from './session_order';

interface BudgetSessionsProps {
  budget: Budget;
  readings: readonly AccountantReading[] | undefined;
}

/** The runs under a budget, and how much of the spent part each has. */
export function BudgetSessions({ budget, readings }: BudgetSessionsProps) {
  const order = useSteadyOrder(readings);
  const text = useSignal('');
  const by = useSignal<SessionSortKey>('name');
  const isDescending = useSignal(false);
  // The tokens of the pages up to this one; none for the first.
  const tokens = useSignal<readonly string[]>([]);
  const key = serverOrder(by.value);
  const list = useSessionReadings(
    // The order comes with the readings of the budget: one question, not two.
    readings === undefined
      ? undefined
      : {
          budget: budget.name,
          delta: deltaText.value,
          renyiOrder: order,
          text: text.value.trim(),
          order: key ?? 'NAME',
          descending: key !== undefined && isDescending.value,
          pageToken: tokens.value.at(-1) ?? '',
        },
  );
  const total = list.value.value === undefined ? undefined : countOf(list.value.value.sessionCount);
  const asked = useRef('');
  // Another question begins at its first page.
  const question = JSON.stringify([text.value, by.value, isDescending.value, deltaText.value]);
  if (asked.current !== question) {
    asked.current = question;
    if (tokens.peek().length > 0) tokens.value = [];
  }
  return (
    <Card
      title="Sessions"
      aside={
        total !== undefined && (
          <span class="muted small">{counted(total, 'session')}, here and below</span>
        )
      }
    >
      <Answer read={list} what="the sessions">
        {(page) => (
          <Sessions
            budget={budget}
            page={page}
            text={text}
            by={by}
            isDescending={isDescending}
            tokens={tokens}
          />
        )}
      </Answer>
    </Card>
  );
}

/**
 * The Renyi order that gives the smallest epsilon. It moves a little with every charge. It is kept
 * if it changes by at most a tenth, so that rows are not computed again for nothing.
 */
function useSteadyOrder(readings: readonly AccountantReading[] | undefined): number | undefined {
  const kept = useRef<number | undefined>();
  const renyi = readings?.find((reading) => reading.accountant === 'RENYI')?.guarantee;
  const upper = numberOf(renyi?.upper);
  const order = numberOf(renyi?.order);
  if (readings === undefined) return kept.current;
  if (upper === undefined || upper === Infinity || order === undefined || order <= 1) {
    kept.current = undefined;
  } else if (kept.current === undefined || Math.abs(order / kept.current - 1) > 0.1) {
    kept.current = Number(order.toPrecision(3));
  }
  return kept.current;
}

interface SessionsProps {
  budget: Budget;
  page: SessionPage;
  text: Signal<string>;
  by: Signal<SessionSortKey>;
  isDescending: Signal<boolean>;
  tokens: Signal<readonly string[]>;
}

const MANY = 12;
const SORT_KEYS = ['name', 'state', 'epsilon', 'share', 'steps', 'refused'] as const;

function Sessions({ budget, page, text, by, isDescending, tokens }: SessionsProps) {
  const order = page.renyiOrder;
  const total = countOf(page.sessionCount);
  if (total === 0 && text.value === '' && budget.state !== 'ACTIVE') {
    return <p class="muted">No session has been opened under this budget, and none can be now.</p>;
  }
  if (total === 0 && text.value === '') {
    const relation = (budget.neighboringRelation ?? '').toLowerCase().replaceAll('_', '-');
    return (
      <Empty
        command={`epsctl session create ${idOf(budget.name)}/first-run --relation ${relation} --no-own-cap`}
      >
        No session has been opened under this budget. A run opens one, or:
      </Empty>
    );
  }
  const isWhole = total <= MOST_SESSIONS;
  const sessions = isWhole
    ? sortedSessions(page.sessions ?? [], by.value, isDescending.value)
    : (page.sessions ?? []);
  const heads = [
    'Session',
    'State',
    `#Epsilon at|delta ${page.delta}`,
    order === undefined ? '#Share' : `#Rényi divergence|at order ${roundedUp(order)}`,
    '#Steps',
    '#Refused',
  ];
  const columns = heads.map(columnOf);
  const sort: GridSort = {
    columns: columns.filter((_, i) => isWhole || serverOrder(SORT_KEYS[i] ?? 'name') !== undefined),
    by: columns[SORT_KEYS.indexOf(by.value)] ?? '',
    isDescending: isDescending.value,
    choose(column) {
      const key = SORT_KEYS[columns.indexOf(column)] ?? 'name';
      isDescending.value = by.value === key ? !isDescending.value : key !== 'name';
      by.value = key;
    },
  };
  return (
    <>
      {isWhole && text.value === '' ? (
        <DivergenceStack sessions={sessions} order={order} />
      ) : (
        <p class="small muted">
          The bar of shares is drawn for at most {MOST_SESSIONS} sessions, without a search.
        </p>
      )}
      {(total > MANY || text.value !== '') && (
        <label class="field-inline">
          Find
          <input
            type="search"
            placeholder="name, group or label"
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value;
            }}
          />
        </label>
      )}
      <Grid label="Sessions" heads={heads} sort={sort}>
        {sessions.map((reading) => (
          <BudgetSessionRow
            key={reading.session.name}
            reading={reading}
            budget={budget.name}
            columns={columns}
          />
        ))}
      </Grid>
      {total === 0 && <p class="muted">No session matches.</p>}
      {!isWhole && <Pages page={page} total={total} tokens={tokens} />}
      <p class="small muted">
        {sessions.some(({ session }) => session.mode === 'DECLARED') &&
          'For a declared session: the steps drawn so far; its budgets paid for the whole plan. '}
        Epsilons of sessions do not add up.{' '}
        {order !== undefined && 'Rényi divergences at one order do: they are what the bar stacks.'}
      </p>
    </>
  );
}

interface PagesProps {
  page: ListSessionReadingsResponse;
  total: number;
  tokens: Signal<readonly string[]>;
}

function Pages({ page, total, tokens }: PagesProps) {
  const before = tokens.value.length;
  const next = page.nextPageToken ?? '';
  return (
    <p class="fields-inline">
      <button
        type="button"
        disabled={before === 0}
        onClick={() => {
          tokens.value = tokens.value.slice(0, -1);
        }}
      >
        Previous
      </button>
      <span class="small muted" role="status">
        page {count(before + 1)} of {count(Math.ceil(total / MOST_SESSIONS))}
      </span>
      <button
        type="button"
        disabled={next === ''}
        onClick={() => {
          tokens.value = [...tokens.value, next];
        }}
      >
        Next
      </button>
    </p>
  );
}
