// Refused charges and plans, as one list.

import { countOf, type Charge, type LedgerChange, type ListRefusalsResponse } from './messages';

export function isRefusal(change: LedgerChange): boolean {
  return change.charge?.decision === 'REFUSED' || change.refusedSession !== undefined;
}

/** The newest first. A refused plan has no event and is named as its session would have been. */
export function refusedIn(page: ListRefusalsResponse): Charge[] {
  const plans = (page.refusedSessions ?? []).map(
    ({ refusedSession, sequence, time }): Charge => ({
      name: refusedSession?.name ?? '',
      decision: 'REFUSED',
      refusal: refusedSession?.refusal,
      sequence,
      createTime: time,
    }),
  );
  return [...(page.charges ?? []), ...plans].sort(
    (a, b) => countOf(b.sequence) - countOf(a.sequence),
  );
}
