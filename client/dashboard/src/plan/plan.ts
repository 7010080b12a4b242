// A plan that somebody considers: typed into fields, kept in the address, never charged here.

import type { ApiError } from '../api/client';
import type { CountedEvent, MechanismEvent, RelationKind } from '../api/messages';
import { query } from '../router';

/** As typed; empty if nothing was typed. */
export interface Plan {
  noise: string;
  /** Empty: every record in every step. */
  sampling: string;
  steps: string;
  /** The target epsilon. */
  target: string;
  relation: RelationKind;
}

export type PlanField = 'noise' | 'sampling' | 'steps' | 'target';

/** The plan in the address; missing parts come from `otherwise`. */
export function planOfQuery(otherwise: Partial<Plan> = {}): Plan {
  const said = (name: keyof Plan) => query.value.get(name) ?? otherwise[name] ?? '';
  const relation = said('relation');
  return {
    noise: said('noise'),
    sampling: said('sampling'),
    steps: said('steps'),
    target: said('target'),
    relation: relation === '' ? 'ADD_OR_REMOVE_ONE' : (relation as RelationKind),
  };
}

/** What is wrong with the input before any server sees it; the server checks the ranges. */
export function typingProblem(field: PlanField, text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  if (field === 'steps') {
    return /^\d{1,16}$/.test(trimmed) ? undefined : 'want a whole number, such as 1000';
  }
  return Number.isFinite(Number(trimmed)) ? undefined : 'want a number';
}

function numberIn(field: PlanField, text: string): number | undefined {
  if (text.trim() === '' || typingProblem(field, text) !== undefined) return undefined;
  return Number(text);
}

/** One step of the plan; undefined while there is no noise multiplier. */
export function eventOfPlan(plan: Plan): MechanismEvent | undefined {
  const noiseMultiplier = numberIn('noise', plan.noise);
  if (noiseMultiplier === undefined) return undefined;
  const gaussian = { gaussian: { noiseMultiplier } };
  if (plan.sampling.trim() === '') return gaussian;
  const samplingProbability = numberIn('sampling', plan.sampling);
  if (samplingProbability === undefined) return undefined;
  return { poissonSampled: { samplingProbability, event: gaussian } };
}

export function eventsOfPlan(plan: Plan): CountedEvent[] | undefined {
  const event = eventOfPlan(plan);
  if (event === undefined || numberIn('steps', plan.steps) === undefined) return undefined;
  return [{ event, count: plan.steps.trim() }];
}

export function targetOfPlan(plan: Plan): number | undefined {
  return numberIn('target', plan.target);
}

/** The plan that continues with the last event of a history, if the fields can express it. */
export function planOfHistory(history: readonly CountedEvent[]): Partial<Plan> {
  const event = history.at(-1)?.event;
  const sampled = event?.['poissonSampled'] as Fields | undefined;
  const inner = sampled === undefined ? event : (sampled['event'] as Fields | undefined);
  const gaussian = inner?.['gaussian'] as Fields | undefined;
  if (gaussian === undefined) return {};
  return {
    noise: String(gaussian['noiseMultiplier'] ?? ''),
    sampling: sampled === undefined ? '' : String(sampled['samplingProbability'] ?? ''),
  };
}

type Fields = Record<string, unknown>;

/** Which field the server rejects, and in which words: "got 2, want in [0, 1]". */
export function fieldProblem(
  error: ApiError | undefined,
): { field: PlanField | 'delta'; words: string } | undefined {
  // "Events[0].event.poissonSampled.samplingProbability: got 2, want in [0, 1]."
  const match = /^([\w[\].]+): (.+?)\.?$/.exec(error?.message ?? '');
  const words = match?.[2];
  const last = match?.[1]?.split('.').at(-1)?.toLowerCase();
  if (words === undefined || last === undefined) return undefined;
  const fields: Record<string, PlanField | 'delta'> = {
    noisemultiplier: 'noise',
    samplingprobability: 'sampling',
    count: 'steps',
    epsilon: 'target',
    delta: 'delta',
    epsilonatdelta: 'delta',
  };
  const field = fields[last];
  return field === undefined ? undefined : { field, words };
}
