import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Charge } from '../api/messages';
import { filteredRefusals, groupedRefusals, reasonsOf, sessionsOf } from './refusal_groups';

const refused = (session: string, id: string, sequence: number, reason: string): Charge => ({
  name: `budgets/people/sessions/${session}/attempts/1/charges/${id}`,
  event: { gaussian: { noiseMultiplier: 1.1 } },
  sequence: String(sequence),
  refusal: { reason, limitingResource: 'budgets/people' },
});
const charges = [
  refused('b', 'z', 9, 'BUDGET_EXHAUSTED'),
  refused('a', 'y', 8, 'BUDGET_EXHAUSTED'),
  refused('b', 'x', 7, 'BUDGET_EXHAUSTED'),
  refused('b', 'w', 6, 'BUDGET_FROZEN'),
];

test('RefusalsOfOneBudgetForOneReasonAreOneGroup', () => {
  const groups = groupedRefusals(charges);
  assert.deepEqual(
    groups.map((group) => group.charges.map(({ sequence }) => Number(sequence))),
    [[9, 8, 7], [6]],
  );
  assert.deepEqual(groups.map((group) => sessionsOf(group).length), [2, 1]);
});

test('ReasonsAreCounted', () => {
  assert.deepEqual(reasonsOf(charges), [
    { reason: 'BUDGET_EXHAUSTED', count: 3 },
    { reason: 'BUDGET_FROZEN', count: 1 },
  ]);
});

test('FiltersByReasonAndByWords', () => {
  const of = (reason: string, find: string) =>
    filteredRefusals(charges, reason, find).map(({ sequence }) => Number(sequence));
  assert.deepEqual(of('BUDGET_FROZEN', ''), [6]);
  assert.deepEqual(of('', 'sessions/a'), [8]);
  assert.deepEqual(of('', 'FROZEN'), [6]);
  assert.deepEqual(of('', 'gaussian'), [9, 8, 7, 6]);
});
