// The sessions of a budget and of all budgets below it, with what each was charged.

import type { ReadonlySignal } from '@preact/signals';
import { get, pathOfResource, type Result } from './client';
import type { ListSessionReadingsResponse } from './messages';
import { useAnswer, type Read } from './read';

/** The largest page. A list that fits into it is sorted here, by any column. */
export const MOST_SESSIONS = 200;

export type SessionOrder = 'NAME' | 'CREATE_TIME' | 'STEP_COUNT' | 'REFUSED_CHARGE_COUNT' | 'STATE';

export interface SessionQuestion {
  /** "budgets/people". */
  budget: string;
  delta: string;
  renyiOrder?: number;
  text: string;
  order: SessionOrder;
  descending: boolean;
  pageToken: string;
}

/** A page, with the part of its question that it depends on: an older page may be shown. */
export interface SessionPage extends ListSessionReadingsResponse {
  pageToken: string;
  delta: string;
  renyiOrder?: number;
}

/** One page, requested again when an event touches a session of the budget. */
export function useSessionReadings(
  question: SessionQuestion | undefined,
): ReadonlySignal<Read<SessionPage>> {
  return useAnswer(
    question === undefined ? undefined : JSON.stringify(question),
    async (abort): Promise<Result<SessionPage>> => {
      const { budget, pageToken, descending, ...parameters } = question as SessionQuestion;
      const { delta, renyiOrder } = parameters;
      const page = await get<ListSessionReadingsResponse>(
        pathOfResource(budget, 'session-readings'),
        {
          ...parameters,
          includeDescendants: 'true',
          descending: String(descending),
          pageSize: MOST_SESSIONS,
          pageToken: pageToken === '' ? undefined : pageToken,
        },
        abort,
      );
      return page.ok ? { ok: true, value: { ...page.value, pageToken, delta, renyiOrder } } : page;
    },
    { touchedBy: question === undefined ? [] : [question.budget], keepsOld: true },
  );
}
