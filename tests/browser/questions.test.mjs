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

const main = (page) => page.locator('main');

const QUESTIONS = [
  {
    question: 'Who spent most last week?',
    command: ['budget', 'list'],
    async look(page, clicks) {
      await clicks.choose(page.getByLabel('Spending of'), '7');
      await clicks.on(page.getByRole('button', { name: 'Last 7 days' }));
      await page.locator('th[aria-sort="descending"]', { hasText: 'Last 7 days' }).waitFor();
      // Everything on this server was spent today.
      assert.match(await page.locator('tbody tr').first().innerText(), /since today/);
    },
  },
  {
    question: 'What may still be spent?',
    command: ['budget', 'get', 'people'],
    async look(page, clicks) {
      await clicks.link('people');
      await page.getByRole('heading', { name: 'Cap' }).waitFor();
      await main(page).getByText('Remaining', { exact: true }).first().waitFor();
    },
  },
  {
    question: 'What was refused, and why?',
    command: ['watch', '--help'],
    async look(page, clicks) {
      await clicks.link('Refusals');
      await clicks.choose(page.getByLabel('Why'), 'BUDGET_EXHAUSTED');
      await page.getByText('no room left under a cap').first().waitFor();
    },
  },
  {
    question: 'Prove this to an auditor.',
    command: ['ledger', 'verify', 'people'],
    async look(page, clicks) {
      await clicks.link('people');
      await clicks.link('Everything, with search and filters');
      await clicks.on(page.getByRole('button', { name: 'Verify this ledger' }));
      await page.getByText('It verifies.').waitFor();
    },
  },
  {
    question: 'Which budgets need me now?',
    command: ['budget', 'list'],
    async look(page) {
      await page.getByRole('region', { name: 'Needs attention' }).waitFor();
    },
  },
  {
    question: 'When will this budget be spent?',
    command: ['budget', 'get', 'people'],
    async look(page, clicks) {
      await clicks.link('people');
      await page.getByRole('heading', { name: 'Spent over days' }).waitFor();
      // One day is no rate.
      await page.getByText('Everything was spent today: one day is no rate.').waitFor();
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
    question: 'What can an attacker learn about one person?',
    command: ['budget', 'get', 'people'],
    async look(page, clicks) {
      await clicks.link('people');
      await clicks.link('first');
      await clicks.link('Trade-off curve');
      await page.getByText(/at 1% false alarms catches at most/).first().waitFor();
    },
  },
  {
    question: 'Would this training fit?',
    command: ['charge', 'preview', 'people/first', '--gaussian', '1.1', '--sampling-probability', '0.01'],
    async look(page, clicks) {
      await clicks.link('people');
      await clicks.link('first');
      await clicks.link('What if');
      await page.getByLabel('Noise multiplier').waitFor();
    },
  },
  {
    question: 'What do I give to the people whose data it is?',
    command: ['statement', 'get', 'people', '--delta', '1e-5'],
    async look(page, clicks) {
      await clicks.link('people');
      await clicks.on(page.getByRole('button', { name: 'Make it at delta 1e-5' }));
      await page.getByRole('region', { name: 'Text of the statement' }).waitFor();
      await clicks.on(page.getByRole('button', { name: 'HTML' }));
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
