import { pathOfResource } from '../api/client';
import {
  countOf,
  numberOf,
  type ComputeResponse,
  type CountedEvent,
  type SessionGuarantees,
} from '../api/messages';
import { epsilonWords } from '../api/guarantees';
import { useGet, useRpc, type Read } from '../api/read';
import { sessionName } from '../api/resource_names';
import { delta, deltaText } from '../delta';
import { Answer } from '../design/answer';
import { Badge, isUnproven } from '../design/badge';
import { Card } from '../design/card';
import { Figure } from '../design/facts';
import { PageHead } from '../design/page_head';
import { accountantName } from '../format/names';
import { counted, roundedUp } from '../format/numbers';
import { SessionPageHead, useSession } from './curve_page';
import type { SessionPageProps } from './registry';
import { eventOfPlan, eventsOfPlan, planOfHistory, planOfQuery, type Plan } from '../plan/plan';
import { PlanFields, PlanProblem } from '../plan/plan_fields';
import { PlannerTargets } from '../plan/planner_targets';
import { PlannerVerdict } from '../plan/planner_verdict';
import { SessionChoice } from '../plan/session_choice';

interface HistoryResponse {
  history?: CountedEvent[];
}

/** What a charge would do, on top of a session's history or alone. It charges nothing. */
export function PlannerPage({ budget, session }: { budget?: string; session?: string }) {
  if (budget === undefined || session === undefined) return <PlannerFromNothing />;
  return <PlannerOnTop budget={budget} session={session} />;
}

function PlannerFromNothing() {
  const plan = planOfQuery();
  const after = useEpsilon(plan, [], true);
  return (
    <>
      <PageHead title="Planner">
        <p class="curve-words">What noise, sampling and steps cost. Nothing is charged here.</p>
      </PageHead>
      <Card title="What would be charged">
        <SessionChoice />
        <PlanFields plan={plan} error={after.value.error} withRelation />
      </Card>
      <EpsilonAfter plan={plan} after={after.value} />
      <PlannerTargets plan={plan} history={[]} />
    </>
  );
}

function PlannerOnTop({ budget, session }: SessionPageProps) {
  const name = sessionName(budget, session);
  const touchedBy = [name];
  const told = useSession(budget, session).value.value;
  const charged = useRpc<HistoryResponse>(
    'SessionService.GetSessionHistory',
    { name },
    { touchedBy },
  );
  const now = useGet<SessionGuarantees>(
    pathOfResource(name, 'guarantees'),
    { delta: delta.value },
    { touchedBy },
  );
  const history = charged.value.value?.history;
  const fit = countOf(now.value.value?.stepsThatFit);
  const plan = planOfQuery({
    ...planOfHistory(history ?? []),
    // The steps that still fit, if they are few enough to be a plan.
    ...(fit > 0 && fit < 1e9 ? { steps: String(fit) } : {}),
    ...(told?.neighboringRelation === undefined ? {} : { relation: told.neighboringRelation }),
  });
  const isKnown = history !== undefined && told !== undefined;
  const after = useEpsilon(plan, history ?? [], isKnown);
  return (
    <>
      <SessionPageHead
        page="planner"
        title="What if"
        budget={budget}
        session={session}
        told={told}
      />
      <Card title="What would be charged">
        <SessionChoice budget={budget} session={session} />
        <PlanFields plan={plan} error={after.value.error} withRelation={false} />
      </Card>
      <Answer read={charged} what="what was charged so far">
        {({ history: spent = [] }) => (
          <>
            <EpsilonAfter
              plan={plan}
              after={after.value}
              now={epsilonNow(now.value)}
              isUnproven={isUnproven(told?.claim)}
            />
            <PlannerVerdict session={name} plan={plan} told={told} />
            <PlannerTargets plan={plan} history={spent} />
          </>
        )}
      </Answer>
    </>
  );
}

function epsilonNow(read: Read<SessionGuarantees>): string | undefined {
  if (read.value === undefined) return read.error === undefined ? undefined : 'unknown';
  return epsilonWords(read.value.readings);
}

function useEpsilon(plan: Plan, history: readonly CountedEvent[], isKnown: boolean) {
  const planned = eventsOfPlan(plan);
  return useRpc<ComputeResponse>(
    'AccountingService.Compute',
    planned === undefined || !isKnown
      ? undefined
      : {
          accountant: 'BEST',
          neighboringRelation: plan.relation,
          events: [...planned, ...history],
          query: { epsilonAtDelta: delta.value },
        },
  );
}

interface EpsilonAfterProps {
  plan: Plan;
  after: Read<ComputeResponse>;
  /** On top of a session: the epsilon that it has spent, in words. */
  now?: string;
  isUnproven?: boolean;
}

function EpsilonAfter({ plan, after, now, isUnproven: unproven = false }: EpsilonAfterProps) {
  const { value, error, loading } = after;
  const at = `at delta ${deltaText.value}`;
  const upper = numberOf(value?.upper);
  return (
    <Card title="Epsilon after it">
      {value === undefined && error === undefined && !loading && (
        <p class="muted">
          {eventOfPlan(plan) === undefined
            ? 'Give a noise multiplier to see what it costs.'
            : 'Give the number of steps to see what they cost.'}
        </p>
      )}
      {error !== undefined && <PlanProblem error={error} what="Epsilon" />}
      <div aria-live="polite">
        {value !== undefined && upper !== undefined && error === undefined && (
          <dl class="figures">
            {now !== undefined && (
              <Figure name="Now" value={now} note={`epsilon ${at}`} />
            )}
            <Figure
              name={`After ${counted(plan.steps, now === undefined ? 'step' : 'more step')}`}
              value={roundedUp(upper)}
              note={`epsilon ${at}`}
            />
            <Figure
              name="Why it is true"
              value={
                <span class="plan-kind">
                  <Badge tone={unproven ? 'bad' : 'good'} icon={unproven ? 'warning' : 'check'}>
                    {unproven
                      ? 'no proven bound'
                      : value.kind === 'APPROXIMATION'
                        ? 'approximation, not a bound'
                        : 'upper bound'}
                  </Badge>
                </span>
              }
              note={`${accountantName(value.accountant)}: ${value.theorem ?? ''}`}
            />
          </dl>
        )}
      </div>
    </Card>
  );
}
