import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deltaWords, profilePoints, profileWords } from './profile_curves';

test('delta rounds up, where a number holds it and below', () => {
  assert.equal(deltaWords({ delta: 3.0486e-5, upper: Math.log10(3.0486e-5) }), '3.1e-5');
  assert.equal(deltaWords({ delta: 0, upper: -399.99 }), '1.1e-400');
  assert.equal(deltaWords({ delta: 0, upper: -400.001 }), '1e-400');
  assert.equal(deltaWords({ delta: 0, upper: -Infinity }), '0');
  assert.equal(deltaWords({ upper: NaN }), 'unknown');
});

test('an approximation is called one', () => {
  const [bound, approximation] = profilePoints([
    { epsilon: 2, delta: { kind: 'UPPER_BOUND', upper: 0.001, logUpper: Math.log(0.001) } },
    { epsilon: 2, delta: { kind: 'APPROXIMATION', upper: 0.001 } },
  ]);
  assert.equal(
    profileWords(bound),
    'The history is (epsilon 2, delta 0.001)-differentially private.',
  );
  assert.match(profileWords(approximation), /an approximation, not a bound/);
});
