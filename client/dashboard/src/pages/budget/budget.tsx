import { AccountantTable } from '../../accountants/accountant_table';
import { ancestorsOf, knownBudgets } from '../../api/budgets';
import { pathOfResource } from '../../api/client';
import { bestGuarantee, claimWords, epsilonWords, useBudgetGuarantees } from '../../api/guarantees';
import { countOf, numberOf, type Budget, type BudgetActivity } from '../../api/messages';
import { useGet, type Read } from '../../api/read';
import { idOf } from '../../api/resource_names';
import { Answer } from '../../design/answer';
import { labelBadges, StateBadge } from '../../design/badge';
import { Card } from '../../design/card';
import { Facts, Figure } from '../../design/facts';
import { PageHead } from '../../design/page_head';
import { At, Ago } from '../../design/time';
import { delta, deltaText } from '../../delta';
import { capWords, curveWords, scopeWords, spentWords, unitsWords } from '../../format/caps';
import { relationName } from '../../format/names';
import { count, counted, percent } from '../../format/numbers';
import { refusedCount } from '../../format/refusals';
import { EpsilonAtDelta } from '../../glossary/epsilon_at_delta';
import { Term } from '../../glossary/term';
import { hrefOf } from '../../router';
import { crumbsTo } from '../crumbs';
import { BudgetBar } from '../../ledger/budget_bar';
import { BudgetNotices } from './budget_notices';
import { BudgetSessions } from './budget_sessions';
import { CellsTable } from '../../ledger/cells_table';
import { ChildBudgets } from './child_budgets';
import { guardedWords, Proposals } from './proposals';
import { WhoDid } from '../../ledger/who_did';
import { StatementCard } from '../../ledger/statement';
import { SpendChart } from '../../spending/spend_chart';

export function BudgetPage({ budget: id }: { budget: string }) {
  const name = `budgets/${id}`;
  const read = useGet<Budget>(pathOfResource(name), {}, { touchedBy: [name] });
  return (
    <Answer read={read} what={`budget ${id}`}>
      {(budget) => <BudgetBody budget={budget} />}
    </Answer>
  );
}

function BudgetBody({ budget }: { budget: Budget }) {
  const { name } = budget;
  const activity = useGet<BudgetActivity>(
    pathOfResource(name, 'activity'),
    {},
    { touchedBy: [name] },
  ).value;
  const id = idOf(name);
  const guarantees = useBudgetGuarantees(name, deltaText.value);
  const readings = guarantees.value.value?.readings;
  const spent = spentWords(budget, numberOf(bestGuarantee(readings)?.upper), delta.value);
  return (
    <>
      <PageHead
        title={id}
        crumbs={crumbsTo(id).slice(0, -1)}
        badges={<StateBadge state={budget.state} />}
      >
        <p class="muted">
          {(budget.displayName ?? '') !== '' && `${budget.displayName}. `}
          One <Term word="privacy-unit">privacy unit</Term> is one {budget.privacyUnit};{' '}
          <Term word="neighbors">neighbors</Term>:{' '}
          {relationName(budget.neighboringRelation)}.
        </p>
      </PageHead>
      <BudgetNotices budget={budget} />
      <Proposals budget={name} />
      <BudgetFigures budget={budget} guarantees={guarantees.value} activity={activity} />
      <Card title="Cap" heading={<Term word="cap">Cap</Term>} aside={<span class="muted">{capWords(budget.cap)}</span>}>
        <BudgetBar budget={budget} />
        {spent !== '' && <p>{spent}</p>}
        <CellsTable
          cells={budget.cells ?? []}
          allMustFit={budget.allCellsMustFit === true}
          hasBar
        />
        {unitsWords(budget) !== '' && <p>{unitsWords(budget)}</p>}
        {curveWords(budget.cap) !== '' && <p>{curveWords(budget.cap)}</p>}
        <p class="small muted">{scopeWords(budget)}</p>
        <details class="small">
          <summary>Why stopping at the cap gives the guarantee</summary>
          <p class="muted breakable">{budget.theorem}</p>
        </details>
      </Card>
      {activity.value !== undefined && <SpendChart budget={budget} activity={activity.value} />}
      <ChildBudgets budget={budget} />
      <BudgetSessions budget={budget} readings={readings} />
      <Card
        title="By accountant"
        heading={<Term word="accountant">By accountant</Term>}
        aside={
          <span class="muted small">
            all sessions below, composed
            {budget.partition !== undefined && '; what the partition saves is not counted'}
          </span>
        }
      >
        <Answer read={guarantees} what="the accountants">
          {(value) => (
            <AccountantTable readings={value.readings ?? []} delta={deltaText.value} />
          )}
        </Answer>
      </Card>
      <StatementCard name={name} />
      <WhoDid budget={id} about={id} below={belowOf(name)} />
      <AboutBudget budget={budget} />
    </>
  );
}

