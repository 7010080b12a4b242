// The newest charges of a session.

import type { ReadonlySignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { get, pathOfResource, type Result } from './client';
import type { Charge, ListChargesResponse } from './messages';
import { useAnswer, type Read } from './read';

const PAGE_SIZE = 1_000;
/** Of a session with more charges, the newest cannot be reached. */
export const MOST_CHARGES = 20_000;

interface Place {
  /** The token of the last page that was reached. */
  token?: string;
  /** The page before it, which is full and does not change any more. */
  before: readonly Charge[];
}

/**
 * The last page and the one before it, the newest charge first. The server lists charges from the
 * first one on: this reads all pages up to the last one, and later continues from there.
 */
export function useNewestCharges(session: string): ReadonlySignal<Read<Charge[]>> {
  const place = useRef<Place>({ before: [] });
  const ask = async (abort: AbortSignal): Promise<Result<Charge[]>> => {
    for (;;) {
      const { token, before } = place.current;
      const page = await get<ListChargesResponse>(
        pathOfResource(session, 'charges'),
        { pageSize: PAGE_SIZE, pageToken: token },
        abort,
      );
      if (!page.ok) return page;
      const charges = page.value.charges ?? [];
      const next = page.value.nextPageToken ?? '';
      if (next === '') return { ok: true, value: [...before, ...charges].reverse() };
      place.current = { token: next, before: charges };
    }
  };
  return useAnswer(`charges ${session}`, ask, { touchedBy: [session] });
}
