// Sessions added up by their group or by the value of a label.

import { countOf, numberOf, type Session, type SessionReading } from '../../api/messages';

/** What sessions are grouped by if not by a label: the searches that they belong to. */
export const BY_GROUP = 'group';

export interface SessionGroup {
  /** The search that finds its sessions; empty for those that have no such label. */
  text: string;
  title: string;
  sessionCount: number;
  steps: number;
  refused: number;
  /** The divergences of its sessions added up; undefined if one of them is not known. */
  divergence: number | undefined;
  /** The largest epsilon of one of its sessions: epsilons do not add up. */
  largestEpsilon: number | undefined;
}

/** What the sessions can be grouped by: the keys of their labels, and their groups. */
export function sessionKeys(readings: readonly SessionReading[]): string[] {
  const labels = new Set(readings.flatMap(({ session }) => Object.keys(session.labels ?? {})));
  labels.delete(BY_GROUP);
  const isGrouped = readings.some(({ session }) => (session.group ?? '') !== '');
  return [...[...labels].sort(), ...(isGrouped ? [BY_GROUP] : [])];
}

/** Returns the groups, the one with the largest divergence first, then by steps. */
export function sessionGroups(
  readings: readonly SessionReading[],
  key: string,
): SessionGroup[] {
  const groups = new Map<string, SessionGroup>();
  for (const { session, reading, renyiDivergence } of readings) {
    const text = textOf(session, key);
    const group = groups.get(text) ?? {
      text,
      title: text === '' ? `without ${key}` : text,
      sessionCount: 0,
      steps: 0,
      refused: 0,
      divergence: 0,
      largestEpsilon: undefined,
    };
    const divergence = numberOf(renyiDivergence?.upper);
    const epsilon = numberOf(reading?.guarantee?.upper);
    group.sessionCount += 1;
    group.steps += countOf(session.stepCount);
    group.refused += countOf(session.refusedChargeCount);
    group.divergence =
      group.divergence === undefined || divergence === undefined
        ? undefined
        : group.divergence + divergence;
    if (epsilon !== undefined) group.largestEpsilon = Math.max(group.largestEpsilon ?? 0, epsilon);
    groups.set(text, group);
  }
  return [...groups.values()].sort(
    (a, b) =>
      (b.divergence ?? Infinity) - (a.divergence ?? Infinity) ||
      b.steps - a.steps ||
      (a.title < b.title ? -1 : 1),
  );
}

function textOf(session: Session, key: string): string {
  if (key === BY_GROUP) return session.group ?? '';
  const value = session.labels?.[key];
  return value === undefined ? '' : `${key}=${value}`;
}
