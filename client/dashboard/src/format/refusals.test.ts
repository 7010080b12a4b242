import assert from 'node:assert/strict';
import { test } from 'node:test';
import { causeWords, reasonWords, refusedCount, remedyWords } from './refusals';

test('SaysTheCauseRoundedToTheSafeSide', () => {
  const refusal = {
    reason: 'BUDGET_EXHAUSTED',
    cell: {
      quantity: 'RENYI_DIVERGENCE' as const,
      order: 6,
      cap: 0.77757,
      spent: 0.5447,
      remaining: 0.23279,
    },
    requested: 0.28541,
    stepsThatFit: '244',
  };
  assert.equal(
    causeWords(refusal),
    'Asked for 0.286 in Rényi divergence at order 6, where 0.232 remains of 0.777.',
  );
  assert.equal(remedyWords(refusal), 'Ask for at most 244 of it, or for more noise.');
  assert.equal(
    causeWords({ ...refusal, requested: 'Infinity' }),
    'It has no finite cost in Rényi divergence at order 6.',
  );
});

test('SaysTooLargeApartFromSpent', () => {
  const refusal = {
    reason: 'BUDGET_EXHAUSTED',
    cell: { quantity: 'EPSILON' as const, cap: 1, spent: 0, remaining: 1 },
    requested: 2,
    stepsThatFit: '0',
  };
  assert.match(remedyWords(refusal), /larger than the whole cap/);
  assert.match(remedyWords({ ...refusal, requested: 0.5 }), /fits any more/);
});

test('EveryReasonHasWordsAndARemedy', () => {
  const reasons = [
    'BUDGET_EXHAUSTED',
    'BUDGET_FROZEN',
    'CLOSED',
    'NOT_IN_PLAN',
    'ATTEMPT_FENCED',
    'EVENT_NOT_CHARGEABLE',
    'BATCH_REFUSED',
    'POLICY_VIOLATION',
    'BUDGET_SUPERSEDED',
  ];
  const unknown = reasonWords('SOMETHING_NEW');
  assert.equal(new Set(reasons.map(reasonWords)).size, reasons.length);
  assert.ok(!reasons.map(reasonWords).includes(unknown));
  assert.equal(new Set(reasons.map((reason) => remedyWords({ reason }))).size, reasons.length);
  assert.equal(causeWords({ reason: 'ATTEMPT_FENCED' }), '');
});

test('ThePolicysOwnWordsComeFirst', () => {
  assert.equal(
    remedyWords({ reason: 'POLICY_VIOLATION', remedy: 'draw POISSON batches' }),
    'Draw POISSON batches.',
  );
});

test('ACountThatStopsSaysSo', () => {
  assert.equal(refusedCount(999), '999');
  assert.equal(refusedCount(1000), '1,000+');
});
