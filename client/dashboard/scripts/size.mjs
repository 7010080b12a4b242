// The size of the application when sent: every file of dist/, gzipped, against its budget.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const BUDGET_BYTES = 80_000;

let total = 0;
for (const file of readdirSync('dist', { recursive: true, withFileTypes: true })) {
  if (!file.isFile()) continue;
  const path = join(file.parentPath ?? file.path, file.name);
  const bytes = gzipSync(readFileSync(path), { level: 9 }).length;
  total += bytes;
  console.log(`${String(bytes).padStart(7)}  ${path}`);
}
console.log(`${String(total).padStart(7)}  gzip in all, of ${BUDGET_BYTES}`);
if (total > BUDGET_BYTES) {
  console.error(`too large by ${total - BUDGET_BYTES} bytes`);
  process.exit(1);
}
