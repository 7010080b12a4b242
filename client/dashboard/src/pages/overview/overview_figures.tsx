import { countOf, numberOf, type BudgetReading } from '../../api/messages';
import { idOf } from '../../api/resource_names';
import { Figure } from '../../design/facts';
import { Icon, type IconName } from '../../design/icons';
import { Ago } from '../../design/time';
import { count } from '../../format/numbers';
import { refusedCount } from '../../format/refusals';
import { hrefOf } from '../../router';
import { isNearly, type Attention } from './attention';

/** Four numbers over all budgets. They are shown when all budgets are known, never in part. */
export function OverviewFigures({ readings }: { readings: readonly BudgetReading[] }) {
  const active = readings.filter(({ budget }) => budget.state === 'ACTIVE');
  const spent = (least: number) =>
    active.filter(({ budget }) => (numberOf(budget.spentFraction) ?? 0) >= least).length;
  const frozen = readings.filter(({ budget }) => budget.state === 'FROZEN').length;
  // A refusal counts in each budget above it: the budgets at the top have all.
  const names = new Set(readings.map(({ budget }) => budget.name));
  const refused = readings
    .filter(({ budget }) => !names.has(budget.parent ?? ''))
    .reduce((sum, { activity }) => sum + countOf(activity?.refusedChargeCount), 0);
  const newest = readings
    .map(({ activity }) => activity?.lastChargeTime ?? '')
    .reduce((a, b) => (a > b ? a : b), '');
  return (
    <dl class="figures card">
      <Figure
        name="Budgets"
        value={count(readings.length)}
        note={`${count(active.length)} active${frozen > 0 ? `, ${count(frozen)} frozen` : ''}`}
      />
      <Figure
        name="Exhausted"
        value={count(spent(1))}
        note={`${count(active.filter(isNearly).length)} more with 80% or more spent`}
      />
      <Figure
        name="Refused in 24 h"
        value={refused === 0 ? '0' : <a href={hrefOf({ page: 'refusals' })}>{refusedCount(refused)}</a>}
        note="charges and plans"
      />
      <Figure name="Last charge" value={<Ago time={newest} />} note="of any budget" />
    </dl>
  );
}

const MOST_ATTENTION = 6;
const SIGNS: Record<Attention['kind'], IconName> = {
  stopped: 'cross',
  soon: 'warning',
  told: 'info',
};

/** What somebody should look at first, the gravest first. */
export function AttentionList({ items }: { items: readonly Attention[] }) {
  if (items.length === 0) return null;
  return (
    <section class="card" aria-label="Needs attention">
      <h2>Needs attention</h2>
      <ul class="attention">
        {items.slice(0, MOST_ATTENTION).map(({ budget, words, page, kind }) => (
          <li key={`${budget} ${words}`} class={`attention-${kind}`}>
            <Icon name={SIGNS[kind]} />
            <a href={hrefOf({ page, budget: idOf(budget) })}>
              <strong>{idOf(budget)}</strong> {words}
            </a>
          </li>
        ))}
      </ul>
      {items.length > MOST_ATTENTION && (
        <p class="small muted">
          and {count(items.length - MOST_ATTENTION)} more: show what needs attention in the table
        </p>
      )}
    </section>
  );
}
