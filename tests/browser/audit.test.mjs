// The ledger in words: what happened, who did it, what was refused, and what the words mean.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onPage, settled } from './browser.mjs';
import { sharedServer } from './ledger_server.mjs';

test('every entry is a sentence, and prices are left out unless they are asked for', async () => {
  const server = await sharedServer();
  await onPage(server, '/budgets/people/audit', async (page) => {
    await page.getByText('charged people/first for 600 steps: Gaussian, noise multiplier 1.1').waitFor();
    await page.getByText('created the budget children below people').waitFor();
    const without = await page.locator('tbody tr').count();
    await page.getByLabel('What', { exact: true }).selectOption('everything');
    await page.getByText(/had an event of people\/first priced/).first().waitFor();
    assert.ok((await page.locator('tbody tr').count()) > without);
    // Nothing is of a kind that the page does not know.
    await page.getByLabel('What', { exact: true }).selectOption('other');
    await page.getByText('No entry of these matches.').waitFor();
  });
});

test('entries are found by words, by kind and by person, and the address keeps it', async () => {
  const server = await sharedServer();
  await onPage(server, '/budgets/people/audit', async (page) => {
    await page.getByLabel('Find').fill('block-2');
    await page.getByText(/^1 entry of /).waitFor();
    assert.match(page.url(), /find=block-2/);
    await page.getByLabel('Find').fill('');
    await page.getByLabel('What', { exact: true }).selectOption('refusal');
    await page.getByText(/was refused 100,000 steps in people\/first/).waitFor();
    await page.getByLabel('Who', { exact: true }).selectOption('Somebody on this machine');
    await page.getByText(/was refused 100,000 steps in people\/first/).waitFor();
  });
});

test('a date before the first entry shows the first one', async () => {
  const server = await sharedServer();
  await onPage(server, '/budgets/people/audit', async (page) => {
    await page.getByText(/the ledger of people has/).waitFor();
    await page.getByLabel('Up to the day').fill('2020-01-01');
    await page.getByRole('button', { name: 'Newest' }).waitFor();
    await page.getByText(/^1 entry of 1 to 1;/).waitFor();
    await page.getByRole('button', { name: 'Newest' }).click();
    await page.getByText(/was refused 100,000 steps in people\/first/).waitFor();
  });
});

test('a session shows who charged it', async () => {
  const server = await sharedServer();
  await onPage(server, '/budgets/people/sessions/first', async (page) => {
    await page.getByRole('heading', { name: 'Who did what' }).waitFor();
    const row = page.getByRole('row', { name: /Somebody on this machine/ }).first();
    await row.waitFor();
    // Four charges, the lease included, and one refusal.
    assert.match(await row.innerText(), /4\s+1\s/);
  });
});

test('refusals are filtered by their reason', async () => {
  const server = await sharedServer();
  await onPage(server, '/refusals', async (page) => {
    await page.getByLabel('Find').fill('too-much');
    await page.getByText('1 refusal', { exact: true }).waitFor();
    await page.getByRole('row', { name: /children\/too-much/ }).waitFor();
    await page.getByLabel('Find').fill('nothing like it');
    await page.getByText('No refusal of these matches.').waitFor();
  });
});

test('a word says what it means when it is focused, and no longer after Escape', async () => {
  const server = await sharedServer();
  await onPage(server, '/budgets/people', async (page) => {
    await settled(page);
    await page.getByRole('button', { name: 'Epsilon', exact: true }).focus();
    const tip = page.getByRole('tooltip');
    await tip.waitFor();
    assert.match(await tip.innerText(), /epsctl explain epsilon/);
    await page.keyboard.press('Escape');
    await tip.waitFor({ state: 'detached' });
  });
});
