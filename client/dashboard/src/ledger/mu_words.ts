// The trade-off curve of a session in one number: the smallest mu of Gaussian DP.

import { get, pathOfResource, rpc } from '../api/client';
import { numberOf, type ComputeResponse, type CountedEvent, type Session } from '../api/messages';
import { isUnproven } from '../design/badge';
import { percent, roundedUp } from '../format/numbers';

/** The fit covers rates of false alarms from here to 1 minus it, as that of `epsctl attack` does. */
const LEAST_FALSE_ALARMS = 1e-6;

/**
 * "at most 0.36, proven: every event is Gaussian". Empty for a budget, for a session whose claim is
 * not proven, and where the server gives no finite number.
 */
export async function muWords(name: string): Promise<string> {
  if (name.split('/').length !== 4) return '';
  const [session, charged] = await Promise.all([
    get<Session>(pathOfResource(name)),
    rpc<{ history?: CountedEvent[] }>('SessionService.GetSessionHistory', { name }),
  ]);
  if (!session.ok || !charged.ok || isUnproven(session.value.claim)) return '';
  const answer = await rpc<ComputeResponse>('AccountingService.Compute', {
    accountant: 'BEST',
    neighboringRelation: session.value.neighboringRelation,
    events: charged.value.history ?? [],
    query: { gaussianDpMu: { alphaMin: LEAST_FALSE_ALARMS } },
  });
  return answer.ok ? wordsOfMu(answer.value) : '';
}

/** The server calls mu an approximation where it bounds only a part of the curve. */
export function wordsOfMu(answer: ComputeResponse): string {
  const mu = numberOf(answer.upper);
  if (mu === undefined || !Number.isFinite(mu)) return '';
  const claim = answer.containsUnverifiedClaim === true ? '; it rests on an unverified claim' : '';
  if (answer.kind === 'UPPER_BOUND') {
    return `at most ${roundedUp(mu)}, proven: every event is Gaussian${claim}`;
  }
  const regret = numberOf(answer.regret);
  const lost = regret === undefined ? '' : `, regret ${roundedUp(regret)}`;
  const [least, most] = [LEAST_FALSE_ALARMS, 1 - LEAST_FALSE_ALARMS];
  return (
    `at most ${roundedUp(mu)} for ${percent(least, 'up')} to ${percent(most, 'down', 4)} false alarms` +
    `${lost}; an approximation, not proven outside them${claim}`
  );
}
