// Every page, in light, in dark and on a phone: readable by everybody, and in one piece.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { onPage, PHONE, settled } from './browser.mjs';
import { sharedServer } from './ledger_server.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pictures = process.env.EPSLEDGER_SCREENSHOTS;
if (pictures !== undefined) mkdirSync(pictures, { recursive: true });

const SESSION = '/budgets/people/sessions/first';
const PAGES = {
  overview: '/',
  budget: '/budgets/people',
  'budget-empty': '/budgets/empty',
  session: SESSION,
  'session-declared': '/budgets/children/sessions/plan',
  'session-as-published': '/budgets/published/sessions/as-published',
  'trade-off': `${SESSION}/trade-off`,
  'trade-off-linear': `${SESSION}/trade-off?view=linear`,
  'trade-off-uncharged': '/budgets/children/sessions/plan/trade-off',
  profile: `${SESSION}/profile`,
  compare: `${SESSION}/compare`,
  'compare-events': '/compare?noise=1.1&sampling=0.01&steps=1000',
  planner: `${SESSION}/planner?noise=1.1&sampling=0.01&steps=100&target=3`,
  'planner-empty': '/planner',
  refusals: '/refusals',
  'refusals-of-budget': '/budgets/people/refusals',
  audit: '/budgets/people/audit',
  server: '/server',
  login: '/login',
  'not-found': '/no/such/page',
};

async function picture(page, name) {
  if (pictures === undefined) return;
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

/** What axe finds, one line each. */
async function accessProblems(page) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const violations = await page.evaluate(async () => {
    const found = await window.axe.run(document, { resultTypes: ['violations'] });
    if (found.passes.length === 0) throw new Error('axe looked at nothing');
    return found.violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      where: nodes.map((node) => `${node.target.join(' ')}: ${node.any[0]?.message ?? ''}`),
    }));
  });
  return violations.map(({ id, impact, where }) => `${impact} ${id}: ${where.join(' | ')}`);
}

test('every page is readable in light, in dark and on a phone', { concurrency: 3 }, async (t) => {
  const server = await sharedServer();
  await Promise.all(
    Object.entries(PAGES).map(([name, route]) => t.test(name, () => look(server, name, route))),
  );
});

async function look(server, name, route) {
  await onPage(server, route, async (page) => {
    await settled(page);
    assert.deepEqual(await accessProblems(page), [], 'in light');
    await picture(page, `${name}-light`);

    // As the system turns dark, with the page open.
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
    assert.deepEqual(await accessProblems(page), [], 'in dark');
    await picture(page, `${name}-dark`);

    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(PHONE);
    // Charts follow their box a moment later.
    await page.waitForFunction(
      (most) => document.scrollingElement.scrollWidth <= most,
      PHONE.width,
    );
    assert.deepEqual(await accessProblems(page), [], 'on a phone');
    await picture(page, `${name}-phone`);
  });
}
