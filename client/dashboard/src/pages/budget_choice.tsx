import { useId } from 'preact/hooks';
import { knownBudgets } from '../api/budgets';
import { idOf } from '../api/resource_names';
import { budgetRows } from './overview/overview_order';

interface BudgetChoiceProps {
  chosen: string | undefined;
  /** The label of choosing none. Undefined: one must be chosen. */
  all?: string;
  /** Only budgets without a parent. */
  rootsOnly?: boolean;
  onChoose: (budget: string | undefined) => void;
}

/** One of the budgets, by its id. */
export function BudgetChoice({ chosen, all, rootsOnly, onChoose }: BudgetChoiceProps) {
  const id = useId();
  const rows = budgetRows([...knownBudgets.value.values()]).filter(
    ({ budget }) => rootsOnly !== true || (budget.parent ?? '') === '',
  );
  return (
    <div class="field-inline">
      <label for={id}>Budget</label>
      <select
        id={id}
        value={chosen ?? ''}
        onChange={(event) =>
          onChoose(event.currentTarget.value === '' ? undefined : event.currentTarget.value)
        }
      >
        {(all !== undefined || chosen === undefined) && (
          <option value="">{all ?? 'choose one'}</option>
        )}
        {rows.map(({ budget, depth }) => (
          <option key={budget.name} value={idOf(budget.name)}>
            {'\u00a0'.repeat(3 * depth)}
            {idOf(budget.name)}
          </option>
        ))}
      </select>
    </div>
  );
}
