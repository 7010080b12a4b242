import { columnOf, Grid } from '../../design/grid';
import { count, roundedUp } from '../../format/numbers';
import type { SessionGroup } from './session_groups';

interface SessionGroupsProps {
  groups: readonly SessionGroup[];
  /** The head of what the sessions of a group add up to. */
  head: string;
  delta: string;
  onChoose(text: string): void;
}

/** Groups of sessions, one a row; choosing one shows its sessions. */
export function SessionGroups({ groups, head, delta, onChoose }: SessionGroupsProps) {
  const heads = [
    'Group',
    '#Sessions',
    head,
    `#Largest epsilon|of one at delta ${delta}`,
    '#Steps',
    '#Refused',
  ];
  const columns = heads.map(columnOf);
  return (
    <Grid label="Groups of sessions" heads={heads}>
      {groups.map((group) => {
        const cells = [
          count(group.sessionCount),
          group.divergence === undefined ? 'not known' : roundedUp(group.divergence),
          group.largestEpsilon === undefined ? 'none' : roundedUp(group.largestEpsilon),
          count(group.steps),
          count(group.refused),
        ];
        return (
          <tr key={group.title}>
            <th scope="row">
              {group.text === '' ? (
                group.title
              ) : (
                <button type="button" class="as-link" onClick={() => onChoose(group.text)}>
                  {group.title}
                </button>
              )}
            </th>
            {cells.map((cell, i) => (
              <td key={i} data-label={columns[i + 1]} class="number">
                {cell}
              </td>
            ))}
          </tr>
        );
      })}
    </Grid>
  );
}
