import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastNoise } from './least_noise';

test('the least noise is found from either side, and what is shown was taken', async () => {
  for (const start of [0.01, 1, 1.2345, 3, 500]) {
    const taken: number[] = [];
    const found = await leastNoise(start, async (noise) => {
      if (noise >= 1.2345) taken.push(noise);
      return noise >= 1.2345;
    });
    assert.equal(typeof found, 'number');
    assert.ok((found as number) >= 1.2345 && (found as number) <= 1.2345 * 1.004, String(found));
    assert.ok(taken.includes(found as number));
  }
});

test('where no noise will do there is none, and an error is its reason', async () => {
  assert.equal(await leastNoise(1, async () => false), undefined);
  assert.equal(await leastNoise(1, async () => 'The server is away.'), 'The server is away.');
  let asked = 0;
  assert.equal(await leastNoise(1, async () => (++asked < 4 ? asked % 2 === 1 : 'gone')), 'gone');
});

test('what costs nothing needs no noise worth naming', async () => {
  const found = await leastNoise(1, async () => true);
  assert.ok((found as number) < 0.01);
});
