import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attentionOf, needsAttention } from './attention';

const reading = (name: string, refusedChargeCount: string, parent?: string) => ({
  budget: { name: `budgets/${name}`, state: 'ACTIVE' as const, parent },
  activity: { refusedChargeCount },
});

test('ARefusalIsNamedWhereItHappened', () => {
  const items = needsAttention([
    reading('all', '5'),
    reading('a', '3', 'budgets/all'),
    reading('b', '1', 'budgets/all'),
    reading('c', '0', 'budgets/all'),
  ]);
  assert.deepEqual(
    items.map(({ budget, words }) => `${budget.slice(8)} ${words}`),
    ['a had 3 refusals in 24 h', 'all had 1 refusal in 24 h', 'b had 1 refusal in 24 h'],
  );
});

test('ACapThatIsSpentSoonNeedsAttentionBeforeItIsNearlySpent', () => {
  const now = Date.parse('2026-03-10T12:00:00Z');
  const words = (spentByDay: Record<string, number>) =>
    attentionOf(
      {
        budget: { name: 'budgets/x', state: 'ACTIVE', spentFraction: 0.5 },
        activity: { spentByDay },
      },
      0,
      now,
    ).map((item) => item.words);
  assert.deepEqual(words({ '2026-03-06': 0.1, '2026-03-10': 0.5 }), [
    'is spent by about 15 March at its present rate',
  ]);
  assert.deepEqual(words({ '2026-01-01': 0.4, '2026-03-10': 0.5 }), []);
});
