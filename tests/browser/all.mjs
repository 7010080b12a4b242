// Every test, in one process: they share a browser and a ledger that is not changed by the reading ones.

import { after } from 'node:test';
import { closeBrowser } from './browser.mjs';
import { stopServers, servesDashboard } from './ledger_server.mjs';

if (!(await servesDashboard())) {
  await stopServers();
  console.log('skipped: the server was built without the dashboard');
  process.exit(77);
}

after(async () => {
  await closeBrowser();
  await stopServers();
});

await import('./reading.test.mjs');
await import('./questions.test.mjs');
await import('./audit.test.mjs');
await import('./sessions.test.mjs');
await import('./keyboard.test.mjs');
await import('./requests.test.mjs');
await import('./live.test.mjs');
await import('./resume.test.mjs');
await import('./access.test.mjs');
await import('./first_paint.test.mjs');
await import('./pages.test.mjs');
