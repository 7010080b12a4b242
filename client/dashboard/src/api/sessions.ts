// The sessions of a budget and of all budgets below it.

import type { ReadonlySignal } from '@preact/signals';
import { get, pathOfResource, type Result } from './client';
import type { GetBudgetTreeResponse, ListSessionsResponse, Session } from './messages';
import { useAnswer, type Read } from './read';

/** At most this many are listed on one page. */
export const MOST_SESSIONS = 200;

export interface SessionList {
  sessions: Session[];
  /** More exist. */
  isCut: boolean;
}

/** Requested again when a session is created or ends; each row follows its own charges. */
export function useSessionsBelow(budget: string): ReadonlySignal<Read<SessionList>> {
  return useAnswer(`sessions below ${budget}`, (abort) => listSessionsBelow(budget, abort), {
    touchedBy: [budget],
    touchedWhen: (change) => change.session !== undefined || change.budget !== undefined,
  });
}

async function listSessionsBelow(budget: string, abort: AbortSignal): Promise<Result<SessionList>> {
  const tree = await get<GetBudgetTreeResponse>(pathOfResource(budget, 'tree'), {}, abort);
  if (!tree.ok) return tree;
  // If the tree has more than a page, the first ones are listed.
  const cutTree = (tree.value.nextPageToken ?? '') !== '';
  const sessions: Session[] = [];
  for (const { name } of tree.value.budgets ?? []) {
    let pageToken: string | undefined;
    do {
      const page = await get<ListSessionsResponse>(
        pathOfResource(name, 'sessions'),
        { pageSize: MOST_SESSIONS, pageToken },
        abort,
      );
      if (!page.ok) return page;
      sessions.push(...(page.value.sessions ?? []));
      pageToken = page.value.nextPageToken;
      if (sessions.length > MOST_SESSIONS) {
        return { ok: true, value: { sessions: sessions.slice(0, MOST_SESSIONS), isCut: true } };
      }
    } while (pageToken !== undefined && pageToken !== '');
  }
  return { ok: true, value: { sessions, isCut: cutTree } };
}
