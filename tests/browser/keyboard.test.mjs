// Without a pointer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onPage, settled } from './browser.mjs';
import { sharedServer } from './ledger_server.mjs';

const MOST_TABS = 500;

/** Presses Tab until `isThere` (in the page, of the focused element) says so. */
async function tabTo(page, what, isThere, argument) {
  await settled(page);  // what is drawn anew loses the focus
  for (let i = 0; i < MOST_TABS; ++i) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(isThere, argument)) {
      const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
      assert.notEqual(ring, 'none', `${what} has a visible focus`);
      return;
    }
  }
  assert.fail(`no Tab reaches ${what}`);
}

const isLink = (text) =>
  document.activeElement?.tagName === 'A' && document.activeElement.textContent.trim() === text;
const isCursor = () => document.activeElement?.getAttribute('role') === 'slider';

test('Tab, Enter and arrows reach the overview, a session and the cursor of its charts', async () => {
  const server = await sharedServer();
  await onPage(server, '/', async (page) => {
    await page.getByRole('link', { name: 'people', exact: true }).waitFor();
    await page.keyboard.press('Tab');
    assert.match(await page.evaluate(() => document.activeElement.textContent), /Skip/);
    await page.keyboard.press('Enter');
    await tabTo(page, 'the budget', isLink, 'people');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'people' }).waitFor();
    await page.getByRole('link', { name: 'first', exact: true }).waitFor();
    await tabTo(page, 'the session', isLink, 'first');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'first' }).waitFor();
    await page.locator('.curve-cursor').waitFor({ state: 'attached' });
    await tabTo(page, 'the cursor of the steps', isCursor);
    const readout = page.locator('.chart-readout');
    const newest = await readout.innerText();
    assert.match(newest, /Step 1,250: epsilon [\d.]+ at delta 1e-5/);
    await page.keyboard.press('Home');
    await page.waitForFunction(
      () => /^Step 0:/.test(document.querySelector('.chart-readout').innerText),
    );
    await page.keyboard.press('ArrowRight');
    const next = await readout.innerText();
    assert.doesNotMatch(next, /^Step 0:/);
    assert.match(next, /epsilon [\d.]+ at delta 1e-5/);
    await page.keyboard.press('Shift+Tab');
  });
});

test('the cursor of a curve says where it is to those who do not see it', async () => {
  const server = await sharedServer();
  await onPage(server, '/budgets/people/sessions/first/trade-off', async (page) => {
    const cursor = page.getByRole('slider');
    await cursor.focus();
    assert.equal(await cursor.getAttribute('aria-valuetext'), '1% false alarms');
    await page.keyboard.press('ArrowRight');
    assert.equal(await cursor.getAttribute('aria-valuetext'), '1.25% false alarms');
    assert.match(await page.locator('[aria-live=polite]', { hasText: 'attacker' }).innerText(), /1.25%/);
    await page.keyboard.press('End');
    assert.equal(await cursor.getAttribute('aria-valuetext'), '100% false alarms');
  });
});
