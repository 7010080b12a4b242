// What happens on the server appears on the page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onPage } from './browser.mjs';
import { sharedServer, steps } from './ledger_server.mjs';

// Generous, for machines that do much else; the goal is a second.
const PATIENCE_MS = 120_000;
// Of a test in which something never appears.
const timeout = 600_000;

/** Starts to look for a text; the promise tells when the page first had it, in Unix milliseconds. */
async function watchFor(page, selector, pattern) {
  const found = page.evaluate(
    ([where, source]) =>
      new Promise((resolve) => {
        const wanted = new RegExp(source);
        const look = () => {
          const has = [...document.querySelectorAll(where)].some((e) => wanted.test(e.textContent));
          if (has) {
            observer.disconnect();
            resolve(performance.timeOrigin + performance.now());
          }
        };
        const observer = new MutationObserver(look);
        observer.observe(document.body, { subtree: true, childList: true, characterData: true });
        look();
      }),
    [selector, pattern],
  );
  // So that the observer is there before what it waits for.
  await page.evaluate(() => 0);
  return found;
}

async function isLive(page) {
  await page.locator('.connection-live').waitFor();
}

test('a charge appears on the session, without a reload', { timeout }, async (t) => {
  const server = await sharedServer();
  await server.epsctl('session', 'create', 'people/live', '--relation', 'add-or-remove-one', '--no-own-cap');
  await server.epsctl(
    'charge', 'create', 'people/live', '--open-attempt', '--charge-id', 'a', ...steps(600),
  );
  await onPage(server, '/budgets/people/sessions/live', async (page) => {
    await isLive(page);
    await page.getByText(/after 600 steps/i).first().waitFor();
    const inCharges = watchFor(page, 'main th, main td', '^live-1');
    const inSummary = watchFor(page, '.chart-summary', 'after 670 steps');
    const asked = Date.now();
    await server.epsctl(
      'charge', 'create', 'people/live', '--attempt', '1', '--charge-id', 'live-1', ...steps(70),
    );
    const acknowledged = Date.now();
    const told = (at) =>
      `${Math.round(at - acknowledged)} ms after epsctl ended, ${Math.round(at - asked)} ms after it began`;
    const row = await inCharges;
    const curve = await inSummary;
    t.diagnostic(`a charge is in the table of charges ${told(row)}`);
    t.diagnostic(`and in the curve of epsilon ${told(curve)}`);
    assert.match(await page.getByRole('row', { name: /^live-1/ }).innerText(), /just now|minutes? ago/);
  });
});

test('of more charges than the server lists at once the newest are shown, and followed', { timeout }, async () => {
  const server = await sharedServer();
  const relation = ['--relation', 'add-or-remove-one'];
  const gaussian = ['--gaussian', '1000'];
  await server.epsctl('budget', 'create', 'long', '--rho', '1', ...relation, '--privacy-unit', 'person');
  await server.epsctl('session', 'create', 'long/run', ...relation, '--no-own-cap');
  await server.epsctl('charge', 'create', 'long/run', '--open-attempt', '--charge-id', 'first', ...gaussian);
  for (const batch of ['a', 'b']) {
    await server.rpc('ChargeService/BatchCharge', {
      attempt: 'budgets/long/sessions/run/attempts/1',
      mode: 'ALL_OR_NOTHING',
      items: Array.from({ length: 1000 }, (_, i) => ({
        chargeId: `${batch}-${i}`,
        event: { gaussian: { noiseMultiplier: 1000 } },
        count: '1',
      })),
    });
  }
  await onPage(server, '/budgets/long/sessions/run', async (page) => {
    await isLive(page);
    const charges = page.getByRole('region', { name: 'Charges (table)', exact: true });
    await charges.getByRole('rowheader', { name: /^b-999\b/ }).waitFor();
    await page.getByText('the newest 1,001 of 2,001, newest first').waitFor();
    await server.epsctl('charge', 'create', 'long/run', '--attempt', '1', '--charge-id', 'last', ...gaussian);
    await charges.getByRole('rowheader', { name: /^last\b/ }).waitFor({ timeout: PATIENCE_MS });
    await page.getByText('the newest 1,002 of 2,002, newest first').waitFor();
    assert.match(await charges.getByRole('row').nth(1).innerText(), /^last/);
  });
});

test('a refusal appears with its remedy', { timeout }, async (t) => {
  const server = await sharedServer();
  await server.epsctl('session', 'create', 'small/refused', '--relation', 'add-or-remove-one', '--no-own-cap');
  await onPage(server, '/budgets/small/refusals', async (page) => {
    await isLive(page);
    const seen = watchFor(page, 'main', 'more noise');
    const answer = await server.epsctl(
      'charge', 'create', 'small/refused', '--open-attempt', '--charge-id', 'too-much', '--laplace', '0.5',
    );
    const acknowledged = Date.now();
    assert.ok(answer.refused);
    const at = await seen;
    t.diagnostic(`a refusal is shown ${Math.round(at - acknowledged)} ms after epsctl ended`);
    const words = await page.locator('main').innerText();
    assert.match(words, /no room left under a cap/);
    assert.match(words, /larger than the whole cap, and no step of it fits: ask for more noise/);
  });
});

test('the overview follows too', { timeout }, async (t) => {
  const server = await sharedServer();
  await onPage(server, '/', async (page) => {
    await isLive(page);
    const row = page.getByRole('row', { name: /small/ });
    const before = await row.innerText();
    await server.epsctl(
      'charge', 'create', 'small/query', '--attempt', '1', '--charge-id', 'b', '--laplace', '10',
    );
    const acknowledged = Date.now();
    await page.waitForFunction(
      (text) =>
        [...document.querySelectorAll('tbody tr')].some(
          (r) => /^small/.test(r.innerText.trim()) && r.innerText !== text,
        ),
      before,
      { timeout: PATIENCE_MS, polling: 20 },
    );
    t.diagnostic(`the overview shows a charge ${Date.now() - acknowledged} ms after epsctl ended`);
    // The figures above the table are of what the rows show.
    const figure = page.locator('.figures').getByText('Refused in 24 h').locator('..');
    const refused = await figure.innerText();
    await server.epsctl(
      'charge', 'create', 'small/query', '--attempt', '1', '--charge-id', 'c', '--laplace', '1', '--count', '100',
    );
    await page.waitForFunction(
      ([element, text]) => element.innerText !== text,
      [await figure.elementHandle(), refused],
      { timeout: PATIENCE_MS, polling: 20 },
    );
  });
});

test('what one person proposed is shown while it waits for another', { timeout }, async () => {
  const server = await sharedServer();
  await server.epsctl(
    'budget', 'create', 'shared', '--rho', '1', '--relation', 'add-or-remove-one', '--privacy-unit', 'person',
  );
  await server.epsctl('budget', 'guard', 'shared', '--change', 'close,supersede');
  await onPage(server, '/budgets/shared', async (page) => {
    await isLive(page);
    await page.getByText('supersede, close', { exact: true }).waitFor();
    const waits = page.getByText('Waits for another person:');
    assert.equal(await waits.count(), 0);
    await server.epsctl('proposal', 'close', 'shared', '--id', 'done', '--reason', 'the study is over');
    await waits.waitFor();
    assert.match(
      await page.locator('main').innerText(),
      /Waits for another person: shared, close it\. Proposed by .+ \(entry \d+\), until .+\. Reason: the study is over\./,
    );
    await server.epsctl(
      'proposal', 'reject', 'budgets/shared/proposals/done', '--reason', 'not yet',
    );
    await waits.waitFor({ state: 'detached' });
  });
});
