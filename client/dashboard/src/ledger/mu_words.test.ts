import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordsOfMu } from './mu_words';

test('IsProvenOnlyWhereEveryEventIsGaussian', () => {
  assert.equal(
    wordsOfMu({ upper: 0.35361, kind: 'UPPER_BOUND', regret: 0 }),
    'at most 0.354, proven: every event is Gaussian',
  );
  assert.equal(
    wordsOfMu({ upper: 0.35361, kind: 'APPROXIMATION', regret: 0.012301 }),
    'at most 0.354 for 0.0001% to 99.9999% false alarms, regret 0.0124; ' +
      'an approximation, not proven outside them',
  );
  assert.match(wordsOfMu({ upper: 1, kind: 'KIND_UNSPECIFIED' }), /not proven/);
});

test('NamesAnUnverifiedClaim', () => {
  assert.match(
    wordsOfMu({ upper: 1, kind: 'UPPER_BOUND', containsUnverifiedClaim: true }),
    /; it rests on an unverified claim$/,
  );
});

test('SaysNothingWithoutAFiniteNumber', () => {
  assert.equal(wordsOfMu({ upper: 'Infinity', kind: 'APPROXIMATION' }), '');
  assert.equal(wordsOfMu({ kind: 'UPPER_BOUND' }), '');
});
