// Looks at every page of a ledger with many sessions: look.mjs SESSIONS
//
// Prints a table of Markdown: the requests of each page, how long it took to settle with empty
// caches, and its height on a phone. With EPSLEDGER_SCREENSHOTS it takes pictures too, in light and
// dark, on a desk and on a phone. EPSLEDGER_BUILD_DIR and EPSLEDGER_CHROMIUM as in run.sh.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeBrowser, newPage, settled } from './browser.mjs';
import { stopServers } from './ledger_server.mjs';
import { serverWithSessions } from './many_sessions.mjs';

const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** A page has settled when nothing was asked for so long. */
const QUIET_MS = 700;
const ROUNDS = Number(process.env.EPSLEDGER_ROUNDS ?? 3);

const RUN = '/budgets/team-ads/sessions/run-00001';
const FIRST = '/budgets/people/sessions/first';
const PAGES = {
  overview: '/',
  'budget of all sessions': '/budgets/company',
  'budget of a team': '/budgets/team-ads',
  'a small budget': '/budgets/people',
  'session of one charge': RUN,
  'session of DP-SGD': FIRST,
  'trade-off curve': `${FIRST}/trade-off`,
  'privacy profile': `${FIRST}/profile`,
  'accountants of a session': `${FIRST}/compare`,
  'what if': `${FIRST}/planner`,
  refusals: '/refusals',
  'audit of the largest ledger': '/budgets/company/audit',
  planner: '/planner?noise=1.1&sampling=0.01&steps=1000&target=3',
  compare: '/compare?noise=1.1&sampling=0.01&steps=1000',
  server: '/server',
  login: '/login',
  'no such page': '/no/such/page',
};

const pictures = process.env.EPSLEDGER_SCREENSHOTS;

/** Opens a page with empty caches: it, the requests that it made, and when the last had ended. */
async function open(server, route) {
  const page = await newPage({ viewport: DESK });
  let requests = 0;
  let underWay = 0;
  let last = 0;
  const isStream = (request) => request.url().includes('/v1/events');
  page.on('request', (request) => {
    requests += 1;
    if (!isStream(request)) underWay += 1;
  });
  const ended = (request) => {
    if (isStream(request)) return;
    underWay -= 1;
    last = performance.now();
  };
  page.on('requestfinished', ended);
  page.on('requestfailed', ended);
  const begin = performance.now();
  await page.goto(`${server.url}/#${route}`);
  await settled(page);
  let shown = performance.now();
  while (underWay > 0 || performance.now() - last < QUIET_MS) {
    await sleep(50);
    if (last > shown) {
      await settled(page);
      shown = Math.max(last, shown);
    }
  }
  return { page, requests, ms: Math.max(last, shown) - begin };
}

async function take(page, name) {
  if (pictures === undefined) return;
  const file = name.replaceAll(' ', '-');
  for (const [width, viewport] of [['1440', DESK], ['390', PHONE]]) {
    await page.setViewportSize(viewport);
    for (const theme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme: theme });
      await page.waitForFunction((wanted) => (document.documentElement.dataset.theme ?? 'light') === wanted, theme);
      // Charts follow their box a moment later.
      await sleep(150);
      await page.screenshot({ path: join(pictures, `${file}-${width}-${theme}.png`), fullPage: true });
    }
  }
}

async function look(server, name, route) {
  const times = [];
  let requests = 0;
  let height = 0;
  for (let round = 0; round < ROUNDS; ++round) {
    const opened = await open(server, route);
    times.push(opened.ms);
    requests = opened.requests;
    if (round === 0) {
      await opened.page.setViewportSize(PHONE);
      await sleep(300);
      height = await opened.page.evaluate(() => document.documentElement.scrollHeight);
      await take(opened.page, name);
      for (const problem of opened.page.problems) console.error(`${name}: ${problem}`);
    }
    await opened.page.context().close();
  }
  const median = times.sort((a, b) => a - b)[times.length >> 1];
  console.log(`| ${name} | ${requests} | ${Math.round(median)} | ${height.toLocaleString('en-US')} |`);
}

const count = Number(process.argv[2] ?? 226);
if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
try {
  const server = await serverWithSessions(count);
  const told = await server.get('/v1/server');
  console.log(`${told.budgetCount} budgets, ${told.sessionCount} sessions, ${told.entryCount} entries\n`);
  console.log('| page | requests | ms to settle | px high on a phone |\n|---|---|---|---|');
  for (const [name, route] of Object.entries(PAGES)) await look(server, name, route);
} finally {
  await closeBrowser();
  await stopServers();
}
