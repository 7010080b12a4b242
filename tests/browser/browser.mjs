// One browser for all tests; every page is watched for errors.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const DESK = { width: 1280, height: 800 };
export const PHONE = { width: 360, height: 740 };

let browser;

function launched() {
  browser ??= chromium.launch({
    executablePath: process.env.EPSLEDGER_CHROMIUM,
    headless: true,
    args: ARGUMENTS,
  });
  return browser;
}

export async function closeBrowser() {
  if (browser !== undefined) await (await browser).close();
}

/** A build of the dashboard to look at in place of the one in the server: its folder dist. */
const dashboard = process.env.EPSLEDGER_DASHBOARD;

const policies = new Map();

/** The policy under which a server serves its own page. */
function policyOf(origin) {
  if (!policies.has(origin)) {
    policies.set(
      origin,
      fetch(origin).then((answer) => answer.headers.get('content-security-policy') ?? ''),
    );
  }
  return policies.get(origin);
}

/** Answers "/" and "/assets/*" from the folder, under the policy of the server. */
async function serveDashboard(context) {
  if (dashboard === undefined) return;
  await context.route(/^https?:\/\/[^/]+\/($|assets\/)/, async (route) => {
    const { origin, pathname } = new URL(route.request().url());
    const answer = {
      path: join(dashboard, pathname === '/' ? 'index.html' : pathname),
      headers: { 'content-security-policy': await policyOf(origin) },
    };
    // The page may have been closed meanwhile.
    await route.fulfill(answer).catch(() => undefined);
  });
}

/**
 * A page in a context of its own. `page.problems` gathers what the console calls an error and what the
 * policy of the page forbids.
 */
export async function newPage({ theme = 'light', viewport = DESK } = {}) {
  const context = await (await launched()).newContext({ colorScheme: theme, viewport });
  await serveDashboard(context);
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  const page = await context.newPage();
  // The first curve of a session is seconds of computing, more on a busy machine.
  page.setDefaultTimeout(120_000);
  page.problems = [];
  page.on('console', (message) => {
    if (message.type() === 'error') page.problems.push(`${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => page.problems.push(`${error.name}: ${error.message}`));
  return page;
}

/** Runs `look` on a new page of `server` at a route, and closes it; nothing may have gone wrong. */
export async function onPage(server, route, look, options = {}) {
  const page = await newPage(options);
  try {
    await page.goto(`${server.url}/#${route}`);
    await page.waitForSelector('h1');
    await look(page);
    const forgiven = options.forgiven ?? (() => false);
    assert.deepEqual(page.problems.filter((problem) => !forgiven(problem)), []);
  } finally {
    await page.context().close();
  }
}

/** When nothing is loading any more. */
export async function settled(page) {
  await page.waitForFunction(
    () =>
      document.querySelector('h1') !== null &&
      // Three dots, or one sign for them.
      !/(Loading|Asking)[^.]*(…|\.\.\.)/.test(document.querySelector('main')?.innerText ?? '…') &&
      ![...document.querySelectorAll('main td')].some((cell) => cell.textContent.trim() === '…'),
  );
}
