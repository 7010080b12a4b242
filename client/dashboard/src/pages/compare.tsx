import { pathOfResource } from '../api/client';
import type { CompareAccountantsResponse, SessionGuarantees } from '../api/messages';
import { useGet, useRpc } from '../api/read';
import { sessionName } from '../api/resource_names';
import { delta, deltaText } from '../delta';
import { Answer } from '../design/answer';
import { Card } from '../design/card';
import { PageHead } from '../design/page_head';
import { hrefOf } from '../router';
import { AccountantChart } from '../accountants/accountant_chart';
import { AccountantTable } from '../accountants/accountant_table';
import { ChargedSession } from './curve_page';
import type { SessionPageProps } from './registry';
import { PlanFields, PlanProblem } from '../plan/plan_fields';
import { eventsOfPlan, planOfQuery } from '../plan/plan';

/** What every accountant says about one history: of a session, or of events that nobody charged. */
export function ComparePage({ budget, session }: { budget?: string; session?: string }) {
  if (budget === undefined || session === undefined) return <CompareEvents />;
  return <CompareSession budget={budget} session={session} />;
}

function CompareSession({ budget, session }: SessionPageProps) {
  const name = sessionName(budget, session);
  const read = useGet<SessionGuarantees>(
    pathOfResource(name, 'guarantees'),
    { delta: delta.value },
    { touchedBy: [name] },
  );
  return (
    <ChargedSession page="compare" title="Compare accountants" budget={budget} session={session}>
      <Answer read={read} what="what the accountants say">
        {({ readings = [] }) => (
          <>
            <AccountantTable readings={readings} delta={deltaText.value} />
            <AccountantChart session={name} readings={readings} />
            <Explanation />
          </>
        )}
      </Answer>
    </ChargedSession>
  );
}

function CompareEvents() {
  const plan = planOfQuery();
  const events = eventsOfPlan(plan);
  const read = useRpc<CompareAccountantsResponse>(
    'AccountingService.CompareAccountants',
    events === undefined
      ? undefined
      : { events, neighboringRelation: plan.relation, delta: delta.value },
  );
  return (
    <>
      <PageHead title="Compare accountants">
        <p class="curve-words">
          Events that nobody charged. To compare for a session, open it from{' '}
          <a href={hrefOf({ page: 'overview' })}>its budget</a>.
        </p>
      </PageHead>
      <Card title="Events">
        <PlanFields plan={plan} error={read.value.error} withRelation />
      </Card>
      {events === undefined ? (
        <p class="muted">Give a noise multiplier and steps to see what every accountant says.</p>
      ) : read.value.error !== undefined ? (
        <PlanProblem error={read.value.error} what="What the accountants say" />
      ) : (
        <Answer read={read} what="what the accountants say">
          {({ readings = [] }) => (
            <>
              <AccountantTable readings={readings} delta={deltaText.value} />
              <Explanation />
            </>
          )}
        </Answer>
      )}
    </>
  );
}

function Explanation() {
  return (
    <p class="curve-words">
      All of them read the same history. An upper bound is never below the true epsilon, so the
      smallest one counts; slack is how far it can lie above the truth. An approximation may lie
      below the truth: it is shown and never used to decide.
    </p>
  );
}
