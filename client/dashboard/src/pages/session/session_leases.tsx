import type { Lease } from '../../api/messages';
import { idOf } from '../../api/resource_names';
import { Badge } from '../../design/badge';
import { Card } from '../../design/card';
import { Ago } from '../../design/time';
import { Grid } from '../../design/grid';
import { eventWords } from '../../format/events';
import { count } from '../../format/numbers';
import { now } from '../../format/times';

/** Blocks of steps that are charged and perhaps not used yet. */
export function SessionLeases({ leases }: { leases: readonly Lease[] }) {
  if (leases.length === 0) return null;
  return (
    <Card
      title="Open leases"
      aside={<span class="muted small">charged in full; settling returns nothing</span>}
    >
      <Grid label="Open leases" heads={['Lease', 'Event', '#Steps', 'Expires']}>
        {leases.map((lease) => {
          const expired =
            lease.expireTime !== undefined && Date.parse(lease.expireTime) < now();
          return (
            <tr key={lease.name}>
              <th scope="row">
                {idOf(lease.name)}
                <span class="under">attempt {lease.name.split('/')[5]}</span>
              </th>
              <td data-label="Event">{eventWords(lease.event)}</td>
              <td data-label="Steps" class="number">
                {count(lease.grantedCount)}
              </td>
              <td data-label="Expires" class="short">
                {expired ? (
                  <Badge tone="warn" icon="warning" wide>
                    expired, spent in full: ask about it
                  </Badge>
                ) : (
                  <Ago time={lease.expireTime} />
                )}
              </td>
            </tr>
          );
        })}
      </Grid>
    </Card>
  );
}
