import assert from 'node:assert/strict';
import { test } from 'node:test';
import { budgetRows } from './overview_order';

const budgets = [
  { name: 'budgets/b' },
  { name: 'budgets/z', parent: 'budgets/a' },
  { name: 'budgets/a', labels: { team: 'heart' } },
  { name: 'budgets/y', parent: 'budgets/z' },
  { name: 'budgets/orphan', parent: 'budgets/elsewhere', privacyUnit: 'Person' },
];

test('ChildrenFollowTheirParents', () => {
  const rows = budgetRows(budgets).map(({ budget, depth }) => `${depth}${budget.name.slice(8)}`);
  assert.deepEqual(rows, ['0a', '1z', '2y', '0b', '0orphan']);
});

test('FindsByNameUnitAndLabel', () => {
  const found = (text: string) =>
    budgetRows(budgets, text).map(({ budget }) => budget.name.slice(8));
  assert.deepEqual(found('HEART'), ['a']);
  assert.deepEqual(found('person'), ['orphan']);
  assert.deepEqual(found('z'), ['z']);
  assert.deepEqual(found('nothing'), []);
});
