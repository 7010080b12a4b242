// Writes src/glossary/entries.ts: the words that the pages explain, as `epsctl explain` explains
// them. Their one source is client/cli/glossary/glossary_entries.cc; build.sh copies it here.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

/** The words that pages use: by kind and name, as in the source. */
const WORDS = [
  ['Term', 'epsilon'],
  ['Term', 'delta'],
  ['Term', 'cap'],
  ['Term', 'privacy-unit'],
  ['Term', 'neighbors'],
  ['Term', 'renyi-divergence'],
  ['Term', 'accountant'],
  ['Term', 'true-positive-rate'],
  ['Term', 'false-positive-rate'],
  ['Term', 'mu'],
  ['Term', 'attempt'],
  ['Term', 'lease'],
  ['Term', 'declared'],
  ['Term', 'adaptive'],
  ['Term', 'filter'],
  ['Term', 'supersede'],
  ['Term', 'statement'],
  ['Term', 'canary'],
  ['Term', 'noise-multiplier'],
  ['Term', 'sampling-probability'],
  ['Term', 'trade-off-function'],
  ['Term', 'privacy-profile'],
  ['Refusal', 'budget-exhausted'],
  ['Refusal', 'budget-frozen'],
  ['Refusal', 'closed'],
  ['Refusal', 'not-in-plan'],
  ['Refusal', 'attempt-fenced'],
  ['Refusal', 'event-not-chargeable'],
  ['Refusal', 'batch-refused'],
  ['Refusal', 'policy-violation'],
  ['Refusal', 'budget-superseded'],
];

const SOURCES = ['glossary_entries.cc', '../cli/glossary/glossary_entries.cc'];
const path = SOURCES.find((one) => existsSync(one));
if (path === undefined) throw new Error(`none of ${SOURCES.join(', ')} is there`);
const source = readFileSync(path, 'utf8');

// {kTerm, "name", "text", "remedy", "source"}, each text in one or more literals.
const literal = String.raw`"(?:[^"\\]|\\.)*"`;
const literals = String.raw`((?:\s*${literal})+)`;
const entry = new RegExp(
  String.raw`\{k(\w+),\s*(${literal}),${literals},${literals},${literals}\}`,
  'g',
);
const text = (found) =>
  [...found.matchAll(new RegExp(literal, 'g'))].map(([one]) => JSON.parse(one)).join('');
const known = new Map();
for (const [, kind, name, meaning, remedy, proof] of source.matchAll(entry)) {
  known.set(`${kind} ${text(name)}`, [meaning, remedy, proof].map(text));
}

const lines = WORDS.map(([kind, name]) => {
  const found = known.get(`${kind} ${name}`);
  if (found === undefined) throw new Error(`${path} does not explain the ${kind} ${name}`);
  return `  '${name}': ${JSON.stringify(found)},`;
});
mkdirSync('src/glossary', { recursive: true });
writeFileSync(
  'src/glossary/entries.ts',
  `// Written by scripts/glossary.mjs from client/cli/glossary/glossary_entries.cc: change it there.

/** By name: the meaning, what to do about it, and its source; the last two may be empty. */
export const ENTRIES = {
${lines.join('\n')}
} as const satisfies Record<string, readonly [string, string, string]>;
export type Word = keyof typeof ENTRIES;
`,
);
