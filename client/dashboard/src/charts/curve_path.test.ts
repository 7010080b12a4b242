import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bandPath, linePath } from './curve_path';

test('what is not finite breaks a line', () => {
  const places = [
    { x: 0, y: 1 },
    { x: 1, y: 2.04 },
    { x: 2, y: NaN },
    { x: 3, y: 4 },
  ];
  assert.equal(linePath(places), 'M0 1L1 2M3 4');
  assert.equal(linePath([]), '');
});

test('a band goes along its upper edge and back along its lower one', () => {
  const places = [
    { x: 0, lower: 5, upper: 1 },
    { x: 1, lower: 6, upper: 2 },
    { x: 2, lower: NaN, upper: 3 },
  ];
  assert.equal(bandPath(places), 'M0 1L1 2L1 6L0 5Z');
  assert.equal(bandPath(places.slice(1)), '');
});
