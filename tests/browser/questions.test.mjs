// Ten questions that a privacy officer asks, each answered in at most three clicks from the
// overview, and by one command. The list is in client/dashboard/README.md.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onPage } from './browser.mjs';
import { sharedServer } from './ledger_server.mjs';

/** Counts the clicks and choices of one path; typing into the field that was clicked is part of it. */
function clicking(page) {
  const clicks = {
    count: 0,
    async on(locator) {
      clicks.count += 1;
      assert.ok(clicks.count <= 3, 'more than three clicks');
      await locator.click();
    },
    async choose(locator, value) {
      clicks.count += 1;
      assert.ok(clicks.count <= 3, 'more than three clicks');
      await locator.selectOption(value);
    },
    link: (name) => clicks.on(page.getByRole('link', { name, exact: true }).first()),
  };
  return clicks;
}

const STEP = ['--gaussian', '1.1', '--sampling-probability', '0.01'];

const QUESTIONS = [
  {
    question: 'What needs my attention?',
    command: ['budget', 'list'],
    async look(page) {
      await page.getByRole('region', { name: 'Needs attention' }).waitFor();
    },
  },
  {
    question: 'What may still be spent?',
    command: ['budget', 'get', 'people'],
    async look(page, clicks) {
      await clicks.link('people');
      await page.getByRole('columnheader', { name: 'Remaining' }).first().waitFor();
    },
  },
  {
    question: 'Who spent most last week?',
    command: ['budget', 'spending', '--days', '7'],
    async look(page, clicks) {
      await clicks.choose(page.getByLabel('Spending of'), '7');
      await clicks.on(page.getByRole('button', { name: 'Last 7 days' }));
      await page.locator('th[aria-sort="descending"]', { hasText: 'Last 7 days' }).waitFor();
      // Everything on this server was spent today.
      assert.match(await page.locator('tbody tr').first().innerText(), /since today/);
    },
  },
  {
    question: 'When will it be spent?',
    command: ['budget', 'spending', '--days', '30'],
    async look(page, clicks) {
      await clicks.link('people');
      await page.getByRole('heading', { name: 'Spent over days' }).waitFor();
      await page.getByText('Everything was spent today: one day is no rate.').waitFor();
    },
  },
  {
    question: 'What was refused, and why?',
    command: ['budget', 'refusals', 'people'],
    async look(page, clicks) {
      await clicks.link('Refusals');
      await clicks.choose(page.getByLabel('Why', { exact: true }), 'BUDGET_EXHAUSTED');
      await page.getByText('no room left under a cap', { exact: true }).first().waitFor();
    },
  },
  {
    question: 'Who charged, and who changed something?',
    command: ['ledger', 'entries', 'people'],
    async look(page, clicks) {
      await clicks.link('people');
      await page.getByRole('heading', { name: 'Who did what' }).waitFor();
      await page.getByRole('rowheader', { name: 'Somebody on this machine' }).first().waitFor();
    },
  },
  {
    question: 'What does it mean for one person?',
    command: ['session', 'trade-off', 'people/first'],
    async look(page, clicks) {
      await clicks.link('people');
      await clicks.link('first');
      await clicks.link('Trade-off curve');
      await page.getByText(/at 1% false alarms catches at most/).first().waitFor();
    },
  },
  {
    question: 'Would this training fit?',
    command: ['charge', 'preview', 'people/first', ...STEP],
    async look(page, clicks) {
      await clicks.link('people');
      await clicks.link('first');
      await clicks.link('What if');
      await page.getByLabel('Noise multiplier').waitFor();
    },
  },
  {
    question: 'Is the ledger intact?',
    command: ['ledger', 'verify', 'people'],
    async look(page, clicks) {
      await clicks.link('people');
      await clicks.link('Everything, with search and filters');
      await clicks.on(page.getByRole('button', { name: 'Verify this ledger' }));
      await page.getByText('It verifies.').waitFor();
    },
  },
  {
    question: 'Prove it to an auditor',
    command: ['statement', 'get', 'people', '--delta', '1e-5'],
    async look(page, clicks) {
      await clicks.link('people');
      await clicks.on(page.getByRole('button', { name: 'Make it at delta 1e-5' }));
      await page.getByRole('region', { name: 'Text of the statement' }).waitFor();
      const saved = page.waitForEvent('download');
      await clicks.on(page.getByRole('button', { name: 'JSON', exact: true }));
      assert.match((await saved).suggestedFilename(), /^privacy-statement-people\.json$/);
    },
  },
];

for (const { question, look } of QUESTIONS) {
  test(`at most three clicks: ${question}`, async () => {
    const server = await sharedServer();
    await onPage(server, '/', (page) => look(page, clicking(page)));
  });
}

test('each of the ten questions has a command', async () => {
  const server = await sharedServer();
  assert.equal(QUESTIONS.length, 10);
  for (const { command } of QUESTIONS) await server.epsctl(...command);
});
