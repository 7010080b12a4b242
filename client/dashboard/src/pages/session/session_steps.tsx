import { rootOf } from '../../api/budgets';
import { pathOfResource } from '../../api/client';
import { countOf, type EpsilonSeries, type Session } from '../../api/messages';
import { useGet } from '../../api/read';
import { budgetOf } from '../../api/resource_names';
import { AccountantChoice, chosenAccountant } from '../../accountants/accountant_choice';
import { EpsilonSteps } from '../../charts/epsilon_steps';
import { Answer } from '../../design/answer';
import { Card } from '../../design/card';
import { Ago } from '../../design/time';
import { Grid } from '../../design/grid';
import { deltaText } from '../../delta';
import { accountantName } from '../../format/names';
import { count } from '../../format/numbers';
import { NothingCharged } from '../../ledger/nothing_charged';

const POINTS = 200;

/** Epsilon at delta against step, as the server computes it, and the attempts on the way. */
export function SessionSteps({ session }: { session: Session }) {
  const accountant = chosenAccountant();
  const { name } = session;
  const read = useGet<EpsilonSeries>(
    pathOfResource(name, 'series'),
    {
      delta: deltaText.value,
      pointCount: POINTS,
      accountant: accountant === 'BEST' ? undefined : accountant,
    },
    // The part ahead depends on what other sessions in the tree spend.
    { touchedBy: [name, rootOf(budgetOf(name))] },
  );
  if (countOf(session.acceptedChargeCount) === 0) return <NothingCharged session={session} />;
  return (
    <div class="steps">
      <AccountantChoice session={name} />
      <Answer read={read} what="epsilon against step">
        {(series) => (
          <>
            <EpsilonSteps
              series={series}
              delta={deltaText.value}
              accountant={accountantName(accountant)}
            />
            <Attempts series={series} />
          </>
        )}
      </Answer>
    </div>
  );
}

function Attempts({ series }: { series: EpsilonSeries }) {
  const attempts = series.attempts ?? [];
  if (attempts.length === 0) return null;
  return (
    <Card title="Attempts">
      <Grid label="Attempts" heads={['Attempt', 'Opened', '#After steps', '#Entry', 'State']}>
        {[...attempts].reverse().map((attempt, i) => (
          <tr key={attempt.number}>
            <th scope="row">attempt {count(attempt.number)}</th>
            <td data-label="Opened" class="short">
              <Ago time={attempt.time} />
            </td>
            <td data-label="After steps" class="number">
              {count(attempt.stepsBefore)}
            </td>
            <td data-label="Entry" class="number">
              {count(attempt.sequence)}
            </td>
            <td data-label="State" class="short">
              {i === 0 ? 'the newest' : 'fenced: its new charges are refused'}
            </td>
          </tr>
        ))}
      </Grid>
    </Card>
  );
}
