// A mechanism event in words.

import type { MechanismEvent } from '../api/messages';
import { count } from './numbers';

type Fields = Record<string, unknown>;

/** A number of an event as the client gave it: it is exact, so it is not rounded. */
function exact(value: unknown): string {
  return value === undefined ? '0' : String(value);
}

function inner(fields: Fields): string {
  return eventWords(fields['event'] as MechanismEvent | undefined);
}

const WORDS: Record<string, (fields: Fields) => string> = {
  gaussian: (f) => `Gaussian, noise multiplier ${exact(f['noiseMultiplier'])}`,
  laplace: (f) => `Laplace, noise multiplier ${exact(f['noiseMultiplier'])}`,
  pureDp: (f) => `any pure epsilon ${exact(f['epsilon'])}`,
  approximateDp: (f) => `any (${exact(f['epsilon'])}, ${exact(f['delta'])})-DP`,
  zcdp: (f) => `any zCDP of rho ${exact(f['rho'])}`,
  gaussianDp: (f) => `any ${exact(f['mu'])}-GDP`,
  poissonSampled: (f) =>
    `${inner(f)}; Poisson-sampled with probability ${exact(f['samplingProbability'])}`,
  truncatedPoissonSampled: (f) =>
    `${inner(f)}; truncated Poisson sampling with probability ${exact(f['samplingProbability'])}`,
  sampledWithoutReplacement: (f) =>
    `${inner(f)}; ${exact(f['sampleSize'])} of ${exact(f['datasetSize'])} without replacement`,
  sampledWithReplacement: (f) =>
    `${inner(f)}; ${exact(f['sampleSize'])} of ${exact(f['datasetSize'])} with replacement`,
  randomAllocation: (f) =>
    `${inner(f)}; each record in ${exact(f['selected'])} of ${exact(f['rounds'])} rounds`,
  selfComposed: (f) => `${count(f['count'] as string | undefined)} × (${inner(f)})`,
  composed: (f) => {
    const events = (f['events'] ?? []) as { event?: MechanismEvent; count?: string }[];
    return `composed: ${events.map((e) => `${count(e.count)} × (${eventWords(e.event)})`).join(', ')}`;
  },
  repeatAndSelect: (f) => `the best of ${exact(f['mean'])} expected runs of (${inner(f)})`,
  shuffled: (f) => `${exact(f['reports'])} shuffled reports of (${inner(f)})`,
  matrixMechanism: (f) =>
    `matrix mechanism over ${exact(f['steps'])} steps, noise multiplier ${exact(f['noiseMultiplier'])}; each unit in at most ${exact(f['maxParticipations'])}, at least ${exact(f['minSeparation'])} apart`,
  unverifiedClaim: (f) =>
    `unverified claim of (${exact(f['epsilon'])}, ${exact(f['delta'])})-DP${quoted(f['citation'])}`,
  dominatingPair: (f) =>
    `any mechanism dominated by a pair of laws on ${((f['firstProbabilities'] ?? []) as unknown[]).length} outcomes`,
  nonPrivate: (f) => `release without privacy${quoted(f['reason'])}`,
};

function quoted(text: unknown): string {
  return typeof text === 'string' && text !== '' ? `: ${text}` : '';
}

/** "Gaussian, noise multiplier 1.1; Poisson-sampled with probability 0.01". */
export function eventWords(event: MechanismEvent | undefined): string {
  const [kind, fields] = Object.entries(event ?? {})[0] ?? [];
  if (kind === undefined) return 'unknown event';
  const known = WORDS[kind];
  if (known !== undefined) return known((fields ?? {}) as Fields);
  // An event that this page has no words for: its name and its numbers.
  const name = kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const numbers = Object.entries((fields ?? {}) as Fields)
    .filter(([, value]) => typeof value !== 'object')
    .map(
      ([key, value]) => `${key.replace(/[A-Z]/g, (l) => ` ${l.toLowerCase()}`)} ${String(value)}`,
    );
  return numbers.length === 0 ? name : `${name}, ${numbers.join(', ')}`;
}
