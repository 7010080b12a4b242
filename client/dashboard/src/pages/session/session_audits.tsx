import { countOf, numberOf, type Session, type SessionAudit } from '../../api/messages';
import { Badge } from '../../design/badge';
import { Card } from '../../design/card';
import { Ago } from '../../design/time';
import { Grid } from '../../design/grid';
import { exponential } from '../../format/caps';
import { lowerName } from '../../format/names';
import { count, counted, percent, roundedDown, roundedUp } from '../../format/numbers';

/** What attacks on the run showed, beside its claim. */
export function SessionAudits({ session }: { session: Session }) {
  const audits = [...(session.audits ?? [])].reverse();
  if (audits.length === 0) return null;
  return (
    <Card
      title="Audits"
      aside={
        <span class="muted small">lower bounds that attacks showed, as reported</span>
      }
    >
      <Grid label="Audits" heads={['Audited', '#Claimed', 'Verdict', 'How', 'When']}>
        {audits.map((audit) => (
          <AuditRow key={audit.sequence} audit={audit} session={session} />
        ))}
      </Grid>
      {countOf(session.auditCount) > audits.length && (
        <p class="small muted">
          The newest {audits.length} of {count(session.auditCount)}.
        </p>
      )}
    </Card>
  );
}

function AuditRow({ audit, session }: { audit: SessionAudit; session: Session }) {
  const lower = numberOf(audit.epsilonLowerBound) ?? 0;
  const delta = exponential(audit.delta);
  const compared = numberOf(audit.claimedEpsilon);
  const claimed = compared ?? numberOf(session.claim?.epsilon);
  const claimedAt = compared === undefined ? exponential(session.claim?.delta) : delta;
  return (
    <tr>
      <th scope="row">
        epsilon ≥ {roundedDown(lower)}
        <span class="under">
          at delta {delta}, confidence {percent(numberOf(audit.confidence) ?? NaN, 'down')}
        </span>
      </th>
      <td data-label="Claimed" class="number">
        {claimed === undefined ? (
          <span class="muted">nothing</span>
        ) : (
          <>
            epsilon {roundedUp(claimed)}
            <span class="under">at delta {claimedAt}</span>
          </>
        )}
      </td>
      <td data-label="Verdict" class="short">
        {audit.exceedsClaim === true ? (
          <Badge tone="bad" icon="cross" wide>
            contradicts the claim
          </Badge>
        ) : (
          <Badge icon={lower > 0 ? 'check' : 'none'} wide>
            {lower > 0 ? 'does not contradict' : 'shows nothing'}
          </Badge>
        )}
      </td>
      <td data-label="How">
        {lowerName(audit.method)}, {counted(audit.trials, 'trial')}
        {audit.hypothesis === 'GAUSSIAN_TRADE_OFF' && ', if the trade-off function is Gaussian'}
        {(audit.source ?? '') !== '' && <span class="under">{audit.source}</span>}
      </td>
      <td data-label="When" class="short">
        <Ago time={audit.createTime} />
      </td>
    </tr>
  );
}
