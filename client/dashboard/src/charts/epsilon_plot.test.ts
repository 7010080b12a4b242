import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawnEpsilonAt, epsilonPlot } from './epsilon_plot';
import { summaryWords } from './epsilon_words';

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
  epsilonCapResource: 'budgets/people',
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

test('the cap says whose it is, and that others spend of a shared one', () => {
  const words = (epsilonCapResource?: string) =>
    summaryWords(epsilonPlot({ ...series, epsilonCapResource }), '1e-5', 'best');
  assert.match(
    words('budgets/people'),
    /; the cap of people is epsilon 3 at delta 1e-5, which other sessions spend too; /,
  );
  assert.match(
    words('budgets/people/sessions/first'),
    /; the cap of this session is epsilon 3 at delta 1e-5; /,
  );
  assert.match(words(undefined), /; the cap is epsilon 3 at delta 1e-5; /);
});

test('what rests on a claim says so', () => {
  const points = [{ steps: '1', epsilon: { upper: 1, containsUnverifiedClaim: true } }];
  assert.match(
    summaryWords(epsilonPlot({ points }), '1e-5', 'best'),
    /^Epsilon 1 at delta 1e-5 after .* \(best, upper bound, rests on an unverified claim\)/,
  );
});

test('between two charges epsilon is read off the line, beyond them nowhere', () => {
  const plot = epsilonPlot(series);
  assert.equal(drawnEpsilonAt(plot, 250), 1.75);
  assert.equal(drawnEpsilonAt(plot, 301), null);
});
