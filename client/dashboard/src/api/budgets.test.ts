import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ancestorsOf,
  budgetsListed,
  forgetBudgets,
  isTouched,
  knownBudgets,
  listBudgets,
  rootBudgets,
  rootOf,
} from './budgets';
import type { LedgerChange } from './messages';

knownBudgets.value = new Map(
  [
    { name: 'budgets/root' },
    { name: 'budgets/a', parent: 'budgets/root' },
    { name: 'budgets/a1', parent: 'budgets/a' },
    { name: 'budgets/b', parent: 'budgets/root' },
  ].map((budget) => [budget.name, budget]),
);

budgetsListed.value = true;

const charge: LedgerChange = {
  watched: 'budgets/root',
  charge: { name: 'budgets/a1/sessions/s/attempts/1/charges/c' },
};

test('KnowsWhatLiesAbove', () => {
  assert.deepEqual(ancestorsOf('budgets/a1'), ['budgets/a', 'budgets/root']);
  assert.equal(rootOf('budgets/a1'), 'budgets/root');
  assert.equal(rootOf('budgets/root'), 'budgets/root');
  assert.equal(rootOf('budgets/unknown'), 'budgets/unknown');
});

test('WhatACallerMayNotSeeIsNoRootOfWhatTheyMay', () => {
  const all = knownBudgets.value;
  knownBudgets.value = new Map([...all].filter(([name]) => name !== 'budgets/root'));
  assert.deepEqual(ancestorsOf('budgets/a1'), ['budgets/a']);
  assert.equal(rootOf('budgets/a1'), 'budgets/a');
  assert.deepEqual(rootBudgets(), ['budgets/a', 'budgets/b']);
  knownBudgets.value = all;
  assert.deepEqual(rootBudgets(), ['budgets/root']);
});

test('AChargeTouchesItsSessionAndEveryBudgetAboveAndNothingElse', () => {
  const touched = (name: string) => isTouched(name, charge);
  assert.ok(touched('budgets/a1/sessions/s'));
  assert.ok(touched('budgets/a1'));
  assert.ok(touched('budgets/a'));
  assert.ok(touched('budgets/root'));
  assert.ok(!touched('budgets/b'));
  assert.ok(!touched('budgets/a1/sessions/s2'));
  assert.ok(!touched('budgets/a/sessions/s'));
});

test('BeforeTheBudgetsWereListedEveryChangeTouchesEverything', () => {
  budgetsListed.value = false;
  assert.ok(isTouched('budgets/b', charge));
  budgetsListed.value = true;
  assert.ok(!isTouched('budgets/b', charge));
});

test('AStateOfABudgetTouchesItsSessions', () => {
  const frozen: LedgerChange = { watched: 'budgets/root', budget: { name: 'budgets/a1' } };
  assert.ok(isTouched('budgets/a1/sessions/s', frozen));
  assert.ok(isTouched('budgets/a', frozen));
  assert.ok(!isTouched('budgets/b/sessions/s', frozen));
});

test('AnOlderAnswerReplacesNoNewerOneAndNoneOutlivesItsCaller', async () => {
  const answers: ((...names: string[]) => void)[] = [];
  globalThis.fetch = () =>
    new Promise((resolve) => {
      answers.push((...names) => {
        resolve(new Response(JSON.stringify({ budgets: names.map((name) => ({ name })) })));
      });
    });
  const questions = [listBudgets(), listBudgets(), listBudgets()];
  answers[1]?.('budgets/first', 'budgets/second');
  await questions[1];
  answers[0]?.('budgets/first');
  await questions[0];
  assert.deepEqual([...knownBudgets.value.keys()], ['budgets/first', 'budgets/second']);
  forgetBudgets();
  answers[2]?.('budgets/first');
  await questions[2];
  assert.equal(knownBudgets.value.size, 0);
});
