// A page asks each question once, and misses no change meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPage, settled } from './browser.mjs';
import { LedgerServer, sharedServer, steps } from './ledger_server.mjs';

/** Longer than the page waits for the end of a burst, and for its stream. */
const QUIET_MS = 1_000;

/** As in client/dashboard/src/api/events.ts. */
const OPENING_PATIENCE_MS = 3_000;

const FIRST = '/budgets/people/sessions/first';
const ROUTES = [
  '/',
  '/budgets/people',
  FIRST,
  `${FIRST}/trade-off`,
  `${FIRST}/profile`,
  `${FIRST}/compare`,
  `${FIRST}/planner`,
  '/budgets/children/sessions/plan',
  '/refusals',
  '/audit',
  '/budgets/people/audit',
  '/planner?noise=1.1&sampling=0.01&steps=1000&target=3',
  '/compare?noise=1.1&sampling=0.01&steps=1000',
  '/server',
  '/login',
  '/no/such/page',
];

/** On a machine so slow that the stream opens late, a page asks again when it does. Here it waits for the stream. */
function waitsForItsStream(page) {
  return page.addInitScript((patience) => {
    const schedule = window.setTimeout;
    window.setTimeout = (call, ms, ...rest) => schedule(call, ms === patience ? 100 * ms : ms, ...rest);
  }, OPENING_PATIENCE_MS);
}

/** Counts what a page asks, by method, address and body. */
function countRequests(page, origin) {
  const counts = new Map();
  let last = performance.now();
  page.on('request', (request) => {
    const question = [request.method(), request.url().replace(origin, ''), request.postData() ?? ''].join(' ');
    counts.set(question, (counts.get(question) ?? 0) + 1);
    last = performance.now();
  });
  return {
    counts,
    async quiet() {
      do {
        await settled(page);
        await sleep(100);
      } while (performance.now() - last < QUIET_MS);
    },
    repeated: () => [...counts].filter(([, count]) => count > 1),
  };
}

test('a page that was just opened asks each question once', async () => {
  const server = await sharedServer();
  for (const route of ROUTES) {
    const page = await newPage();
    await waitsForItsStream(page);
    const asked = countRequests(page, server.url);
    await page.goto(`${server.url}/#${route}`);
    if (route !== '/login') await page.locator('.connection-live').waitFor();
    await asked.quiet();
    assert.ok([...asked.counts.keys()].some((question) => question.startsWith('GET /assets/')), route);
    assert.deepEqual(asked.repeated(), [], route);
    await page.context().close();
  }
});

test('where the events begin late, the page is shown before them and misses nothing', async () => {
  const server = await sharedServer();
  await server.epsctl('session', 'create', 'people/late', '--relation', 'add-or-remove-one', '--no-own-cap');
  await server.epsctl('charge', 'create', 'people/late', '--open-attempt', '--charge-id', 'a', ...steps(10));
  const page = await newPage();
  let letIn;
  const isLetIn = new Promise((resolve) => {
    letIn = resolve;
  });
  await page.context().route('**/v1/events*', async (route) => {
    await isLetIn;
    await route.continue();
  });
  await page.goto(`${server.url}/#/budgets/people/sessions/late`);
  await page.locator('.chart-summary', { hasText: 'after 10 steps' }).waitFor();
  assert.equal(await page.locator('.connection-live').count(), 0);
  // Not told: the events begin after it.
  await server.epsctl('charge', 'create', 'people/late', '--attempt', '1', '--charge-id', 'b', ...steps(7));
  letIn();
  await page.locator('.chart-summary', { hasText: 'after 17 steps' }).waitFor();
  await page.locator('.connection-live').waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('of more root budgets than one stream follows, those that are named are followed', async () => {
  const server = await (await LedgerServer.start()).run();
  const unit = { neighboringRelation: 'ADD_OR_REMOVE_ONE', privacyUnit: 'person', cap: { zcdp: { rho: 1 } } };
  for (let i = 0; i < 65; ++i) {
    await server.rpc('BudgetService/CreateBudget', { budgetId: `b${String(i).padStart(2, '0')}`, budget: unit });
  }
  const page = await newPage();
  await waitsForItsStream(page);
  const asked = countRequests(page, server.url);
  await page.goto(`${server.url}/#/budgets/b64`);
  await page.locator('.connection-live').waitFor();
  await asked.quiet();
  // The list tells the names, and is made again when the stream has opened.
  const repeated = asked.repeated().map(([question]) => question.replace(/\?.*/, '').trim());
  assert.deepEqual(repeated.sort(), ['GET /v1/budgets', 'GET /v1/caller']);
  await server.epsctl('session', 'create', 'b64/run', '--relation', 'add-or-remove-one', '--no-own-cap');
  await page.getByRole('link', { name: 'run', exact: true }).waitFor();
  // The browser itself notes that the server refused to follow everything.
  assert.deepEqual(page.problems.filter((problem) => !problem.includes('status of 400')), []);
  await page.context().close();
  await server.stop();
});
