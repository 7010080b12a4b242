// A budget with more sessions than an answer of the server holds: pages, search and groups.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onPage, PHONE, settled } from './browser.mjs';
import { serverWithSessions } from './many_sessions.mjs';

const MANY = 226;
let made;

/** Started once, by the first test that asks for it. */
function manySessions() {
  made ??= serverWithSessions(MANY);
  return made;
}

const ALL = '/budgets/company';
const sessions = (page) => page.getByRole('region', { name: 'Sessions (table)', exact: true });
const place = (page, words) => page.getByText(words, { exact: true }).waitFor();
const press = (page, name) => page.getByRole('button', { name, exact: true }).click();

test('sessions are shown a page at a time, across the answers of the server', async () => {
  const server = await manySessions();
  await onPage(server, ALL, async (page) => {
    await place(page, '1 to 20 of 222');
    assert.equal(await sessions(page).locator('tbody tr').count(), 20);
    const seen = new Set();
    for (let first = 1; first <= 222; first += 20) {
      await place(page, `${first} to ${Math.min(222, first + 19)} of 222`);
      await settled(page);
      for (const name of await sessions(page).locator('tbody th a').allInnerTexts()) seen.add(name);
      if (first + 20 <= 222) await press(page, 'Next');
    }
    assert.equal(seen.size, 222);
    assert.ok(await page.getByRole('button', { name: 'Next', exact: true }).isDisabled());
    await press(page, 'Previous');
    await place(page, '201 to 220 of 222');
    await press(page, 'Previous');
    await place(page, '181 to 200 of 222');
    await press(page, 'First');
    await place(page, '1 to 20 of 222');
  });
});

test('a label finds its sessions, and groups add them up', async () => {
  const server = await manySessions();
  await onPage(server, ALL, async (page) => {
    await sessions(page).getByRole('button', { name: 'team=ads' }).first().click();
    await place(page, '76 sessions, here and below');
    assert.equal(await page.getByLabel('Find').inputValue(), 'team=ads');
    await page.getByLabel('Group by').selectOption('model');
    const groups = page.getByRole('region', { name: 'Groups of sessions (table)' });
    assert.equal(await groups.locator('tbody tr').count(), 3);
    await groups.getByRole('button', { name: 'model=small' }).click();
    await settled(page);
    assert.equal(await page.getByLabel('Find').inputValue(), 'model=small');
    await sessions(page).locator('tbody tr').first().waitFor();
  });
});

test('on a phone no page is longer than twenty screens', async () => {
  const server = await manySessions();
  for (const route of ['/', ALL, '/budgets/company/audit', '/refusals']) {
    await onPage(
      server,
      route,
      async (page) => {
        await settled(page);
        const height = await page.evaluate(() => document.documentElement.scrollHeight);
        assert.ok(height < 20 * PHONE.height, `${route}: ${height} px`);
      },
      { viewport: PHONE },
    );
  }
});