/** The ids of the known budgets below one. */
function belowOf(name: string): string[] {
  return [...knownBudgets.value.keys()].filter((one) => ancestorsOf(one).includes(name)).map(idOf);
}

interface BudgetFiguresProps {
  budget: Budget;
  guarantees: ReturnType<typeof useBudgetGuarantees>['value'];
  activity: Read<BudgetActivity>;
}

function BudgetFigures({ budget, guarantees, activity }: BudgetFiguresProps) {
  const readings = guarantees.value?.readings;
  const rate = numberOf(guarantees.value?.truePositiveRateUpper);
  const nothing = budget.cap?.noGuarantee !== undefined;
  const isVoid = budget.state === 'SUPERSEDED';
  const refusals = countOf(budget.refusedChargeCount);
  const recent = activity.value;
  return (
    <dl class="figures card">
      <Figure
        name={<EpsilonAtDelta />}
        value={
          nothing
            ? 'no bound'
            : guarantees.value !== undefined
              ? epsilonWords(readings)
              : guarantees.loading
                ? '…'
                : 'unknown'
        }
        note={
          nothing
            ? 'the budget promises nothing'
            : isVoid
              ? 'void: superseded'
              : claimWords(readings) || 'of what was released, at most'
        }
      />
      {rate !== undefined && !nothing && (
        <Figure
          name={<Term word="true-positive-rate">Caught at most</Term>}
          value={percent(rate, 'up')}
          note={isVoid ? 'void: superseded' : 'of members, at 1% false alarms'}
        />
      )}
      <Figure
        name="Charges"
        value={count(budget.acceptedChargeCount)}
        note={
          recent?.lastChargeTime !== undefined ? (
            <>
              last <Ago time={recent.lastChargeTime} />
            </>
          ) : (
            'accepted'
          )
        }
      />
      <Figure
        name="Refused in 24 h"
        value={
          recent === undefined ? (
            '…'
          ) : countOf(recent.refusedChargeCount) === 0 && refusals === 0 ? (
            '0'
          ) : (
            <a href={hrefOf({ page: 'refusals', budget: idOf(budget.name) })}>
              {refusedCount(countOf(recent.refusedChargeCount))}
            </a>
          )
        }
        note={`sessions included; ${counted(refusals, 'charge')} since it was created`}
      />
    </dl>
  );
}

function AboutBudget({ budget }: { budget: Budget }) {
  const policy = budget.policy;
  const samplers = policy?.allowedSamplers ?? [];
  const normalizers = policy?.allowedNormalizers ?? [];
  const thresholds = budget.alertThresholds ?? [];
  return (
    <Card title="About it">
      <Facts
        rows={[
          ['Name', <code>{budget.name}</code>],
          ['Created', <At time={budget.createTime} />],
          [
            'Supersedes',
            budget.supersedes === undefined || budget.supersedes === '' ? (
              ''
            ) : (
              <a href={hrefOf({ page: 'budget', budget: idOf(budget.supersedes) })}>
                {idOf(budget.supersedes)}
              </a>
            ),
          ],
          ['Partition', budget.partition?.function],
          [
            'Samplers allowed',
            samplers.length === 0 ? '' : samplers.join(', ').toLowerCase().replaceAll('_', ' '),
          ],
          [
            'Provenance',
            policy?.provenanceRequired === true
              ? 'attempts must declare sampler, clip norm, library and version'
              : '',
          ],
          [
            'Divisors allowed',
            normalizers.map((one) => one.toLowerCase().replaceAll('_', ' ')).join(', '),
          ],
          [
            'Known faults',
            policy?.knownFaultsRefused === true
              ? 'library versions that are known to be wrong are refused'
              : '',
          ],
          ['Two people', guardedWords(budget.approvalPolicy)],
          [
            'Alerts at',
            thresholds.length === 0 ? '' : thresholds.map((at) => percent(at, 'down')).join(', '),
          ],
          ['Labels', labelBadges(budget.labels)],
          [
            'Charges',
            `${counted(budget.acceptedChargeCount, 'accepted charge')}, ${count(budget.refusedChargeCount)} refused`,
          ],
        ]}
      />
    </Card>
  );
}
