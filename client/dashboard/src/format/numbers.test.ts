import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  count,
  counted,
  epsilonAtDelta,
  isNearlySpent,
  percent,
  rounded,
  roundedDown,
  roundedUp,
} from './numbers';

test('RoundsUpAndDownAtThreeSignificantDigits', () => {
  const rows: [value: number, up: string, down: string][] = [
    [0, '0', '0'],
    [-0, '0', '0'],
    [1, '1', '1'],
    [3, '3', '3'],
    [1.84, '1.84', '1.84'],
    [1.8301, '1.84', '1.83'],
    [1.7999, '1.80', '1.79'],
    [9.991, '10.0', '9.99'],
    [0.9999, '1.00', '0.999'],
    [999.1, '1000', '999'],
    [0.1 + 0.2, '0.301', '0.300'],
    [0.3, '0.3', '0.3'],
    [0.1, '0.1', '0.1'],
    [1.005, '1.01', '1.00'],
    [123456, '124000', '123000'],
    [1234567, '1.24e6', '1.23e6'],
    [0.0001234, '0.000124', '0.000123'],
    [0.00001234, '1.24e-5', '1.23e-5'],
    [1e-5, '1e-5', '1e-5'],
    [9.999e-5, '0.000100', '9.99e-5'],
    [1e21, '1e21', '1e21'],
    [1.7976931348623157e308, '1.8e308', '1.79e308'],
    [5e-324, '5e-324', '5e-324'],
    [-1.8301, '-1.83', '-1.84'],
    [Infinity, 'no finite bound', 'no finite bound'],
    [NaN, 'unknown', 'unknown'],
  ];
  for (const [value, up, down] of rows) {
    assert.equal(roundedUp(value), up, `${value} up`);
    assert.equal(roundedDown(value), down, `${value} down`);
  }
});

test('IsNeverOnTheWrongSideAndNeverFarOff', () => {
  let state = 12345;
  const random = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
  for (let i = 0; i < 20_000; ++i) {
    const value = (random() - 0.3) * 10 ** Math.floor(random() * 40 - 20);
    const up = Number(roundedUp(value));
    const down = Number(roundedDown(value));
    assert.ok(up >= value && down <= value, `${value}: ${down} to ${up}`);
    assert.ok(up - down <= Math.abs(value) * 0.0101, `${value}: ${down} to ${up}`);
  }
});

test('TakesOtherNumbersOfDigits', () => {
  assert.equal(rounded(1.23456, 'up', 5), '1.2346');
  assert.equal(rounded(1.23456, 'down', 1), '1');
  assert.equal(rounded(9.5, 'up', 1), '10');
});

test('PercentagesRoundToTheSideThatIsAsked', () => {
  assert.equal(percent(0.0412, 'up'), '4.2%');
  assert.equal(percent(0.0412, 'down'), '4.1%');
  assert.equal(percent(0, 'up'), '0%');
  assert.equal(percent(1, 'up'), '100%');
  assert.equal(percent(0.07, 'up'), '7%');
  assert.equal(percent(0.29, 'up'), '29%');
  assert.equal(percent(0.9996, 'up'), '99.96%');
  assert.equal(percent(0.9996, 'down'), '99.96%');
  assert.equal(percent(0.99999, 'down'), '99.99%');
  assert.equal(percent(NaN, 'up'), 'unknown');
});

test('CountsAreExact', () => {
  assert.equal(count('9007199254740992'), '9,007,199,254,740,992');
  assert.equal(count(undefined), '0');
  assert.equal(count(999), '999');
  assert.equal(counted('1', 'charge'), '1 charge');
  assert.equal(counted(1000, 'charge'), '1,000 charges');
  assert.equal(counted(2, 'entry', 'entries'), '2 entries');
});

test('DeltaIsPartOfEveryLabel', () => {
  assert.equal(epsilonAtDelta(1.8301, '1e-5'), 'epsilon 1.84 at delta 1e-5');
  assert.equal(epsilonAtDelta(Infinity, '1e-5'), 'no finite epsilon at delta 1e-5');
  assert.equal(epsilonAtDelta(undefined, '1e-5'), 'no epsilon at delta 1e-5');
});

test('WhatIsShownAsEightyPercentIsNearlySpent', () => {
  for (const share of [0.7901, 0.8, 0.9999]) {
    assert.ok(isNearlySpent(share), percent(share, 'up'));
  }
  for (const share of [0.79, 0, 1, 1.2]) {
    assert.ok(!isNearlySpent(share), percent(share, 'up'));
  }
});
