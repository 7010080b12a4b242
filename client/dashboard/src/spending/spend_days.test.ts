import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daily, dayOf, dayWords, isoDay, pointsOf, rateOf, spentOn } from './spend_days';

const today = dayOf(Date.parse('2026-03-01T12:00:00Z'));
const points = pointsOf({ spentByDay: { '2026-02-24': 0.3, '2026-02-20': 0.1 } });

test('BetweenTwoDaysNothingIsSpent', () => {
  assert.equal(spentOn(points, today - 10), 0);
  assert.equal(spentOn(points, today - 9), 0.1);
  assert.equal(spentOn(points, today - 6), 0.1);
  assert.equal(spentOn(points, today), 0.3);
  assert.deepEqual(
    daily(points, today, 7).map(({ spent }) => spent),
    [0.1, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3],
  );
});

test('TheRateIsThatOfTheDaysSinceTheFirstOne', () => {
  const rate = rateOf(points, today, false);
  assert.equal(rate?.days, 10);
  assert.ok(Math.abs((rate?.perDay ?? 0) - 0.03) < 1e-12);
  // 0.7 are left: 23.3 days at 0.03 a day.
  assert.equal(rate?.fullDay, today + 24);
  assert.equal(dayWords(rate?.fullDay ?? 0, Date.parse('2026-03-01')), '25 March');
});

test('TheRateIsThatOfTheLastThirtyDaysAtMost', () => {
  const old = pointsOf({ spentByDay: { '2025-06-01': 0.5, '2026-02-20': 0.8 } });
  const rate = rateOf(old, today, false);
  assert.equal(rate?.days, 30);
  assert.ok(Math.abs((rate?.spent ?? 0) - 0.3) < 1e-12);
});

test('WhatASuccessorTookOverIsNoRate', () => {
  const rate = rateOf(points, today, true);
  assert.equal(rate?.days, 9);
  assert.ok(Math.abs((rate?.spent ?? 0) - 0.2) < 1e-12);
});

test('NoDateIsNamedIfItIsSpentOrNothingIsSpentNowOrOnTheFirstDay', () => {
  assert.equal(rateOf([], today, false), undefined);
  assert.equal(rateOf([{ day: today, spent: 0.5 }], today, false), undefined);
  assert.equal(rateOf([{ day: today - 9, spent: 1 }], today, false)?.fullDay, undefined);
  const still = rateOf([{ day: today - 90, spent: 0.5 }], today, false);
  assert.equal(still?.perDay, 0);
  assert.equal(still?.fullDay, undefined);
});

test('DaysAreOfUtc', () => {
  assert.equal(isoDay(dayOf(Date.parse('2026-03-01T23:59:59Z'))), '2026-03-01');
  assert.equal(dayWords(dayOf(Date.parse('2027-03-14')), Date.parse('2026-03-01')), '14 March 2027');
});
