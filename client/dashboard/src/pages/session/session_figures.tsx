import { bestGuarantee, claimWords, epsilonWords } from '../../api/guarantees';
import { countOf, numberOf, type Session, type SessionGuarantees } from '../../api/messages';
import type { Read } from '../../api/read';
import { isUnproven } from '../../design/badge';
import { Figure } from '../../design/facts';
import { LiveWords } from '../../design/live_words';
import { deltaText } from '../../delta';
import { EpsilonAtDelta } from '../../glossary/epsilon_at_delta';
import { Term } from '../../glossary/term';
import { accountantName } from '../../format/names';
import { count, counted, epsilonAtDelta, roundedUp } from '../../format/numbers';

// The server's answer if nothing limits: it counts no further.
const MOST_STEPS = 2 ** 52;

interface SessionFiguresProps {
  session: Session;
  guarantees: Read<SessionGuarantees>;
}

export function SessionFigures({ session, guarantees }: SessionFiguresProps) {
  const answer = guarantees.value;
  const best = bestGuarantee(answer?.readings);
  const epsilon = numberOf(best?.upper);
  const winner = best?.accountant;
  const missing = guarantees.loading ? '…' : 'unknown';
  const unproven = isUnproven(session.claim);
  const steps = countOf(session.stepCount);
  const fit = answer?.stepsThatFit;
  const spoken = unproven
    ? `${counted(steps, 'step')} charged; ${session.claim?.label ?? 'not proven'}.`
    : `${counted(steps, 'step')} charged, ${epsilonAtDelta(epsilon, deltaText.value)}.`;
  return (
    <>
      <LiveWords text={spoken} />
      <dl class="figures card">
        <Figure
          name={<EpsilonAtDelta />}
          value={
            unproven
              ? 'no proven bound'
              : answer === undefined
                ? missing
                : epsilonWords(answer.readings)
          }
          note={
            unproven
              ? session.claim?.label
              : claimWords(answer?.readings) ||
                (winner === undefined || winner === 'BEST'
                  ? 'of what was released, at most'
                  : `at most, by ${accountantName(winner)}`)
          }
        />
        {session.mode === 'DECLARED' && session.planGuarantee !== undefined && (
          <Figure
            name={`The whole plan, at delta ${(numberOf(session.planDelta) ?? 0).toExponential()}`}
            value={roundedUp(numberOf(session.planGuarantee.upper) ?? NaN)}
            note="epsilon, charged to the budgets at creation"
          />
        )}
        <Figure
          name="Steps charged"
          value={count(steps)}
          note={counted(session.acceptedChargeCount, 'charge')}
        />
        {session.mode === 'DECLARED' ? (
          <Figure
            name="Tickets left"
            value={count((session.ticketsLeft ?? []).reduce((sum, left) => sum + countOf(left), 0))}
            note="steps of the plan"
          />
        ) : (
          <Figure
            name="Steps that still fit"
            value={fit === undefined ? missing : Number(fit) > MOST_STEPS ? 'no limit' : count(fit)}
            note={
              fit === undefined && steps === 0
                ? 'before the first charge'
                : 'of the event charged last'
            }
          />
        )}
        <Figure
          name={<Term word="attempt">Attempt</Term>}
          value={countOf(session.currentAttempt) === 0 ? 'none' : count(session.currentAttempt)}
          note={
            countOf(session.currentAttempt) > 1
              ? 'earlier ones are fenced'
              : countOf(session.currentAttempt) === 0
                ? 'not opened yet'
                : 'the first'
          }
        />
        <Figure name="Refused" value={count(session.refusedChargeCount)} note="charges" />
      </dl>
    </>
  );
}
