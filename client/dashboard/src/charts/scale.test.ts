import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  linearScale,
  logarithmicScale,
  powerLabel,
  powerScale,
  roundOut,
  roundStep,
} from './scale';

const pixels = { first: 0, last: 100 };

test('a linear scale places its ends and inverts', () => {
  const scale = linearScale({ first: 2, last: 4 }, { first: 300, last: 100 });
  assert.equal(scale.place(2), 300);
  assert.equal(scale.place(4), 100);
  assert.equal(scale.value(scale.place(3.25)), 3.25);
  assert.ok(Number.isNaN(scale.place(NaN)));
});

test('a logarithmic scale has equal room for every decade and none for zero', () => {
  const scale = logarithmicScale({ first: 1e-6, last: 1 }, { first: 0, last: 60 });
  assert.ok(Math.abs(scale.place(1e-3) - 30) < 1e-9);
  assert.ok(Math.abs(scale.value(10) / 1e-5 - 1) < 1e-9);
  assert.equal(scale.place(0), -Infinity);
});

test('linear marks are round, inside the domain, and exact', () => {
  const labels = (first: number, last: number, count: number) =>
    linearScale({ first, last }, pixels)
      .ticks(count)
      .map(({ label }) => label);
  assert.deepEqual(labels(0, 1, 5), ['0.0', '0.2', '0.4', '0.6', '0.8', '1.0']);
  assert.deepEqual(labels(0, 2200, 5), ['0', '500', '1,000', '1,500', '2,000']);
  assert.deepEqual(labels(-0.3, 0.3, 3), ['-0.2', '0.0', '0.2']);
  assert.equal(linearScale({ first: 0, last: 0.3 }, pixels).ticks(3).at(-1)?.value, 0.3);
});

test('logarithmic marks are powers of ten, thinned out where there are many', () => {
  const labels = (first: number, last: number, count: number) =>
    logarithmicScale({ first, last }, pixels)
      .ticks(count)
      .map(({ label }) => label);
  assert.deepEqual(labels(1e-6, 1, 8), ['1e-6', '1e-5', '1e-4', '0.001', '0.01', '0.1', '1']);
  assert.deepEqual(labels(1e-12, 1, 4), ['1e-12', '1e-9', '1e-6', '0.001', '1']);
  assert.equal(labels(1e-300, 1, 5).length, 4);
});

test('marks of powers are whole ones', () => {
  const labels = powerScale({ first: -10, last: 0 }, pixels)
    .ticks(4)
    .map(({ label }) => label);
  assert.deepEqual(labels, ['1e-9', '1e-6', '0.001', '1']);
});

test('steps and ends are round', () => {
  assert.equal(roundStep(1, 5), 0.2);
  assert.equal(roundStep(9, 4), 2.5);
  assert.deepEqual(roundOut({ first: 0, last: 2.16 }, 5), { first: 0, last: 2.5 });
  assert.deepEqual(roundOut({ first: 0, last: 0 }, 5), { first: 0, last: 1 });
  assert.equal(powerLabel(5), '1e5');
  assert.equal(powerLabel(-2), '0.01');
});
