import { useEffect } from 'preact/hooks';
import { idOf } from '../../api/resource_names';
import { pathOfResource } from '../../api/client';
import { epsilonWords, useBudgetGuarantees } from '../../api/guarantees';
import {
  countOf,
  numberOf,
  type Budget,
  type BudgetActivity,
  type BudgetGuarantees,
  type BudgetReading,
} from '../../api/messages';
import { useGet, type Read } from '../../api/read';
import { StateBadge } from '../../design/badge';
import { Ago } from '../../design/time';
import { deltaTextFor } from '../../delta';
import { relationName } from '../../format/names';
import { percent } from '../../format/numbers';
import { refusedCount } from '../../format/refusals';
import { hrefOf } from '../../router';
import { BudgetBar } from '../../ledger/budget_bar';
import { ClaimNote } from '../../ledger/claim_note';
import { SpendCell } from '../../spending/spend_cell';

interface OverviewRowProps {
  /** The answer for all budgets; the row asks for itself when an event touches it. */
  reading: BudgetReading;
  depth: number;
  epsilonColumn: string;
  /** Whether the row says its privacy unit and neighbors, and its delta: not if all are the same. */
  saysUnit: boolean;
  saysDelta: boolean;
  /** The spending that is shown is that of so many days. */
  days: number;
  /** False if `reading` may be old: the row then asks for itself at once. Read when it appears. */
  isCurrent: boolean;
  onShown(name: string): void;
  /** Told what the row shows after it has asked for itself. */
  onRead(read: RowRead): void;
}

export type RowRead = Pick<BudgetReading, 'budget' | 'activity'>;

export function OverviewRow({
  reading,
  depth,
  epsilonColumn,
  saysUnit,
  saysDelta,
  days,
  isCurrent,
  onShown,
  onRead,
}: OverviewRowProps) {
  const { budget: listed } = reading;
  const { name } = listed;
  const options = { touchedBy: [name], isCurrent, isAskedAbove: true };
  const read = useGet<Budget>(pathOfResource(name), {}, { ...options, initial: listed });
  const deltaText = deltaTextFor(listed.cap);
  const guarantees = useBudgetGuarantees(name, deltaText, {
    initial: guaranteesOf(reading, deltaText),
    isCurrent,
    isAskedAbove: true,
  });
  const activity = useGet<BudgetActivity>(
    pathOfResource(name, 'activity'),
    {},
    { ...options, initial: reading.activity },
  );
  const budget = read.value.value ?? listed;
  const recent = activity.value.value;
  useEffect(() => {
    if (budget !== reading.budget || recent !== reading.activity) {
      onRead({ budget, activity: recent });
    }
  }, [budget, recent]);
  useEffect(() => {
    onShown(name);
  }, []);
  const id = idOf(name);
  const refused = recent?.refusedChargeCount;
  return (
    <tr>
      <th scope="row">
        <span class={depth > 0 ? `indent-${Math.min(depth, 3)} under-parent` : undefined}>
          <a href={hrefOf({ page: 'budget', budget: id })}>{id}</a>
          {budget.state !== 'ACTIVE' && (
            <>
              {' '}
              <StateBadge state={budget.state} />
            </>
          )}
          {(budget.displayName ?? '') !== '' && <span class="under">{budget.displayName}</span>}
          {saysUnit && (
            <span class="under">
              {budget.privacyUnit}, {relationName(budget.neighboringRelation)}
            </span>
          )}
          {(budget.parent ?? '') !== '' && (
            // Where the row is indented, that says it to the eye.
            <span class={depth > 0 ? 'visually-hidden' : 'under'}>
              below {idOf(budget.parent ?? '')}
            </span>
          )}
        </span>
      </th>
      <td>
        <BudgetBar budget={budget} />
      </td>
      <td>
        <Known read={activity.value}>
          {(value) => <SpendCell budget={budget} activity={value} days={days} />}
        </Known>
      </td>
      <td data-label={epsilonColumn} class="number">
        <Epsilon budget={budget} read={guarantees.value} />
        {saysDelta && <span class="under">at {deltaText}</span>}
      </td>
      <td data-label="Caught at most, at 1% false alarms" class="number">
        <WorstCase budget={budget} read={guarantees.value} />
      </td>
      <td data-label="Last charge" class="short">
        <Known read={activity.value}>{(value) => <Ago time={value.lastChargeTime} />}</Known>
      </td>
      <td data-label="Refused in 24 h" class="number">
        <Known read={activity.value}>
          {() =>
            refused === undefined || refused === '0' ? (
              '0'
            ) : (
              <a href={hrefOf({ page: 'refusals', budget: id })}>{refusedCount(countOf(refused))}</a>
            )
          }
        </Known>
      </td>
    </tr>
  );
}

/** Undefined if the reading is at another delta. */
function guaranteesOf(reading: BudgetReading, deltaText: string): BudgetGuarantees | undefined {
  if (reading.reading === undefined || numberOf(reading.delta) !== Number(deltaText)) return undefined;
  return {
    readings: [reading.reading],
    truePositiveRateUpper: reading.truePositiveRateUpper,
    sessionCount: reading.sessionCount,
  };
}

function Known<T>({
  read,
  children,
}: {
  read: Read<T>;
  children: (value: T) => preact.ComponentChildren;
}) {
  if (read.value !== undefined) {
    return (
      <>
        {children(read.value)}
        {read.error !== undefined && (
          <span class="under" title={read.error.message}>
            may be out of date
          </span>
        )}
      </>
    );
  }
  if (read.error !== undefined) return <Unknown reason={read.error.message} />;
  return <span class="muted">…</span>;
}

/** Shown instead of an unknown number, with the reason. */
function Unknown({ reason }: { reason: string }) {
  return (
    <span class="muted nowrap small" title={reason}>
      not available
    </span>
  );
}

type GuaranteesRead = ReturnType<typeof useBudgetGuarantees>['value'];

function Epsilon({ budget, read }: { budget: Budget; read: GuaranteesRead }) {
  const isVoid = budget.state === 'SUPERSEDED';
  return (
    <Known read={read}>
      {(value) => {
        if (budget.cap?.noGuarantee !== undefined) return <span class="muted">no bound</span>;
        return (
          <>
            {epsilonWords(value.readings)}
            {isVoid && <span class="under">guarantee void</span>}
            <ClaimNote readings={value.readings} />
          </>
        );
      }}
    </Known>
  );
}

function WorstCase({ budget, read }: { budget: Budget; read: GuaranteesRead }) {
  const isVoid = budget.state === 'SUPERSEDED';
  return (
    <Known read={read}>
      {(value) => {
        const rate = numberOf(value.truePositiveRateUpper);
        if (rate === undefined) return <Unknown reason="Not available from this server." />;
        if (budget.cap?.noGuarantee !== undefined) return <span class="muted">no bound</span>;
        return (
          <>
            {percent(rate, 'up')}
            {isVoid && <span class="under">guarantee void</span>}
          </>
        );
      }}
    </Known>
  );
}
