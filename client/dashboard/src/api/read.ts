// An answer of the server on a page: requested once, when the page follows the ledger, and again when
// an event touches it. Never polled.

import { useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isTouched } from './budgets';
import { get, rpc, type ApiError, type Result } from './client';
import { firstOpening, onChange, onConnected } from './events';
import type { LedgerChange } from './messages';

export interface Read<T> {
  /** The newest answer; kept while a newer one is fetched, and while one fails. */
  value?: T;
  /** The error of the newest request. */
  error?: ApiError;
  /** True while a request is under way. */
  loading: boolean;
}

export interface ReadOptions<T> {
  /** Shown until there is an answer. */
  initial?: T;
  /** `initial` is an answer: nothing is requested before a change touches it. */
  isCurrent?: boolean;
  /** Resources ("budgets/people/sessions/first") whose changes repeat the request. */
  touchedBy?: readonly string[];
  /** Only the changes for which this is true count. */
  touchedWhen?: (change: LedgerChange) => boolean;
  /** Whoever gave `initial` asks again when the page begins to follow the ledger: not this. */
  isAskedAbove?: boolean;
  /** The answer to the previous request stays until there is one to the new request. */
  keepsOld?: boolean;
}

// A burst of changes is one request: after a pause of QUIET_MS, LONGEST_WAIT_MS at the latest.
const QUIET_MS = 150;
const LONGEST_WAIT_MS = 500;

/** GET of `path`; undefined requests nothing yet. */
export function useGet<T>(
  path: string | undefined,
  parameters: Record<string, string | number | undefined> = {},
  options: ReadOptions<T> = {},
): ReadonlySignal<Read<T>> {
  const key = path === undefined ? undefined : JSON.stringify([path, parameters]);
  return useAnswer<T>(key, (abort) => get<T>(path ?? '', parameters, abort), options);
}

/** One unary RPC; undefined requests nothing yet. */
export function useRpc<T>(
  method: string,
  request: unknown,
  options: ReadOptions<T> = {},
): ReadonlySignal<Read<T>> {
  const key = request === undefined ? undefined : JSON.stringify([method, request]);
  return useAnswer<T>(key, (abort) => rpc<T>(method, request, abort), options);
}

/** Any request, identified by `key`; undefined requests nothing yet. */
export function useAnswer<T>(
  key: string | undefined,
  ask: (abort: AbortSignal) => Promise<Result<T>>,
  options: ReadOptions<T> = {},
): ReadonlySignal<Read<T>> {
  const answer = useSignal<Read<T>>({ value: options.initial, loading: key !== undefined });
  const askedKey = useRef(key);
  // What lies above a budget may become known after the request.
  const touchedBy = useRef(options.touchedBy ?? []);
  touchedBy.current = options.touchedBy ?? [];
  useEffect(() => {
    // The request changed: the answer to the previous one would be wrong here.
    const keeps = options.keepsOld === true || key === askedKey.current;
    askedKey.current = key;
    answer.value = {
      value: keeps ? answer.peek().value : undefined,
      loading: key !== undefined,
    };
    if (key === undefined) return undefined;
    let running: AbortController | undefined;
    let again = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let waitingSince = 0;
    let isWaiting = false;
    let ended = false;

    const askNow = async () => {
      isWaiting = false;
      timer = undefined;
      waitingSince = 0;
      if (running !== undefined) {
        again = true;
        return;
      }
      running = new AbortController();
      answer.value = { ...answer.peek(), loading: true };
      const result = await ask(running.signal);
      running = undefined;
      if (ended) return;
      answer.value = result.ok
        ? { value: result.value, loading: false }
        : { ...answer.peek(), error: result.error, loading: false };
      if (again) {
        again = false;
        soon();
      }
    };
    const soon = () => {
      const now = Date.now();
      if (waitingSince === 0) waitingSince = now;
      clearTimeout(timer);
      const wait = Math.max(0, Math.min(QUIET_MS, waitingSince + LONGEST_WAIT_MS - now));
      timer = setTimeout(() => void askNow(), wait);
    };

    const askFirst = () => {
      if (touchedBy.current.length === 0) return void askNow();
      // An answer from before the stream opened could miss a change, and would be asked for again.
      isWaiting = true;
      void firstOpening().then(() => {
        if (isWaiting && !ended) void askNow();
      });
    };

    if (options.isCurrent !== true || answer.peek().value === undefined) askFirst();
    else answer.value = { value: answer.peek().value, loading: false };
    const stops = [
      onConnected((isFresh) => {
        if (isWaiting) return;
        const failed = answer.peek().error !== undefined;
        const asksAgain = touchedBy.current.length > 0 && options.isAskedAbove !== true;
        if (failed || (isFresh && asksAgain)) soon();
      }),
      onChange((change) => {
        if (options.touchedWhen?.(change) === false) return;
        if (touchedBy.current.some((resource) => isTouched(resource, change))) soon();
      }),
    ];
    return () => {
      ended = true;
      for (const stop of stops) stop();
      clearTimeout(timer);
      running?.abort();
    };
    // `key` identifies `ask`.
  }, [key]);
  return answer;
}
