import type { Session } from '../../api/messages';
import { Card } from '../../design/card';
import { Grid } from '../../design/grid';
import { eventWords } from '../../format/events';
import { count } from '../../format/numbers';

/** All charges, run-length encoded, in the order of first use. */
export function SessionHistory({ session }: { session: Session }) {
  const history = session.history ?? [];
  if (session.eventsOmitted === true) {
    return (
      <Card title="History">
        <p class="muted">
          The events of this session are too long for this page.{' '}
          <code>epsctl session history</code> lists them.
        </p>
      </Card>
    );
  }
  if (history.length === 0) return null;
  return (
    <Card title="History" aside={<span class="muted small">in the order of first use</span>}>
      <Grid label="History" heads={['#Times', 'Event']} narrow>
        {history.map((counted, i) => (
          <tr key={i}>
            <td class="number">{count(counted.count)}</td>
            <td>{eventWords(counted.event)}</td>
          </tr>
        ))}
      </Grid>
    </Card>
  );
}
