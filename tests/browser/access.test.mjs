// Who may look.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onPage } from './browser.mjs';
import { LedgerServer } from './ledger_server.mjs';

test('a token is asked for, checked, kept where no script reads it, and given back', async () => {
  const server = await LedgerServer.start(['--require-tokens']);
  server.token = await server.createToken('admin', ['--tenant', 'lab']);
  await server.run();
  await server.epsctl(
    'budget', 'create', 'secret', '--rho', '0.5', '--relation', 'add-or-remove-one', '--privacy-unit', 'person',
  );
  // The browser itself notes that the server answered 401.
  const forgiven = (problem) => problem.includes('status of 401');
  const look = async (page) => {
    const heading = page.getByRole('heading', { name: /log in/i });
    await heading.waitFor();
    assert.doesNotMatch(await page.locator('body').innerText(), /secret/);
    await page.getByRole('textbox', { name: 'Token' }).fill(`epsl_${'x'.repeat(40)}`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').filter({ hasText: /not valid/ }).waitFor();

    await page.getByRole('textbox', { name: 'Token' }).fill(server.token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('link', { name: 'secret', exact: true }).waitFor();
    await page.locator('.connection-live').waitFor();
    const kept = await page.evaluate(() =>
      JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href]),
    );
    assert.ok(!kept.includes(server.token));
    const [cookie] = await page.context().cookies();
    assert.equal(cookie.httpOnly, true);
    assert.equal(cookie.sameSite, 'Strict');

    // It outlives a reload, and ends with the log-out.
    await page.reload();
    await page.getByRole('link', { name: 'secret', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await heading.waitFor();
    assert.doesNotMatch(await page.locator('body').innerText(), /secret/);
    assert.deepEqual(await page.context().cookies(), []);
    await page.reload();
    await heading.waitFor();
  };
  await onPage(server, '/', look, { forgiven });
  await server.stop();
});

test('a token of the tenant without a name finds the way out too', async () => {
  const server = await LedgerServer.start(['--require-tokens']);
  const token = await server.createToken('viewer');
  await server.run();
  const forgiven = (problem) => problem.includes('status of 401');
  const look = async (page) => {
    await page.getByRole('textbox', { name: 'Token' }).fill(token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor();
    await page.getByRole('button', { name: 'Log out' }).waitFor();
  };
  await onPage(server, '/', look, { forgiven });
  await server.stop();
});
