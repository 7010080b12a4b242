import { ancestorsOf } from '../../api/budgets';
import { pathOfResource } from '../../api/client';
import { bestEpsilon, useBudgetGuarantees } from '../../api/guarantees';
import { countOf, numberOf, type Budget, type BudgetActivity } from '../../api/messages';
import { useGet } from '../../api/read';
import { idOf } from '../../api/resource_names';
import { Answer } from '../../design/answer';
import { Badge, StateBadge } from '../../design/badge';
import { Card } from '../../design/card';
import { Facts, Figure } from '../../design/facts';
import { PageHead } from '../../design/page_head';
import { At, Ago } from '../../design/time';
import { deltaText } from '../../delta';
import { capWords } from '../../format/caps';
import { relationName } from '../../format/names';
import { count, counted, percent, roundedUp } from '../../format/numbers';
import { hrefOf } from '../../router';
import { BudgetBar } from '../../ledger/budget_bar';
import { BudgetNotices } from './budget_notices';
import { BudgetSessions } from './budget_sessions';
import { CellsTable } from '../../ledger/cells_table';
import { ChildBudgets } from './child_budgets';
import { NewestEntries } from './newest_entries';
import { ReadingsTable } from '../../ledger/readings_table';
import { StatementCard } from '../../ledger/statement';

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
  const id = idOf(name);
  const guarantees = useBudgetGuarantees(name, deltaText.value);
  const above = ancestorsOf(name);
  const crumbs = [
    { text: 'Budgets', href: hrefOf({ page: 'overview' }) },
    ...above.reverse().map((parent) => ({
      text: idOf(parent),
      href: hrefOf({ page: 'budget', budget: idOf(parent) }),
    })),
  ];
  const readings = guarantees.value.value?.readings;
  return (
    <>
      <PageHead title={id} crumbs={crumbs} badges={<StateBadge state={budget.state} />}>
        <p class="muted">
          {(budget.displayName ?? '') !== '' && `${budget.displayName}. `}
          One privacy unit is one {budget.privacyUnit}; neighbors:{' '}
          {relationName(budget.neighboringRelation)}.
        </p>
      </PageHead>
      <BudgetNotices budget={budget} />
      <BudgetFigures budget={budget} guarantees={guarantees.value} />
      <Card title="Cap" aside={<span class="muted">{capWords(budget.cap)}</span>}>
        <BudgetBar budget={budget} />
        <CellsTable cells={budget.cells ?? []} allMustFit={budget.allCellsMustFit === true} />
        <p class="small muted breakable">
          Why stopping at the cap gives the guarantee: {budget.theorem}
        </p>
      </Card>
      <BudgetSessions budget={budget} readings={readings} />
      <ChildBudgets budget={budget} />
      <Card
        title="By accountant"
        aside={
          <span class="muted small">
            all sessions below, composed
            {budget.partition !== undefined && '; what the partition saves is not counted'}
          </span>
        }
      >
        <Answer read={guarantees} what="the accountants">
          {(value) => <ReadingsTable readings={value.readings ?? []} />}
        </Answer>
      </Card>
      <StatementCard name={name} />
      <NewestEntries budget={name} />
      <AboutBudget budget={budget} />
    </>
  );
}

interface BudgetFiguresProps {
  budget: Budget;
  guarantees: ReturnType<typeof useBudgetGuarantees>['value'];
}

function BudgetFigures({ budget, guarantees }: BudgetFiguresProps) {
  const activity = useGet<BudgetActivity>(
    pathOfResource(budget.name, 'activity'),
    {},
    { touchedBy: [budget.name] },
  );
  const epsilon = bestEpsilon(guarantees.value?.readings);
  const rate = numberOf(guarantees.value?.truePositiveRateUpper);
  const nothing = budget.cap?.noGuarantee !== undefined;
  const isVoid = budget.state === 'SUPERSEDED';
  const refusals = countOf(budget.refusedChargeCount);
  const recent = activity.value.value;
  return (
    <dl class="figures card">
      <Figure
        name={`Epsilon at delta ${deltaText.value}`}
        value={epsilon === undefined || nothing ? 'no bound' : roundedUp(epsilon)}
        note={
          nothing
            ? 'the budget promises nothing'
            : isVoid
              ? 'void: superseded'
              : 'of what was charged, at most'
        }
      />
      {rate !== undefined && !nothing && (
        <Figure
          name="Caught at most"
          value={percent(rate, 'up')}
          note="of members, at 1% false alarms"
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
        name="Refused"
        value={
          refusals === 0 ? (
            '0'
          ) : (
            <a href={hrefOf({ page: 'refusals', budget: idOf(budget.name) })}>
              {count(budget.refusedChargeCount)}
            </a>
          )
        }
        note={
          recent?.refusedChargeCount === undefined
            ? 'since it was created'
            : `${count(recent.refusedChargeCount)} in 24 h`
        }
      />
    </dl>
  );
}

function AboutBudget({ budget }: { budget: Budget }) {
  const labels = Object.entries(budget.labels ?? {});
  const policy = budget.policy;
  const samplers = policy?.allowedSamplers ?? [];
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
            'Wants to know at',
            thresholds.length === 0 ? '' : thresholds.map((at) => percent(at, 'down')).join(', '),
          ],
          [
            'Labels',
            labels.length === 0 ? (
              ''
            ) : (
              <span class="badges">
                {labels.map(([key, value]) => (
                  <Badge key={key}>
                    {key}={value}
                  </Badge>
                ))}
              </span>
            ),
          ],
          [
            'Charges',
            `${counted(budget.acceptedChargeCount, 'accepted charge')}, ${count(budget.refusedChargeCount)} refused`,
          ],
        ]}
      />
    </Card>
  );
}
