import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attentionOf } from './attention';
import { budgetRows, groupsOf, readingRows, sortedReadings } from './overview_order';

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

const readings = [
  { budget: { name: 'budgets/b', spentFraction: 0.5, labels: { team: 'heart' } } },
  { budget: { name: 'budgets/c', cap: { noGuarantee: {} } } },
  { budget: { name: 'budgets/a', spentFraction: 0.9, parent: 'budgets/b' } },
];
const namesOf = (rows: { reading: { budget: { name: string } } }[]) =>
  rows.map(({ reading }) => reading.budget.name.slice(8));

test('SortsByAColumnWithThoseThatHaveNoNumberLast', () => {
  assert.deepEqual(namesOf(sortedReadings(readings, '', 'spent', true)), ['a', 'b', 'c']);
  assert.deepEqual(namesOf(sortedReadings(readings, '', 'spent', false)), ['b', 'a', 'c']);
  assert.deepEqual(namesOf(sortedReadings(readings, '', 'budget', false)), ['a', 'b', 'c']);
});

test('GroupsByTheValuesOfALabel', () => {
  const groups = groupsOf(readingRows(readings), 'team');
  assert.deepEqual(
    groups.map(({ title, rows }) => [title, namesOf(rows)]),
    [
      ['team=heart', ['b']],
      ['without team', ['a', 'c']],
    ],
  );
});

test('AttentionIsForExhaustedFrozenNearlySpentAndRefused', () => {
  const wordsOf = (budget: object, refusedChargeCount = '0') =>
    attentionOf({ budget: { name: 'budgets/x', ...budget }, activity: { refusedChargeCount } }).map(
      ({ words }) => words,
    );
  assert.deepEqual(wordsOf({ state: 'ACTIVE', spentFraction: 0.79 }), []);
  assert.deepEqual(wordsOf({ state: 'ACTIVE', spentFraction: 0.8 }), ['has 80% of its cap spent']);
  assert.deepEqual(wordsOf({ state: 'ACTIVE', spentFraction: 1 }), ['is exhausted: no charge fits']);
  assert.deepEqual(wordsOf({ state: 'CLOSED', spentFraction: 1 }), []);
  assert.deepEqual(wordsOf({ state: 'FROZEN', stateReason: 'leak' }), ['is frozen: leak']);
  assert.deepEqual(wordsOf({ state: 'ACTIVE' }, '3'), ['had 3 refusals in 24 h']);
});
