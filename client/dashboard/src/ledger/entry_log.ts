// The newest entries of a ledger, or those up to one of them.

import { useComputed, type ReadonlySignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { get, pathOfResource, type Result } from '../api/client';
import type { AuditEntry, LedgerHead, ListAuditEntriesResponse } from '../api/messages';
import { useAnswer, useGet, type Read } from '../api/read';

/** The most that the server lists at once. */
const PAGE_SIZE = 1000;

export interface EntryLog {
  /** The newest first, without gaps. */
  entries: AuditEntry[];
  /** Of the ledger. */
  lastSequence: number;
}

export interface EntryLogQuestion {
  /** Any budget of the ledger: "budgets/people". */
  budget: string;
  /** Of useLedgerHead(budget). */
  head: ReadonlySignal<Read<LedgerHead>>;
  /** The newest entry that is wanted; undefined: the newest of all, followed as they come. */
  upTo: number | undefined;
  /** How many are wanted. */
  count: number;
}

/** The newest entry of the ledger that holds a budget, followed. */
export function useLedgerHead(budget: string): ReadonlySignal<Read<LedgerHead>> {
  return useGet<LedgerHead>(pathOfResource(budget, 'head'), {}, { touchedBy: [budget] });
}

/** Fetches only what it does not hold: entries never change. */
export function useEntryLog(question: EntryLogQuestion): ReadonlySignal<Read<EntryLog>> {
  const { budget, head, upTo, count } = question;
  const held = useRef(new Map<number, AuditEntry>());
  const newest = head.value.value;
  const lastSequence = Number(newest?.sequence ?? 0);
  const ask = async (abort: AbortSignal): Promise<Result<EntryLog>> => {
    const last = Math.min(upTo ?? lastSequence, lastSequence);
    const after = Math.max(0, last - count);
    const missing = await fetchMissing(budget, held.current, after, last, abort);
    if (!missing.ok) return missing;
    const entries: AuditEntry[] = [];
    for (let at = last; at > after; --at) {
      const entry = held.current.get(at);
      if (entry !== undefined) entries.push(entry);
    }
    return { ok: true, value: { entries, lastSequence } };
  };
  const key = newest && `entries ${budget} ${Math.min(upTo ?? lastSequence, lastSequence)} ${count}`;
  const read = useAnswer(key, ask, { keepsOld: true });
  return useComputed(() => {
    const { value, error, loading } = read.value;
    return { value, error: head.value.error ?? error, loading: head.value.loading || loading };
  });
}

/** Fetches the entries in (after, last] that are not held. */
async function fetchMissing(
  budget: string,
  held: Map<number, AuditEntry>,
  after: number,
  last: number,
  abort: AbortSignal,
): Promise<Result<true>> {
  let from = after + 1;
  for (;;) {
    while (from <= last && held.has(from)) ++from;
    if (from > last) return { ok: true, value: true };
    let to = from;
    while (to < last && to - from + 1 < PAGE_SIZE && !held.has(to + 1)) ++to;
    const page = await get<ListAuditEntriesResponse>(
      pathOfResource(budget, 'entries'),
      { afterSequence: from - 1, pageSize: to - from + 1 },
      abort,
    );
    if (!page.ok) return page;
    const got = page.value.entries ?? [];
    if (got.length === 0) return { ok: true, value: true };
    for (const { content: _, ...entry } of got) held.set(Number(entry.sequence), entry);
  }
}

/**
 * Returns the number of the last entry before `timeMs`, 0 if there is none: it asks for one entry
 * after the other, halving what is left.
 */
export async function lastEntryBefore(
  budget: string,
  timeMs: number,
  lastSequence: number,
): Promise<Result<number>> {
  let low = 0;
  let high = lastSequence;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const page = await get<ListAuditEntriesResponse>(pathOfResource(budget, 'entries'), {
      afterSequence: middle - 1,
      pageSize: 1,
    });
    if (!page.ok) return page;
    const time = Date.parse(page.value.entries?.[0]?.time ?? '');
    if (time < timeMs) low = middle;
    else high = middle - 1;
  }
  return { ok: true, value: low };
}
