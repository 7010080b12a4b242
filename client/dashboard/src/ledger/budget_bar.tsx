import { numberOf, type Budget } from '../api/messages';
import { Badge } from '../design/badge';
import { SpentBar } from '../design/spent_bar';
import { shortCapWords } from '../format/caps';

/** The bar of a budget; a budget that promises nothing has none. */
export function BudgetBar({ budget }: { budget: Budget }) {
  if (budget.cap?.noGuarantee !== undefined) {
    return (
      <Badge tone="warn" icon="warning">
        promises nothing
      </Badge>
    );
  }
  return (
    <SpentBar
      spent={numberOf(budget.spentFraction) ?? 0}
      leased={numberOf(budget.leasedFraction) ?? 0}
      thresholds={budget.alertThresholds ?? []}
      of={shortCapWords(budget.cap)}
    />
  );
}
