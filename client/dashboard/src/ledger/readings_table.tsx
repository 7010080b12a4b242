import { numberOf, type AccountantReading, type Guarantee } from '../api/messages';
import { Badge } from '../design/badge';
import { Grid } from '../design/grid';
import { deltaText } from '../delta';
import { accountantName } from '../format/names';
import { roundedDown, roundedUp } from '../format/numbers';

/** Epsilon at delta under every accountant that knows the events, with its theorem. */
export function ReadingsTable({ readings }: { readings: readonly AccountantReading[] }) {
  const known = readings.filter(
    (reading) => reading.guarantee !== undefined && reading.accountant !== 'BEST',
  );
  const unknown = readings.filter((reading) => reading.guarantee === undefined);
  const best = readings.find((reading) => reading.accountant === 'BEST')?.guarantee;
  const infinite = known.every(({ guarantee }) => numberOf(guarantee?.upper) === Infinity);
  if (known.length > 0 && infinite) {
    return (
      <p>
        No accountant has a finite epsilon at delta {deltaText.value}:{' '}
        {known[0]?.guarantee?.theorem}.
      </p>
    );
  }
  return (
    <>
      <Grid
        label="Accountants"
        heads={['Accountant', `#Epsilon at delta ${deltaText.value}`, 'Kind', 'By']}
      >
        {known.map(({ accountant, guarantee }) => (
          <tr key={accountant}>
            <th scope="row">
              {accountantName(accountant)}
              {best !== undefined && best.accountant === accountant && (
                <>
                  {' '}
                  <Badge tone="good" icon="check">
                    best bound
                  </Badge>
                </>
              )}
            </th>
            <td data-label="Epsilon" class="number">
              <EpsilonOf guarantee={guarantee} />
            </td>
            <td data-label="Kind">
              <KindOf guarantee={guarantee} />
            </td>
            <td data-label="By" class="small breakable">
              {guarantee?.theorem}
              {guarantee?.order !== undefined && ` (order ${roundedUp(numberOf(guarantee.order))})`}
            </td>
          </tr>
        ))}
      </Grid>
      {unknown.length > 0 && (
        <details>
          <summary>{unknown.length} accountants have no answer</summary>
          <ul class="small">
            {unknown.map(({ accountant, reasonUnavailable }) => (
              <li key={accountant}>
                {accountantName(accountant)}: {reasonUnavailable}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function EpsilonOf({ guarantee }: { guarantee: Guarantee | undefined }) {
  const upper = numberOf(guarantee?.upper);
  const lower = numberOf(guarantee?.lower);
  if (upper === undefined) return <span class="muted">unknown</span>;
  return (
    <>
      {guarantee?.kind === 'APPROXIMATION' ? '≈ ' : ''}
      {roundedUp(upper)}
      {lower !== undefined && lower > 0 && Number.isFinite(lower) && (
        <span class="under">at least {roundedDown(lower)}</span>
      )}
    </>
  );
}

function KindOf({ guarantee }: { guarantee: Guarantee | undefined }) {
  return (
    <span class="badges">
      {guarantee?.kind === 'APPROXIMATION' ? (
        <Badge tone="warn" icon="warning" wide>
          approximation, not a bound
        </Badge>
      ) : (
        <span>{guarantee?.kind === 'LOWER_BOUND' ? 'lower bound' : 'upper bound'}</span>
      )}
      {guarantee?.containsUnverifiedClaim === true && (
        <Badge tone="warn" icon="warning" wide>
          rests on an unverified claim
        </Badge>
      )}
    </span>
  );
}
