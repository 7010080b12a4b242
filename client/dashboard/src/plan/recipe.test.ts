import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepsOfRecipe } from './recipe';

const of = (batch: string, records: string, epochs: string) =>
  stepsOfRecipe({ batch, records, epochs });

test('ARecipeIsSamplingAndSteps', () => {
  assert.deepEqual(of('1', '1', '3'), { sampling: 1, steps: 3 });
  const mnist = of('256', '60000', '15');
  assert.equal(mnist?.steps, 3516); // 3515.625, and the last batch counts
  const third = of('1', '3', '1');
  // 1/3 has no exact number: the probability may not be below it.
  assert.ok(BigInt(Math.round((third?.sampling ?? 0) * 2 ** 54)) * 3n >= 2n ** 54n);
});

test('WhatIsNoRecipeIsNone', () => {
  for (const [batch, records, epochs] of [
    ['', '10', '1'],
    ['11', '10', '1'],
    ['0', '10', '1'],
    ['1', '10', '0'],
    ['1', 'many', '1'],
    ['1', '1e300', '1'],
  ] as const) {
    assert.equal(of(batch, records, epochs), undefined, `${batch} ${records} ${epochs}`);
  }
});
