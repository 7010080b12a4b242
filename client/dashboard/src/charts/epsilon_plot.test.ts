import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawnEpsilonAt, epsilonPlot } from './epsilon_plot';

const series = {
  points: [
    { steps: '0', epsilon: { upper: 0, lower: 0 } },
    { steps: '100', epsilon: { upper: 1, lower: 0.9 } },
    { steps: '300', epsilon: { upper: 2, lower: 1.9 } },
  ],
  ahead: [
    { steps: '300', epsilon: { upper: 2 } },
    { steps: '400', epsilon: { upper: 2.5 } },
  ],
  steps: '300',
  leasedSteps: '50',
  epsilonCap: 3,
};

test('what is ahead begins where the charges end', () => {
  const plot = epsilonPlot(series);
  assert.deepEqual(plot.steps, [0, 100, 300, 400]);
  assert.deepEqual(plot.upper, [0, 1, 2, null]);
  assert.deepEqual(plot.ahead, [null, null, 2, 2.5]);
  assert.equal(plot.top, 2.5);
  assert.equal(plot.cap, 3);
  assert.equal(plot.isUnbounded, false);
});

test('an infinite epsilon is not drawn, and said', () => {
  const plot = epsilonPlot({ points: [{ steps: '1', epsilon: { upper: 'Infinity' } }] });
  assert.deepEqual(plot.upper, [null]);
  assert.equal(plot.isUnbounded, true);
  assert.equal(plot.cap, null);
});

test('between two charges epsilon is read off the line, beyond them nowhere', () => {
  const plot = epsilonPlot(series);
  assert.equal(drawnEpsilonAt(plot, 250), 1.75);
  assert.equal(drawnEpsilonAt(plot, 301), null);
});
