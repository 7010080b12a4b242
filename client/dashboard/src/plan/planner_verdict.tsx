import { ancestorsOf, knownBudgets, rootOf } from '../api/budgets';
import { budgetOf, idOf } from '../api/resource_names';
import { countOf, type Refusal, type Session } from '../api/messages';
import { useRpc } from '../api/read';
import { Badge } from '../design/badge';
import { Card } from '../design/card';
import { capWords } from '../format/caps';
import { counted } from '../format/numbers';
import { causeWords, reasonWords, remedyWords } from '../format/refusals';
import { hrefOf } from '../router';
import { eventOfPlan, eventsOfPlan, type Plan } from './plan';
import { PlanProblem } from './plan_fields';
import { PlannerFit } from './planner_fit';

interface PreviewChargeResponse {
  decision?: 'ACCEPTED' | 'REFUSED' | 'DECISION_UNSPECIFIED';
  refusal?: Refusal;
  stepsThatFit?: string;
}

interface PlannerVerdictProps {
  session: string;
  plan: Plan;
  told: Session | undefined;
}

// More than this is shown as "no end in sight".
const MANY_STEPS = 1e12;

/** What the caps would say. A preview: it charges nothing. */
export function PlannerVerdict({ session, plan, told }: PlannerVerdictProps) {
  const event = eventOfPlan(plan);
  const isWhole = eventsOfPlan(plan) !== undefined;
  const preview = useRpc<PreviewChargeResponse>(
    'ChargeService.PreviewCharge',
    isWhole ? { session, event, count: plan.steps.trim() } : undefined,
    // Other sessions in the tree may spend what these steps need.
    { touchedBy: [session, rootOf(budgetOf(session))] },
  );
  return (
    <Card title="What the caps would say">
      {isWhole ? (
        <>
          {preview.value.error !== undefined && (
            <PlanProblem error={preview.value.error} what="The preview" />
          )}
          {preview.value.error === undefined && preview.value.value !== undefined && (
            <Verdict answer={preview.value.value} steps={plan.steps.trim()} />
          )}
          {preview.value.error === undefined && event !== undefined && (
            <PlannerFit session={session} plan={plan} event={event} />
          )}
        </>
      ) : (
        <p class="muted">Give noise multiplier and steps to preview the charge.</p>
      )}
      <Deciders
        session={session}
        told={told}
        limiting={
          preview.value.error === undefined
            ? preview.value.value?.refusal?.limitingResource
            : undefined
        }
      />
      <p class="curve-words">
        A preview charges nothing and promises nothing: others may charge in between. The filters of
        these caps decide, not the epsilon above; a filter holds for every choice made on the way,
        so it can refuse before that epsilon reaches the cap. All steps are asked for at once, as
        one block; charged one by one, fewer may fit.
      </p>
    </Card>
  );
}

function Verdict({ answer, steps }: { answer: PreviewChargeResponse; steps: string }) {
  const { decision, refusal } = answer;
  const fit = countOf(answer.stepsThatFit);
  const fits =
    fit > MANY_STEPS ? 'There is no end in sight' : `${counted(fit, 'step')} like it would fit now`;
  if (decision === 'ACCEPTED') {
    return (
      <div aria-live="polite" class="verdict">
        <Badge tone="good" icon="check">
          would be accepted
        </Badge>
        <p>
          {counted(steps, 'step')} would be charged. {fits}.
        </p>
      </div>
    );
  }
  return (
    <div aria-live="polite" class="verdict">
      <Badge tone="bad" icon="cross" wide>
        would be refused: {reasonWords(refusal?.reason)}
      </Badge>
      {refusal !== undefined && (
        <p>
          {causeWords(refusal)} {remedyWords(refusal)}
        </p>
      )}
    </div>
  );
}

interface DecidersProps {
  session: string;
  told: Session | undefined;
  limiting: string | undefined;
}

function Deciders({ session, told, limiting }: DecidersProps) {
  const budget = budgetOf(session);
  const names = [budget, ...ancestorsOf(budget)];
  return (
    <ul class="deciders">
      {told?.mode === 'DECLARED' && (
        <li>
          <strong>the plan of this session</strong>: what is not in it is refused
        </li>
      )}
      {told?.ownCap !== undefined && (
        <li>
          <strong>this session</strong>: {capWords(told.ownCap)}
          {limiting === session && <Limiting />}
        </li>
      )}
      {names.map((name) => {
        const known = knownBudgets.value.get(name);
        return (
          <li key={name}>
            <a href={hrefOf({ page: 'budget', budget: idOf(name) })}>{idOf(name)}</a>:{' '}
            {known === undefined ? 'a cap that this page does not know' : capWords(known.cap)}
            {limiting === name && <Limiting />}
            {known?.theorem !== undefined && known.theorem !== '' && (
              <details class="small">
                <summary>Why stopping there gives the guarantee</summary>
                <span class="muted">{known.theorem}</span>
              </details>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Limiting() {
  return (
    <>
      {' '}
      <Badge tone="bad" icon="cross">
        says no
      </Badge>
    </>
  );
}
