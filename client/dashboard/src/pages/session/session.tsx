import { rootOf } from '../../api/budgets';
import { AccountantTable } from '../../accountants/accountant_table';
import { pathOfResource } from '../../api/client';
import { numberOf, type Session, type SessionGuarantees } from '../../api/messages';
import { useGet } from '../../api/read';
import { sessionName } from '../../api/resource_names';
import { Answer } from '../../design/answer';
import { ClaimBadge, isUnproven, StateBadge } from '../../design/badge';
import { Card } from '../../design/card';
import { Notice } from '../../design/notice';
import { PageHead } from '../../design/page_head';
import { deltaText } from '../../delta';
import { capWords } from '../../format/caps';
import { relationName } from '../../format/names';
import { Term } from '../../glossary/term';
import { crumbsTo } from '../crumbs';
import { SessionViews } from '../session_views';
import { CellsTable } from '../../ledger/cells_table';
import { SessionAbout } from './session_about';
import { SessionAudits } from './session_audits';
import { SessionCharges } from './session_charges';
import { SessionFigures } from './session_figures';
import { SessionHistory } from './session_history';
import { SessionLeases } from './session_leases';
import { SessionPlan } from './session_plan';
import { SessionSteps } from './session_steps';
import { WhoDid } from '../../ledger/who_did';
import { StatementCard } from '../../ledger/statement';

export function SessionPage({ budget, session: id }: { budget: string; session: string }) {
  const name = sessionName(budget, id);
  const read = useGet<Session>(pathOfResource(name), {}, { touchedBy: [name] });
  return (
    <Answer read={read} what={`session ${budget}/${id}`}>
      {(session) => <SessionBody budget={budget} id={id} session={session} />}
    </Answer>
  );
}

interface SessionBodyProps {
  budget: string;
  id: string;
  session: Session;
}

function SessionBody({ budget, id, session }: SessionBodyProps) {
  const { name } = session;
  const unproven = isUnproven(session.claim);
  const guarantees = useGet<SessionGuarantees>(
    pathOfResource(name, 'guarantees'),
    { delta: deltaText.value },
    // Other sessions in the tree may spend what these steps need.
    { touchedBy: [name, rootOf(`budgets/${budget}`)] },
  );
  return (
    <>
      <PageHead
        title={id}
        crumbs={crumbsTo(budget)}
        badges={
          <>
            <StateBadge state={session.state} />
            <ClaimBadge claim={session.claim} />
          </>
        }
      >
        <p class="muted">
          {(session.displayName ?? '') !== '' && `${session.displayName}. `}
          {session.mode === 'DECLARED'
            ? <><Term word="declared">Declared</Term>: each step draws a ticket of the plan. </>
            : <><Term word="adaptive">Adaptive</Term>: every step passes the <Term word="filter">filters</Term> of the session and of its budgets. </>}
          <Term word="neighbors">Neighbors</Term>: {relationName(session.neighboringRelation)}.
        </p>
        <SessionViews budget={budget} session={id} current="session" />
      </PageHead>
      {session.state === 'CLOSED' && (
        <Notice>
          <p>
            <strong>Closed</strong> for good.
            {(session.stateReason ?? '') !== '' && ` Reason given: ${session.stateReason}.`}
          </p>
        </Notice>
      )}
      {unproven && <Unproven session={session} />}
      <SessionFigures session={session} guarantees={guarantees.value} />
      {!unproven && <SessionSteps session={session} />}
      <SessionPlan session={session} />
      {(session.cells ?? []).length > 0 && (
        <Card title="Own cap" aside={<span class="muted">{capWords(session.ownCap)}</span>}>
          <CellsTable cells={session.cells ?? []} allMustFit={session.allCellsMustFit === true} />
        </Card>
      )}
      <Card
        title="By accountant"
        heading={<Term word="accountant">By accountant</Term>}
        aside={
          session.mode === 'ADAPTIVE' && (
            <span class="muted small">odometer readings: they describe, the filters decide</span>
          )
        }
      >
        {unproven && <ClaimBadge claim={session.claim} />}
        <Answer read={guarantees} what="the accountants">
          {(value) => (
            <AccountantTable readings={value.readings ?? []} delta={deltaText.value} />
          )}
        </Answer>
      </Card>
      <SessionLeases leases={session.openLeases ?? []} />
      <SessionAudits session={session} />
      <SessionHistory session={session} />
      <SessionCharges session={session} />
      <WhoDid budget={budget} about={`${budget}/${id}`} />
      <StatementCard name={name} />
      <SessionAbout session={session} />
    </>
  );
}

/** What is published about a run, instead of a guarantee. */
function Unproven({ session }: { session: Session }) {
  const claim = session.claim;
  const delta = numberOf(claim?.delta) ?? 0;
  return (
    <Notice tone="bad">
      <p>
        <strong>{claim?.label}.</strong> Claimed: epsilon {claim?.epsilon ?? 0} at delta{' '}
        {delta === 0 ? 0 : delta.toExponential()}
        {(claim?.source ?? '') !== '' && `, by ${claim?.source}`}. That is no guarantee, and none is
        proven: every proven epsilon of this session is infinite.
        {claim?.counterexampleKnown === true && ' An example that contradicts the claim is known.'}
      </p>
    </Notice>
  );
}
