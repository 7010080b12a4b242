import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexAfterKey, nearestIndex } from './chart_cursor';

test('the cursor stands on the nearest place', () => {
  assert.equal(nearestIndex([], 3), -1);
  assert.equal(nearestIndex([5], 100), 0);
  assert.equal(nearestIndex([0, 10, 20], -5), 0);
  assert.equal(nearestIndex([0, 10, 20], 14), 1);
  assert.equal(nearestIndex([0, 10, 20], 16), 2);
  assert.equal(nearestIndex([0, 10, 20], 900), 2);
});

test('keys move the cursor and stop at the ends', () => {
  assert.equal(indexAfterKey('ArrowLeft', 0, 10), 0);
  assert.equal(indexAfterKey('ArrowRight', 9, 10), 9);
  assert.equal(indexAfterKey('ArrowRight', 3, 10), 4);
  assert.equal(indexAfterKey('End', 3, 10), 9);
  assert.equal(indexAfterKey('Home', 3, 10), 0);
  assert.equal(indexAfterKey('PageUp', 10, 100), 20);
  assert.equal(indexAfterKey('a', 3, 10), undefined);
});
