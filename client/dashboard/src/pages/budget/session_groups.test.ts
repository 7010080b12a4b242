import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sessionGroups, sessionKeys } from './session_groups';

const run = (name: string, more: object, upper?: number, divergence?: number) => ({
  session: { name, ...more },
  reading: { guarantee: { upper } },
  ...(divergence === undefined ? {} : { renyiDivergence: { upper: divergence } }),
});
const readings = [
  run('a', { labels: { team: 'ads' }, stepCount: '10', group: 'sweep' }, 1, 0.25),
  run('b', { labels: { team: 'ads' }, stepCount: '5', refusedChargeCount: '2' }, 3, 0.5),
  run('c', { labels: { team: 'mail' }, stepCount: '7' }, 2, 1),
  run('d', { stepCount: '1' }, 9),
];

test('SessionsAreGroupedByLabelsAndByTheirGroups', () => {
  assert.deepEqual(sessionKeys(readings), ['team', 'group']);
  assert.deepEqual(sessionKeys([]), []);
});

test('AGroupAddsDivergencesUpAndNeverEpsilons', () => {
  const groups = sessionGroups(readings, 'team');
  assert.deepEqual(
    groups.map(({ title, sessionCount, steps, refused, divergence, largestEpsilon }) => [
      title,
      sessionCount,
      steps,
      refused,
      divergence,
      largestEpsilon,
    ]),
    [
      // Not known is larger than anything that is.
      ['without team', 1, 1, 0, undefined, 9],
      ['team=mail', 1, 7, 0, 1, 2],
      ['team=ads', 2, 15, 2, 0.75, 3],
    ],
  );
});
