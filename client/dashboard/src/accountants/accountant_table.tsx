import { numberOf, type AccountantReading, type Guarantee } from '../api/messages';
import { Badge } from '../design/badge';
import { Grid } from '../design/grid';
import { accountantName } from '../format/names';
import { counted, percent, roundedUp } from '../format/numbers';

interface AccountantTableProps {
  readings: readonly AccountantReading[];
  delta: string;
}

/** The answers of every accountant for one history at a delta: the smallest bound first. */
export function AccountantTable({ readings, delta }: AccountantTableProps) {
  const best = readings.find(({ accountant }) => accountant === 'BEST')?.guarantee;
  const rows = readings
    .filter(({ accountant, guarantee }) => accountant !== 'BEST' && guarantee !== undefined)
    .sort((a, b) => rank(a) - rank(b) || upperOf(a.guarantee) - upperOf(b.guarantee));
  const without = readings.filter(({ guarantee }) => guarantee === undefined);
  const all = (upper: number) =>
    rows.length > 0 && rows.every(({ guarantee }) => upperOf(guarantee) === upper);
  if (all(0)) {
    return <p>Nothing was released: epsilon at delta {delta} is 0 under every accountant.</p>;
  }
  if (all(Infinity)) {
    return (
      <p>
        No accountant has a finite epsilon at delta {delta}: {rows[0]?.guarantee?.theorem}.
      </p>
    );
  }
  return (
    <>
      <Grid
        label="What every accountant says"
        heads={[
          'Accountant',
          `#Epsilon at|delta ${delta}`,
          '#Above the|smallest',
          '#Slack',
          'Kind',
          'Theorem',
        ]}
      >
        {rows.map(({ accountant, guarantee = {} }) => (
          <tr key={accountant}>
            <th scope="row">
              {accountantName(accountant)} <span class="under">{accountant}</span>
            </th>
            <Numbers
              guarantee={guarantee}
              smallest={upperOf(best)}
              isWinner={best !== undefined && best.accountant === accountant}
              delta={delta}
            />
          </tr>
        ))}
      </Grid>
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

function isApproximate(guarantee: Guarantee | undefined): boolean {
  return guarantee?.kind === 'APPROXIMATION';
}

// Numbers that are not bounds come below all bounds, however small they are.
function rank({ guarantee }: AccountantReading): number {
  return isApproximate(guarantee) ? 1 : 0;
}

function upperOf(guarantee: Guarantee | undefined): number {
  return numberOf(guarantee?.upper) ?? Infinity;
}

interface NumbersProps {
  guarantee: Guarantee;
  smallest: number;
  isWinner: boolean;
  delta: string;
}

function Numbers({ guarantee, smallest, isWinner, delta }: NumbersProps) {
  const upper = upperOf(guarantee);
  const order = numberOf(guarantee.order);
  const isApproximation = isApproximate(guarantee);
  return (
    <>
      <td class="number" data-label={`Epsilon at delta ${delta}`}>
        {isApproximation && 'about '}
        {roundedUp(upper)}
      </td>
      <td class="number" data-label="Above">
        {isApproximation ? '' : isWinner ? 'smallest' : aboveWords(upper, smallest)}
      </td>
      <td class="number" data-label="Slack">
        {isApproximation ? '' : slackWords(upper, numberOf(guarantee.lower))}
      </td>
      <td data-label="Kind" class="short">
        <span class="badges">
          <KindBadge guarantee={guarantee} isWinner={isWinner} />
          {guarantee.containsUnverifiedClaim === true && (
            <Badge tone="warn" icon="warning" wide>
              rests on an unverified claim
            </Badge>
          )}
        </span>
      </td>
      <td class="small breakable" data-label="Theorem">
        {guarantee.theorem}
        {order !== undefined && <span class="under">order {roundedUp(order, 4)}</span>}
      </td>
    </>
  );
}

function KindBadge({ guarantee, isWinner }: { guarantee: Guarantee; isWinner: boolean }) {
  if (upperOf(guarantee) === Infinity) {
    return (
      <Badge tone="bad" icon="cross" wide>
        no finite bound
      </Badge>
    );
  }
  if (isApproximate(guarantee)) {
    return (
      <Badge tone="warn" icon="warning" wide>
        {guarantee.accountant === 'MOMENTS_AS_PUBLISHED'
          ? 'as published, claimed guarantee not proven'
          : 'approximation, not a bound'}
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

// How far the number can be above the truth.
function slackWords(upper: number, lower: number | undefined): string {
  if (!Number.isFinite(upper)) return '';
  if (lower === undefined) return 'not known';
  return upper === lower ? 'none' : `at most ${roundedUp(upper - lower, 2)}`;
}
