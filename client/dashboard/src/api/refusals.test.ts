import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal, refusedIn } from './refusals';

test('RefusedPlansStandAmongRefusedChargesTheNewestFirst', () => {
  const refusal = { reason: 'BUDGET_EXHAUSTED' };
  const listed = refusedIn({
    charges: [
      { name: 'budgets/a/sessions/s/attempts/1/charges/new', sequence: '12' },
      { name: 'budgets/a/sessions/s/attempts/1/charges/old', sequence: '9' },
    ],
    refusedSessions: [
      { sequence: '10', time: 'T', refusedSession: { name: 'budgets/a/sessions/p', refusal } },
    ],
  });
  assert.deepEqual(
    listed.map(({ sequence }) => sequence),
    ['12', '10', '9'],
  );
  assert.deepEqual(listed[1], {
    name: 'budgets/a/sessions/p',
    decision: 'REFUSED',
    refusal,
    sequence: '10',
    createTime: 'T',
  });
  assert.deepEqual(refusedIn({}), []);
});

test('APlanThatDidNotFitIsARefusalToo', () => {
  assert.ok(isRefusal({ refusedSession: { name: 'budgets/a/sessions/p' } }));
  assert.ok(isRefusal({ charge: { name: 'c', decision: 'REFUSED' } }));
  assert.ok(!isRefusal({ charge: { name: 'c', decision: 'ACCEPTED' } }));
});
