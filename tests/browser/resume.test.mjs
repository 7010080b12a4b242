// A server that dies and comes back: the page goes on where it was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPage } from './browser.mjs';
import { LedgerServer, steps } from './ledger_server.mjs';

const RELATION = ['--relation', 'add-or-remove-one'];

/** Keeps the id of every event that the page was told, as the browser hands them out. */
function recordEvents() {
  const Native = window.EventSource;
  window.toldEvents = [];
  window.EventSource = class extends Native {
    constructor(url, options) {
      super(url, options);
      for (const kind of ['budget', 'session', 'attempt', 'charge', 'lease', 'refusedSession']) {
        this.addEventListener(kind, (event) => {
          window.toldEvents.push(Number(JSON.parse(event.data).sequence));
        });
      }
    }
  };
}

test('after the server was killed and started again nothing is missed and nothing told twice', async (t) => {
  const server = await (await LedgerServer.start()).run();
  const charge = (id, more = ['--attempt', '1']) =>
    server.epsctl('charge', 'create', 'people/run', ...more, '--charge-id', id, ...steps(50));
  await server.epsctl(
    'budget', 'create', 'people', '--epsilon', '3', '--delta', '1e-5', ...RELATION, '--privacy-unit', 'person',
  );
  await server.epsctl('session', 'create', 'people/run', ...RELATION, '--no-own-cap');
  await charge('c0', ['--open-attempt']);

  const page = await newPage();
  await page.addInitScript(recordEvents);
  await page.goto(`${server.url}/#/budgets/people/sessions/run`);
  await page.locator('.connection-live').waitFor();
  const start = Number((await server.get('/v1/budgets/people/head')).sequence);
  for (let i = 1; i <= 3; ++i) await charge(`c${i}`);
  await page.locator('.chart-summary', { hasText: 'after 200 steps' }).waitFor();

  // Committed and acknowledged, and perhaps not yet told when the server dies.
  await charge('c4');
  await server.kill();
  await page.locator('.connection-reconnecting').waitFor();
  await server.run();
  // Before the page is back.
  for (let i = 5; i <= 7; ++i) await charge(`c${i}`);
  const back = Date.now();
  await page.locator('.connection-live').waitFor();
  t.diagnostic(`live again ${Date.now() - back} ms after the charges that it missed`);
  await charge('c8');
  await page.locator('.chart-summary', { hasText: 'after 450 steps' }).waitFor();

  const head = Number((await server.get('/v1/budgets/people/head')).sequence);
  const told = await page.evaluate(() => window.toldEvents);
  const wanted = Array.from({ length: head - start }, (_, i) => start + 1 + i);
  assert.deepEqual(told, wanted, 'every entry once, in order');
  const { charges } = await server.get('/v1/budgets/people/sessions/run/charges?pageSize=1000');
  assert.equal(charges.length, 9);
  for (const { name } of charges) {
    await page.getByRole('rowheader', { name: new RegExp(`^${name.split('/').at(-1)}\\b`) }).waitFor();
  }
  // The browser itself notes connections that broke; nothing else may go wrong.
  const others = page.problems.filter((problem) => !/Failed to load resource|net::ERR/.test(problem));
  assert.deepEqual(others, []);
  await page.context().close();
});
