import { countOf, type Session } from '../../api/messages';
import { Card } from '../../design/card';
import { Grid } from '../../design/grid';
import { eventWords } from '../../format/events';
import { count } from '../../format/numbers';

/** The plan of a declared session and its remaining tickets. */
export function SessionPlan({ session }: { session: Session }) {
  const events = session.plan?.events ?? [];
  if (session.mode !== 'DECLARED' || events.length === 0) return null;
  const left = session.ticketsLeft ?? [];
  return (
    <Card
      title="Plan"
      aside={
        <span class="muted small">charged to every budget in full; unused tickets are wasted</span>
      }
    >
      <Grid label="Plan" heads={['Event', '#Planned', '#Drawn', '#Tickets left']}>
        {events.map((planned, i) => (
          <tr key={i}>
            <th scope="row">{eventWords(planned.event)}</th>
            <td data-label="Planned" class="number">
              {count(planned.count)}
            </td>
            <td data-label="Drawn" class="number">
              {count(countOf(planned.count) - countOf(left[i]))}
            </td>
            <td data-label="Tickets left" class="number">
              {count(left[i])}
            </td>
          </tr>
        ))}
      </Grid>
    </Card>
  );
}
