// From the overview to a session to its curves, with the pointer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onPage } from './browser.mjs';
import { sharedServer } from './ledger_server.mjs';

test('from the overview to a session to its trade-off curve', async () => {
  const server = await sharedServer();
  await onPage(server, '/', async (page) => {
    await page.getByRole('link', { name: 'people', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'people' }).waitFor();
    await page.getByRole('link', { name: 'first', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'first' }).waitFor();
    await page.getByRole('img', { name: /Epsilon .* at delta 1e-5 after 1,250 steps/ }).waitFor();
    await page.getByRole('link', { name: 'Trade-off curve' }).click();
    const readout = page.locator('.chart-readout');
    await readout.waitFor();
    const told = await server.get(
      '/v1/budgets/people/sessions/first/trade-off-curve?typeOneErrors=0.01',
    );
    const caught = told.points[0].truePositiveRateUpper;
    const words = await readout.innerText();
    const shown = /at 1% false alarms catches at most ([\d.]+)% of members/.exec(words);
    assert.ok(shown !== null, words);
    // Rounded up, and by less than one of its last digits.
    assert.ok(Number(shown[1]) / 100 >= caught && Number(shown[1]) / 100 < caught * 1.1, words);
    assert.match(await page.locator('figure.chart').innerText(), /perfect privacy/);
  });
});

test('the pointer and the table tell what the curve shows', async () => {
  const server = await sharedServer();
  await onPage(server, '/budgets/people/sessions/first/trade-off', async (page) => {
    const plot = page.locator('.curve-cursor');
    await plot.waitFor();
    const before = await page.locator('.chart-readout').innerText();
    const box = await plot.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForFunction(
      (text) => document.querySelector('.chart-readout').innerText !== text,
      before,
    );
    await page.getByRole('button', { name: 'View as table' }).click();
    const rows = await page.locator('.chart-table tbody tr').count();
    assert.ok(rows > 50, `${rows} rows`);
    await page.getByRole('button', { name: 'View as chart' }).click();
    await page.getByLabel('All false alarms').check();
    await page.getByRole('heading', { name: 'Members missed against false alarms' }).waitFor();
  });
});

