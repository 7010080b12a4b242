import assert from 'node:assert/strict';
import { test } from 'node:test';
// The address of the page is read when the router is loaded.
Object.assign(globalThis, { location: { hash: '' }, addEventListener: () => {} });
const { eventsOfPlan, fieldProblem, planOfHistory, typingProblem } = await import('./plan');

const plan = {
  noise: '1.1',
  sampling: '0.01',
  steps: '100',
  target: '',
  relation: 'ADD_OR_REMOVE_ONE' as const,
};

test('a plan is a Gaussian, sampled where there is a sampling probability', () => {
  const gaussian = { gaussian: { noiseMultiplier: 1.1 } };
  assert.deepEqual(eventsOfPlan(plan), [
    { event: { poissonSampled: { samplingProbability: 0.01, event: gaussian } }, count: '100' },
  ]);
  assert.deepEqual(eventsOfPlan({ ...plan, sampling: ' ' }), [{ event: gaussian, count: '100' }]);
  assert.equal(eventsOfPlan({ ...plan, noise: '' }), undefined);
  assert.equal(eventsOfPlan({ ...plan, steps: '1.5' }), undefined);
});

test('it goes on with what a history used last', () => {
  assert.deepEqual(planOfHistory(eventsOfPlan(plan) ?? []), { noise: '1.1', sampling: '0.01' });
  assert.deepEqual(planOfHistory([{ event: { nonPrivate: {} }, count: '1' }]), {});
});

test('an error of the server is shown at the field that it names', () => {
  const of = (message: string) => fieldProblem({ kind: 'invalid', message, remedy: '' });
  assert.deepEqual(
    of('Events[0].event.poissonSampled.samplingProbability: got 2, want in [0, 1].'),
    { field: 'sampling', words: 'got 2, want in [0, 1]' },
  );
  assert.equal(of('Query.calibrate.epsilon: got -1, want in [0, inf).')?.field, 'target');
  assert.equal(of('Session: not found.'), undefined);
});

test('only what is no number at all is a problem before the server is asked', () => {
  assert.equal(typingProblem('noise', '-3'), undefined);
  assert.notEqual(typingProblem('noise', 'three'), undefined);
  assert.notEqual(typingProblem('steps', '1e3'), undefined);
});
