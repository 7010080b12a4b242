// Refusals for the same reason, as one: by budget and by the cap that had no room.

import { countOf, type Charge } from '../api/messages';
import { eventWords } from '../format/events';
import { reasonWords } from '../format/refusals';
import { describedWords } from './entry_words';

export interface RefusalGroup {
  key: string;
  /** The newest first; at least one. */
  charges: readonly Charge[];
}

/** The event of a refused charge, or what the ledger keeps of it; empty for a session. */
export function eventOfCharge(charge: Charge): string {
  const described = charge.eventDescription ?? '';
  if (described !== '') return describedWords(described);
  return charge.event === undefined ? '' : eventWords(charge.event);
}

/**
 * Groups refusals of the sessions of one budget for one reason at one limit, in the order of their
 * newest.
 */
export function groupedRefusals(charges: readonly Charge[]): RefusalGroup[] {
  const groups = new Map<string, Charge[]>();
  for (const charge of charges) {
    const budget = charge.name.split('/').slice(0, 2).join('/');
    const { reason = '', limitingResource = '' } = charge.refusal ?? {};
    // A session that was not opened has no event.
    const what = eventOfCharge(charge) === '' ? 'session' : 'charge';
    const key = [budget, reason, limitingResource, what].join(' ');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [charge]);
    else group.push(charge);
  }
  return [...groups].map(([key, all]) => ({
    key,
    charges: [...all].sort((a, b) => countOf(b.sequence) - countOf(a.sequence)),
  }));
}

/** The sessions of its charges: "budgets/people/sessions/first". */
export function sessionsOf({ charges }: RefusalGroup): string[] {
  return [...new Set(charges.map(({ name }) => name.split('/').slice(0, 4).join('/')))];
}

/** The reasons among them, the most frequent first. */
export function reasonsOf(charges: readonly Charge[]): { reason: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { refusal } of charges) {
    const reason = refusal?.reason ?? '';
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts]
    .map(([reason, count]) => ({ reason, count }))
    .sort((a, b) => b.count - a.count);
}

/** Those for a reason (empty: any) that have the text in a name, event or reason. */
export function filteredRefusals(
  charges: readonly Charge[],
  reason: string,
  find: string,
): Charge[] {
  const text = find.trim().toLowerCase();
  return charges.filter((charge) => {
    if (reason !== '' && charge.refusal?.reason !== reason) return false;
    const words = [
      charge.name,
      charge.refusal?.limitingResource,
      reasonWords(charge.refusal?.reason),
      eventOfCharge(charge),
    ];
    return text === '' || words.join(' ').toLowerCase().includes(text);
  });
}