test('what is not proven says so, and shows no finite epsilon', async () => {
  const server = await sharedServer();
  const label = 'as published; claimed guarantee not proven';
  for (const view of ['', '/trade-off', '/profile', '/compare']) {
    await onPage(server, `/budgets/published/sessions/as-published${view}`, async (page) => {
      await page.getByText(label).first().waitFor();
      const words = await page.locator('main').innerText();
      assert.doesNotMatch(words, /epsilon [\d.]+ at delta [^,;]*\(.*upper bound/);
    });
  }
});

test('a session is called proven where its authors say so, and nowhere else', async () => {
  const server = await sharedServer();
  const badges = async (session, view, first) => {
    let words;
    await onPage(server, `/budgets/${session}${view}`, async (page) => {
      await page.locator(first).first().waitFor();
      words = await page.locator('main .badge').allInnerTexts();
    });
    return words.map((text) => text.trim());
  };
  for (const view of ['', '/trade-off', '/profile', '/compare']) {
    const unclaimed = await badges('people/sessions/first', view, 'main .curve-svg, main table');
    assert.ok(!unclaimed.includes('proven'), `${view}: ${unclaimed}`);
    const claimed = await badges('small/sessions/query', view, 'main .badge:has-text("proven")');
    assert.ok(claimed.includes('proven'), `${view}: ${claimed}`);
  }
});

test('the planner shows an error of the server at its field, and charges nothing', async () => {
  const server = await sharedServer();
  const before = await server.get('/v1/budgets/people/head');
  const route = '/budgets/people/sessions/first/planner?noise=1.1&sampling=0.01&steps=100&target=3';
  // The browser itself notes that the server answered 400.
  const forgiven = (problem) => problem.includes('status of 400');
  const look = async (page) => {
    await page.getByText('would be accepted').waitFor();
    await page.getByRole('rowheader', { name: 'the noise multiplier' }).waitFor();
    await page.getByText(/^at least [\d.]+$/).waitFor();
    await page.getByLabel('Steps').fill('100000');
    await page.getByText(/would be refused/).waitFor();
    await page.getByLabel('Sampling probability').fill('2');
    const field = page.getByLabel('Sampling probability');
    await page.getByText('got 2, want in [0, 1]').first().waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
  };
  await onPage(server, route, look, { forgiven });
  assert.deepEqual(await server.get('/v1/budgets/people/head'), before);
});

test('a session is chosen in the planner, and what was typed stays', async () => {
  const server = await sharedServer();
  await onPage(server, '/planner?noise=7', async (page) => {
    await page.getByLabel('On top of what was spent in').selectOption('people');
    await page.getByLabel('Session', { exact: true }).selectOption('first');
    await page.getByRole('heading', { level: 1, name: 'What if' }).waitFor();
    assert.equal(await page.getByLabel('Noise multiplier').inputValue(), '7');
  });
});

test('the cap of a session says whose it is', async () => {
  const server = await sharedServer();
  const words = 'the cap of people is epsilon 3 at delta 1e-5, which other sessions spend too';
  await onPage(server, '/budgets/people/sessions/first', async (page) => {
    await page.locator('.chart-summary', { hasText: words }).waitFor();
  });
});

test('an accountant that does not know an event says so in its own words', async () => {
  const server = await sharedServer();
  // The browser itself notes that the server answered 501.
  const forgiven = (problem) => problem.includes('status of 501');
  const look = async (page) => {
    const problem = page.getByRole('alert');
    await problem.waitFor();
    assert.match(await problem.innerText(), /GAUSSIAN accountant does not know poissonSampled/);
  };
  for (const view of ['trade-off', 'profile']) {
    const route = `/budgets/people/sessions/first/${view}?accountant=GAUSSIAN`;
    await onPage(server, route, look, { forgiven });
  }
});

test('a plan that did not fit is among the refusals', async () => {
  const server = await sharedServer();
  await onPage(server, '/budgets/children/refusals', async (page) => {
    const row = page.getByRole('row', { name: /children\/too-much/ });
    await row.waitFor();
    assert.match(await row.innerText(), /to open the session: it was not created/);
    assert.match(await row.innerText(), /no room left under a cap/);
  });
});

test('every charge says what was charged', async () => {
  const server = await sharedServer();
  await onPage(server, '/budgets/people/sessions/first', async (page) => {
    for (const name of [/block-1/, /greedy/]) {
      const row = page.getByRole('row', { name }).first();
      await row.waitFor();
      assert.match(await row.innerText(), /Gaussian, noise multiplier 1.1/);
    }
  });
});

test('an empty session says a command that its plan accepts', async () => {
  const server = await sharedServer();
  await onPage(server, '/budgets/children/sessions/plan', async (page) => {
    const command = await page.locator('.command code').innerText();
    assert.match(command, /--event '\{"gaussian":\{"noiseMultiplier":60\}\}'/);
  });
});

test('a formula that is not proven is called so among the accountants', async () => {
  const server = await sharedServer();
  await onPage(server, '/compare?noise=1.1&sampling=0.01&steps=1000', async (page) => {
    const row = page.getByRole('row', { name: /MOMENTS_AS_PUBLISHED/ });
    await row.getByText('as published, claimed guarantee not proven').waitFor();
  });
});

test('the statement of a session says what a membership test can do, and mu with what it assumes', async () => {
  const server = await sharedServer();
  const budget = { neighboringRelation: 'ADD_OR_REMOVE_ONE', privacyUnit: 'person', cap: { zcdp: { rho: 1 } } };
  await server.rpc('BudgetService/CreateBudget', { budgetId: 'stated', budget });
  await server.epsctl('session', 'create', 'stated/gaussian', '--relation', 'add-or-remove-one', '--no-own-cap');
  await server.epsctl(
    'charge', 'create', 'stated/gaussian', '--open-attempt', '--charge-id', 'a', '--gaussian', '10', '--count', '25',
  );
  const statement = async (session, look) => {
    await onPage(server, `/budgets/${session}`, async (page) => {
      await page.getByRole('button', { name: /^Make it at delta/ }).click();
      const card = page.locator('.card', { has: page.getByRole('button', { name: /^Make it at delta/ }) });
      await card.getByRole('region', { name: 'Text of the statement' }).waitFor();
      await look(card);
    });
  };
  // 25 steps of noise 10: mu is sqrt(25) / 10.
  await statement('stated/sessions/gaussian', async (card) => {
    await card.getByText(/Mu of Gaussian DP: at most 0\.50?1?, proven: every event is Gaussian\.$/).waitFor();
    await card.getByText(/^Caught at most: [\d.]+% of members at 0\.1% false alarms; /).waitFor();
  });
  await statement('people/sessions/first', async (card) => {
    const line = card.getByText(/^Mu of Gaussian DP: /);
    await line.waitFor();
    assert.match(await line.innerText(), /at most [\d.]+ for 0\.0001% to .*; an approximation, not proven outside them\.$/);
  });
  // It has no proven guarantee of any kind.
  await statement('published/sessions/as-published', async (card) => {
    await card.getByText(/as published; claimed guarantee not proven/).waitFor();
    assert.doesNotMatch(await card.innerText(), /Mu of Gaussian DP/);
  });
});
