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
import { Choice } from '../../design/choice';
import { Empty } from '../../design/notice';
import { columnOf, Grid, type GridSort } from '../../design/grid';
import { deltaText } from '../../delta';
import { count, counted, roundedUp } from '../../format/numbers';
import { BudgetSessionRow } from './budget_session_row';
import { DivergenceStack } from './divergence_stack';
import { SessionGroups } from './session_group_table';
import { sessionGroups, sessionKeys } from './session_groups';
import { serverOrder, sortedSessions, type SessionSortKey } from './session_order';

interface BudgetSessionsProps {
  budget: Budget;
  readings: readonly AccountantReading[] | undefined;
}

/** The runs under a budget, and how much of the spent part each has. */
export function BudgetSessions({ budget, readings }: BudgetSessionsProps) {
  const order = useSteadyOrder(readings);
  const text = useSignal('');
  // Those that spent most are first; where the server must sort, those with most steps.
  const by = useSignal<SessionSortKey>('share');
  const isDescending = useSignal(true);
  const group = useSignal('');
  // The shown page, and the tokens of the answers up to the one that has it; none for the first.
  const at = useSignal(0);
  const tokens = useSignal<readonly string[]>([]);
  const list = useSessionReadings(
    // The order comes with the readings of the budget: one question, not two.
    readings === undefined
      ? undefined
      : {
          budget: budget.name,
          delta: deltaText.value,
          renyiOrder: order,
          text: text.value.trim(),
          order: serverOrder(by.value) ?? 'STEP_COUNT',
          descending: serverOrder(by.value) === undefined || isDescending.value,
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
    if (at.peek() > 0) at.value = 0;
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
            group={group}
            at={at}
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
  group: Signal<string>;
  at: Signal<number>;
  tokens: Signal<readonly string[]>;
}

const MANY = 12;
/** Rows of a page; an answer of the server has some of them. */
const SHOWN = 20;
const PAGES_OF_AN_ANSWER = MOST_SESSIONS / SHOWN;
const SORT_KEYS = ['name', 'state', 'epsilon', 'share', 'steps', 'refused'] as const;

function Sessions(props: SessionsProps) {
  const { budget, page, text, by, isDescending, group, at, tokens } = props;
  const order = page.renyiOrder;
  const total = countOf(page.sessionCount);
  // Until the answer that has the chosen page is there, the page before it stays.
  const isThere = page.pageToken === (tokens.value.at(-1) ?? '');
  const shownAt = useRef(0);
  if (isThere) shownAt.current = at.value;
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
  const inAnswer = (shownAt.current % PAGES_OF_AN_ANSWER) * SHOWN;
  const shown = sessions.slice(inAnswer, inAnswer + SHOWN);
  const keys = sessionKeys(sessions);
  const isGrouped = isWhole && keys.includes(group.value);
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
    by: columns[SORT_KEYS.indexOf(isWhole || serverOrder(by.value) ? by.value : 'steps')] ?? '',
    isDescending: isDescending.value,
    choose(column) {
      const key = SORT_KEYS[columns.indexOf(column)] ?? 'name';
      isDescending.value = by.value === key ? !isDescending.value : key !== 'name';
      by.value = key;
    },
  };
  return (
    <>
      {isWhole && text.value === '' && <DivergenceStack sessions={sessions} order={order} />}
      {(total > MANY || text.value !== '') && (
        <div class="fields-inline">
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
          {isWhole ? (
            keys.length > 0 && (
              <Choice label="Group by" value={group}>
                {[['', 'nothing'], ...keys.map((key) => [key, key])]}
              </Choice>
            )
          ) : (
            <span class="small muted">
              At most {MOST_SESSIONS} are grouped, and sorted by epsilon or share: a search finds
              fewer.
            </span>
          )}
        </div>
      )}
      {isGrouped ? (
        <SessionGroups
          groups={sessionGroups(sessions, group.value)}
          head={heads[3] ?? ''}
          delta={page.delta}
          onChoose={(wanted) => {
            text.value = wanted;
            group.value = '';
          }}
        />
      ) : (
        <Grid label="Sessions" heads={heads} sort={sort}>
          {shown.map((reading) => (
            <BudgetSessionRow
              key={reading.session.name}
              reading={reading}
              budget={budget.name}
              columns={columns}
              onLabel={(wanted) => {
                text.value = wanted;
              }}
            />
          ))}
        </Grid>
      )}
      {total === 0 && <p class="muted">No session matches.</p>}
      {total > SHOWN && !isGrouped && (
        <Pages page={page} total={total} isThere={isThere} at={at} tokens={tokens} />
      )}
      <p class="small muted">
        {shown.some(({ session }) => session.mode === 'DECLARED') &&
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
  /** False while the chosen page is on its way. */
  isThere: boolean;
  at: Signal<number>;
  tokens: Signal<readonly string[]>;
}

function Pages({ page, total, isThere, at, tokens }: PagesProps) {
  const last = Math.ceil(total / SHOWN) - 1;
  const next = page.nextPageToken ?? '';
  const go = (to: number) => {
    // The answers that lead to this page; the first needs no token.
    const answer = Math.floor(to / PAGES_OF_AN_ANSWER);
    if (answer > tokens.value.length) tokens.value = [...tokens.value, next];
    else if (answer < tokens.value.length) tokens.value = tokens.value.slice(0, answer);
    at.value = to;
  };
  const first = at.value * SHOWN;
  return (
    <div class="fields-inline">
      <span class="actions">
        <button type="button" disabled={!isThere || at.value === 0} onClick={() => go(0)}>
          First
        </button>
        <button
          type="button"
          disabled={!isThere || at.value === 0}
          onClick={() => go(at.value - 1)}
        >
          Previous
        </button>
        <button
          type="button"
          disabled={!isThere || at.value >= last}
          onClick={() => go(at.value + 1)}
        >
          Next
        </button>
      </span>
      <span class="small muted" role="status">
        {isThere
          ? `${count(first + 1)} to ${count(Math.min(total, first + SHOWN))} of ${count(total)}`
          : 'Loading more …'}
      </span>
    </div>
  );
}
