import { numberOf, type AccountantReading } from '../api/messages';
import { Badge } from '../design/badge';
import { accountantName } from '../format/names';
import { counted, percent, roundedUp } from '../format/numbers';

interface AccountantTableProps {
  readings: readonly AccountantReading[];
  delta: string;
}

/** What every accountant says of one history at a delta: the smallest bound first. */
export function AccountantTable({ readings, delta }: AccountantTableProps) {
  const best = readings.find(({ accountant }) => accountant === 'BEST')?.guarantee;
  const smallest = numberOf(best?.upper) ?? Infinity;
  const rows = readings
    .filter(({ accountant, guarantee }) => accountant !== 'BEST' && guarantee !== undefined)
    .sort((a, b) => upperOf(a) - upperOf(b));
  const without = readings.filter(({ guarantee }) => guarantee === undefined);
  return (
    <>
      <div class="table-box" tabIndex={0} role="region" aria-label="What every accountant says">
        <table class="grid as-cards">
          <thead>
            <tr>
              <th scope="col">Accountant</th>
              <th scope="col" class="number">
                Epsilon at delta {delta}
              </th>
              <th scope="col" class="number">
                Above the smallest
              </th>
              <th scope="col" class="number">
                Slack
              </th>
              <th scope="col">Kind</th>
              <th scope="col">Theorem</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((reading) => (
              <Row
                key={reading.accountant}
                reading={reading}
                smallest={smallest}
                isWinner={best !== undefined && best.accountant === reading.accountant}
              />
            ))}
          </tbody>
        </table>
      </div>
      {without.length > 0 && (
        <details>
          <summary>{counted(without.length, 'accountant')} without an answer, and why</summary>
          <ul class="reasons">
            {without.map(({ accountant, reasonUnavailable }) => (
              <li key={accountant}>
                <strong>{accountantName(accountant)}</strong>: {reasonUnavailable}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

// Approximations stand where their number is.
function upperOf({ guarantee }: AccountantReading): number {
  return numberOf(guarantee?.upper) ?? Infinity;
}

interface RowProps {
  reading: AccountantReading;
  smallest: number;
  isWinner: boolean;
}

function Row({ reading, smallest, isWinner }: RowProps) {
  const { accountant, guarantee = {} } = reading;
  const upper = numberOf(guarantee.upper) ?? Infinity;
  const order = numberOf(guarantee.order);
  const isApproximation = guarantee.kind === 'APPROXIMATION';
  return (
    <tr>
      <th scope="row">
        {accountantName(accountant)} <span class="under">{accountant}</span>
      </th>
      <td class="number" data-label="Epsilon">
        {isApproximation && 'about '}
        {Number.isFinite(upper) ? roundedUp(upper) : 'infinite'}
      </td>
      <td class="number" data-label="Above">
        {isApproximation ? '' : isWinner ? 'smallest' : aboveWords(upper, smallest)}
      </td>
      <td class="number" data-label="Slack">
        {isApproximation ? '' : slackWords(upper, numberOf(guarantee.lower))}
      </td>
      <td data-label="Kind">
        <KindBadge
          isApproximation={isApproximation}
          isWinner={isWinner}
          isFinite={Number.isFinite(upper)}
        />
      </td>
      <td class="small" data-label="Theorem">
        {guarantee.theorem}
        {order !== undefined && <span class="under">order {roundedUp(order, 4)}</span>}
      </td>
    </tr>
  );
}

interface KindBadgeProps {
  isApproximation: boolean;
  isWinner: boolean;
  isFinite: boolean;
}

function KindBadge({ isApproximation, isWinner, isFinite }: KindBadgeProps) {
  if (!isFinite) {
    return (
      <Badge tone="bad" icon="cross" wide>
        no finite bound
      </Badge>
    );
  }
  if (isApproximation) {
    return (
      <Badge tone="warn" icon="warning" wide>
        approximation, not a bound
      </Badge>
    );
  }
  return isWinner ? (
    <Badge tone="good" icon="check" wide>
      smallest upper bound
    </Badge>
  ) : (
    <Badge>upper bound</Badge>
  );
}

function aboveWords(upper: number, smallest: number): string {
  if (!Number.isFinite(upper) || !Number.isFinite(smallest) || smallest <= 0) return '';
  const share = upper / smallest - 1;
  if (share <= 0) return 'as small';
  return share < 10 ? `+${percent(share, 'up')}` : `${roundedUp(upper / smallest, 2)} times`;
}

// How far above the truth the number can be.
function slackWords(upper: number, lower: number | undefined): string {
  if (!Number.isFinite(upper)) return '';
  if (lower === undefined) return 'not known';
  return upper === lower ? 'none' : `at most ${roundedUp(upper - lower, 2)}`;
}
