import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Route } from './router';

let router: typeof import('./router');

before(async () => {
  Object.assign(globalThis, { location: { hash: '' }, addEventListener: () => undefined });
  router = await import('./router');
});

test('EveryRouteSurvivesItsPath', () => {
  const routes: Route[] = [
    { page: 'overview' },
    { page: 'login' },
    { page: 'server' },
    { page: 'refusals' },
    { page: 'refusals', budget: 'people' },
    { page: 'audit' },
    { page: 'audit', budget: 'people' },
    { page: 'budget', budget: 'a.b-c_d' },
    { page: 'budget', budget: 'sessions' },
    { page: 'session', budget: 'people', session: 'first' },
    { page: 'trade-off', budget: 'people', session: 'first' },
    { page: 'profile', budget: 'people', session: 'first' },
    { page: 'compare', budget: 'people', session: 'first' },
    { page: 'planner', budget: 'people', session: 'first' },
    { page: 'planner' },
    { page: 'compare' },
  ];
  for (const route of routes) {
    const path = router.pathOf(route);
    assert.deepEqual(router.readRoute(`${path}?delta=1e-6`).route, route, path);
  }
});

test('WhatIsNoRouteIsNotFoundAndNeverThrows', () => {
  for (const hash of [
    '/nowhere',
    '/budgets/a/b',
    '/budgets/a/sessions',
    '/%E0%A4%A',
    '/trade-off',
  ]) {
    assert.equal(router.readRoute(hash).route.page, 'not-found', hash);
  }
  assert.equal(router.readRoute('').route.page, 'overview');
  assert.equal(router.readRoute('/budgets/a?delta=1e-9').query.get('delta'), '1e-9');
});
