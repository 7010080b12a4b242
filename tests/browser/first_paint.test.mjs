// How soon there is something to see: printed, not judged.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPage } from './browser.mjs';
import { sharedServer } from './ledger_server.mjs';

const ROUNDS = 9;

/** Milliseconds from the navigation to the first contentful paint, with nothing in any cache. */
async function firstPaint(address, shows) {
  const page = await newPage();
  await page.goto(address);
  const painted = await page.evaluate(
    () =>
      new Promise((resolve) => {
        new PerformanceObserver((list) => {
          const [entry] = list.getEntriesByName('first-contentful-paint');
          if (entry !== undefined) resolve(entry.startTime);
        }).observe({ type: 'paint', buffered: true });
      }),
  );
  await page.getByText(shows, { exact: true }).first().waitFor();
  await page.context().close();
  return painted;
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

test('the first paint of the overview, and of a page of one word', async (t) => {
  const server = await sharedServer();
  const overview = [];
  const bare = [];
  // In turns, so that both see the same machine.
  for (let i = 0; i < ROUNDS; ++i) {
    overview.push(await firstPaint(server.url, 'people'));
    bare.push(await firstPaint(`${server.url}/healthz`, 'ok'));
  }
  const ours = median(overview);
  const least = median(bare);
  t.diagnostic(
    `first contentful paint, median of ${ROUNDS}: overview ${Math.round(ours)} ms, ` +
      `/healthz ${Math.round(least)} ms, ratio ${(ours / least).toFixed(2)}`,
  );
  assert.ok([...overview, ...bare].every((time) => time > 0));
});
