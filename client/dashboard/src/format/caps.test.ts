import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Budget } from '../api/messages';
import { curveWords, deltaOfCap, shortCapWords, spentWords } from './caps';

const people = {
  name: 'budgets/people',
  cap: { approximateDp: { epsilon: 3, delta: 1e-6 } },
  spentFraction: 0.2431,
} as Budget;
const units = {
  count: '3000',
  delta: 1e-5,
  guarantee: [
    { epsilon: 1.5, delta: 1e-4 },
    { epsilon: 2.11111, delta: 1e-5 },
  ],
};

test('the share and the epsilon of what was charged stand side by side', () => {
  const words = spentWords(people, 1.23456, 1e-6);
  assert.match(words, /^25% of the cap is spent; its charges amount to epsilon 1\.24 of 3 at delta 1e-6\./);
});

test('they are not compared at another delta, without an epsilon, or where a cap names none', () => {
  assert.equal(spentWords(people, 1.2, 1e-5), '');
  assert.equal(spentWords(people, undefined, 1e-6), '');
  assert.equal(spentWords({ ...people, cap: { pureEpsilon: { epsilon: 1 } } } as Budget, 1, 1e-6), '');
});

test('a cap in units says what it promises, rounded up', () => {
  assert.equal(shortCapWords({ units }), '3,000 units, epsilon 2.12 at delta 1e-5');
  assert.equal(
    curveWords({ units }),
    'It promises a whole curve, all of these at once: epsilon 1.5 at delta 1e-4; epsilon 2.12 at delta 1e-5.',
  );
  assert.equal(deltaOfCap({ units }), 1e-5);
  assert.equal(curveWords(people.cap), '');
  assert.match(spentWords({ ...people, cap: { units } } as Budget, 1, 1e-5), /epsilon 1 of 2\.12/);
});
