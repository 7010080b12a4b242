import type { Session } from '../../api/messages';
import { Card } from '../../design/card';
import { eventWords } from '../../format/events';
import { count } from '../../format/numbers';

/** What was charged, run-length encoded, in the order of first use. */
export function SessionHistory({ session }: { session: Session }) {
  const history = session.history ?? [];
  if (history.length === 0) return null;
  return (
    <Card title="History" aside={<span class="muted small">in the order of first use</span>}>
      <div class="table-box" role="region" aria-label="History (table)" tabIndex={0}>
        <table class="grid">
          <thead>
            <tr>
              <th scope="col" class="number">
                Times
              </th>
              <th scope="col">Event</th>
            </tr>
          </thead>
          <tbody>
            {history.map((counted, i) => (
              <tr key={i}>
                <td class="number">{count(counted.count)}</td>
                <td>{eventWords(counted.event)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
