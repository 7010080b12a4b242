// The order of sessions in a table.

import { countOf, numberOf, type SessionReading } from '../../api/messages';
import type { SessionOrder } from '../../api/sessions';

/** What sorts the table. */
export type SessionSortKey = 'name' | 'state' | 'epsilon' | 'share' | 'steps' | 'refused';

/** The order that the server knows; undefined for numbers that it would have to compute for all. */
export function serverOrder(key: SessionSortKey): SessionOrder | undefined {
  switch (key) {
    case 'name':
      return 'NAME';
    case 'state':
      return 'STATE';
    case 'steps':
      return 'STEP_COUNT';
    case 'refused':
      return 'REFUSED_CHARGE_COUNT';
    default:
      return undefined;
  }
}

/** Equal sessions keep their order; sessions without such a number are last. */
export function sortedSessions(
  sessions: readonly SessionReading[],
  key: SessionSortKey,
  isDescending: boolean,
): SessionReading[] {
  const sign = isDescending ? -1 : 1;
  return [...sessions].sort((a, b) => {
    const left = valueOf(key, a);
    const right = valueOf(key, b);
    if (left === right) return 0;
    if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
    return (left < right ? -1 : 1) * sign;
  });
}

function valueOf(key: SessionSortKey, { session, reading, renyiDivergence }: SessionReading) {
  switch (key) {
    case 'name':
      return session.name;
    case 'state':
      return session.state ?? '';
    case 'epsilon':
      return numberOf(reading?.guarantee?.upper);
    case 'share':
      return numberOf(renyiDivergence?.upper);
    case 'steps':
      return countOf(session.stepCount);
    case 'refused':
      return countOf(session.refusedChargeCount);
  }
}
