import { rootBudgets } from '../api/budgets';
import {
  connection,
  connectionProblem,
  MOST_ROOTS,
  resumedCount,
  type Connection,
} from '../api/events';
import { Icon, type IconName } from '../design/icons';

const WORDS: Record<Connection, [IconName, string, string]> = {
  off: ['none', 'not live', 'Changes are not followed.'],
  connecting: ['broken', 'connecting', 'Connecting to the server.'],
  live: ['live', 'live', 'This page follows the ledger.'],
  reconnecting: [
    'broken',
    'reconnecting',
    'The connection was dropped. It continues after the last change that was seen.',
  ],
  paused: ['paused', 'paused', 'The page is in the background. It continues when it is visible.'],
  unavailable: [
    'warning',
    'not live',
    'The server sends no changes to this page: reload it to see newer ones.',
  ],
};

/** Whether the page follows the ledger, in words. */
export function ConnectionStatus() {
  const state = connection.value;
  const [icon, word, explanation] = WORDS[state];
  const resumed = resumedCount.value;
  const problem = connectionProblem.value;
  const trees = rootBudgets().length;
  const title = [
    explanation,
    trees > MOST_ROOTS
      ? `Only ${MOST_ROOTS} of ${trees} trees of budgets are followed: the one that is open and the first by name.`
      : '',
    state !== 'live' && problem !== '' ? problem : '',
    state === 'live' && resumed > 0
      ? `Resumed ${resumed === 1 ? 'once' : `${resumed} times`}, without a gap.`
      : '',
  ]
    .filter((text) => text !== '')
    .join(' ');
  return (
    <span class={`connection connection-${state}`} role="status" title={title}>
      <Icon name={icon} />
      <span>
        {word}
        {state === 'live' && resumed > 0 && <span class="muted"> · resumed without a gap</span>}
      </span>
      <span class="visually-hidden">. {title}</span>
    </span>
  );
}
