import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  attackBounds,
  attackWords,
  falseAlarmRates,
  shownBounds,
  tradeOffCurves,
} from './trade_off_curves';

const point = {
  typeOneError: 0.01,
  typeTwoError: { kind: 'UPPER_BOUND' as const, upper: 0.9647, lower: 0.9581 },
  truePositiveRateUpper: 0.0419,
  truePositiveRateLower: 0.0353,
};

test('the readout says what an attacker catches, rounded up', () => {
  const [bound] = attackBounds([point]);
  assert.equal(
    attackWords(bound),
    'An attacker at 1% false alarms catches at most 4.2% of members. ' +
      'With perfect privacy it would be 1%.',
  );
});

test('an approximation is called one, and dashed', () => {
  const bounds = attackBounds([
    {
      typeOneError: 0.01,
      typeTwoError: { kind: 'APPROXIMATION', upper: 0.96 },
      truePositiveRateLower: 0.04,
    },
  ]);
  assert.match(attackWords(bounds[0]), /about 4% of members: an approximation, not a bound/);
  const kinds = tradeOffCurves(bounds, 'trade-off', 'CLT').map(({ kind }) => kind);
  assert.deepEqual(kinds, ['reference', 'approximation']);
});

test('without a bound everything is possible', () => {
  const [bound] = attackBounds([{ typeOneError: 0.01 }]);
  assert.equal(bound?.caughtAtMost, 1);
  assert.equal(bound?.missedAtLeast, 0);
  assert.match(attackWords(bound), /^There is no bound: .* may catch every member/);
});

test('rates rise from 0 to 1, and a logarithmic axis starts above 0', () => {
  assert.equal(falseAlarmRates[0], 0);
  assert.equal(falseAlarmRates.at(-1), 1);
  assert.ok(falseAlarmRates.includes(0.01));
  assert.ok(falseAlarmRates.every((rate, i) => i === 0 || rate > (falseAlarmRates[i - 1] ?? 1)));
  const bounds = attackBounds(falseAlarmRates.map((typeOneError) => ({ typeOneError })));
  assert.ok(shownBounds(bounds, 'few-false-alarms').every(({ falseAlarm }) => falseAlarm > 0));
});
