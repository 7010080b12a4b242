import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountantReading } from '../api/messages';
import { accountantPlot, accountantWords, drawnAccountants } from './accountant_curves';

const reading = (accountant: AccountantReading['accountant'], upper: number | 'Infinity') => ({
  accountant,
  guarantee: { upper },
});

test('band and approximation first, then the smallest bounds, nothing twice, nothing far above', () => {
  const readings = [
    { accountant: 'BASIC' as const, reasonUnavailable: 'unknown event' },
    reading('RENYI', 2.4),
    reading('MOMENTS', 2.8),
    reading('ZCDP', 1018),
    reading('CLT', 2.0),
    reading('PLD', 2.16),
    reading('TRADE_OFF', 2.16),
    reading('BEST', 2.16),
  ];
  assert.deepEqual(drawnAccountants(readings), ['PLD', 'CLT', 'RENYI', 'MOMENTS']);
  assert.deepEqual(drawnAccountants([reading('PLD', 'Infinity')]), []);
});

test('only steps that every accountant answered are drawn', () => {
  const plot = accountantPlot([
    {
      accountant: 'PLD',
      series: {
        points: [
          { steps: '0', epsilon: { upper: 0, lower: 0 } },
          { steps: '100', epsilon: { upper: 1.001, lower: 0.999 } },
          { steps: '200', epsilon: { upper: 1.5, lower: 1.4 } },
        ],
      },
    },
    {
      accountant: 'CLT',
      series: {
        points: [
          { steps: '0', epsilon: { kind: 'APPROXIMATION', upper: 0 } },
          { steps: '100', epsilon: { kind: 'APPROXIMATION', upper: 0.9 } },
        ],
      },
    },
  ]);
  assert.deepEqual(plot.steps, [0, 100]);
  assert.deepEqual(
    plot.curves.map(({ kind }) => kind),
    ['band', 'approximation'],
  );
  assert.equal(
    accountantWords(plot, 1, '1e-5'),
    'Step 100, epsilon at delta 1e-5: privacy loss distribution between 0.999 and 1.01; ' +
      'central limit about 0.9 (not a bound).',
  );
});
