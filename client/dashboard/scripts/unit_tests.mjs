// Bundles src/**/*.test.ts with esbuild and runs them with node:test: no test framework is needed.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const out = 'node_modules/.cache/unit-tests';
const tests = readdirSync('src', { recursive: true })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join('src', name));
await build({
  entryPoints: tests,
  outdir: out,
  outbase: 'src',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node18',
});
const files = tests.map((name) => join(out, name.replace(/^src\//, '').replace(/\.ts$/, '.mjs')));
const run = spawnSync(process.execPath, ['--test', ...files], { stdio: 'inherit' });
process.exit(run.status ?? 1);
