import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { numberOf, type AccountantReading, type Budget } from '../../api/messages';
import { idOf } from '../../api/resource_names';
import { MOST_SESSIONS, useSessionsBelow, type SessionList } from '../../api/sessions';
import { Answer } from '../../design/answer';
import { Card } from '../../design/card';
import { Empty } from '../../design/notice';
import { Grid } from '../../design/grid';
import { deltaText } from '../../delta';
import { counted, roundedUp } from '../../format/numbers';
import { BudgetSessionRow } from './budget_session_row';
import { DivergenceStack } from './divergence_stack';

interface BudgetSessionsProps {
  budget: Budget;
  readings: readonly AccountantReading[] | undefined;
}

/** The runs under a budget, and how much of the spent part each has. */
export function BudgetSessions({ budget, readings }: BudgetSessionsProps) {
  const list = useSessionsBelow(budget.name);
  const order = useSteadyOrder(readings);
  return (
    <Card
      title="Sessions"
      aside={
        list.value.value !== undefined && (
          <span class="muted small">
            {counted(list.value.value.sessions.length, 'session')}, here and below
          </span>
        )
      }
    >
      <Answer read={list} what="the sessions">
        {(value) => <Sessions budget={budget} list={value} order={order} />}
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
  list: SessionList;
  order: number | undefined;
}

function Sessions({ budget, list, order }: SessionsProps) {
  // By name: the Renyi divergence of each session at the order, upper bounds.
  const divergences = useSignal<ReadonlyMap<string, number>>(new Map());
  if (list.sessions.length === 0) {
    const relation = (budget.neighboringRelation ?? '').toLowerCase().replaceAll('_', '-');
    return (
      <Empty
        command={`epsctl session create ${idOf(budget.name)}/first-run --relation ${relation} --no-own-cap`}
      >
        No session has been opened under this budget. A run opens one, or:
      </Empty>
    );
  }
  const tell = (name: string, divergence: number | undefined) => {
    const next = new Map(divergences.peek());
    if (divergence === undefined) next.delete(name);
    else next.set(name, divergence);
    divergences.value = next;
  };
  return (
    <>
      <DivergenceStack
        sessions={list.sessions.map((session) => session.name)}
        divergences={divergences.value}
        order={order}
      />
      <Grid
        label="Sessions"
        heads={[
          'Session',
          'State',
          `#Epsilon at|delta ${deltaText.value}`,
          order === undefined ? '#Share' : `#Rényi divergence|at order ${roundedUp(order)}`,
          '#Steps',
          '#Refused',
        ]}
      >
        {list.sessions.map((session) => (
          <BudgetSessionRow
            key={`${session.name} ${order ?? ''}`}
            session={session}
            budget={budget.name}
            order={order}
            onDivergence={(divergence) => tell(session.name, divergence)}
          />
        ))}
      </Grid>
      {list.isCut && <p class="small muted">Only the first {MOST_SESSIONS} are shown.</p>}
      <p class="small muted">
        {list.sessions.some(({ mode }) => mode === 'DECLARED') &&
          'For a declared session: the steps drawn so far; its budgets paid for the whole plan. '}
        Epsilons of sessions do not add up.{' '}
        {order !== undefined && 'Rényi divergences at one order do: they are what the bar stacks.'}
      </p>
    </>
  );
}
