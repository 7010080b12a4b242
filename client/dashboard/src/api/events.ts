// The changes on the server, as they happen: /v1/events as a signal. After a dropped connection it
// continues after the last event that it received, without a gap.

import { signal } from '@preact/signals';
import { get, tokenWanted } from './client';
import type { Caller, LedgerChange } from './messages';

export type Connection =
  // Not started yet.
  | 'off'
  | 'connecting'
  | 'live'
  // Dropped; it reconnects by itself.
  | 'reconnecting'
  // The page is hidden; it resumes when the page is visible again.
  | 'paused'
  // The server sends no events, or none to this caller.
  | 'unavailable';

export const connection = signal<Connection>('off');
/** Why it is not live, in the server's words, if it gave a reason. */
export const connectionProblem = signal('');
/** How often it resumed after a break, so that people see that nothing was missed. */
export const resumedCount = signal(0);

const KINDS = ['budget', 'session', 'attempt', 'charge', 'lease', 'refusedSession'] as const;
/** How many root budgets one stream of the server follows at most. */
export const MOST_ROOTS = 64;
/** How long the first answers wait for a stream that neither opens nor is refused. */
const OPENING_PATIENCE_MS = 3_000;
const HIDDEN_PATIENCE_MS = 60_000;
const RETRY_MS = [500, 1_000, 2_000, 5_000];

type Listener = (change: LedgerChange) => void;

const listeners = new Set<Listener>();
const connectedListeners = new Set<(isFresh: boolean) => void>();
const refusedListeners = new Set<() => void>();
let source: EventSource | undefined;
let lastEventId = '';
let retries = 0;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
let hiddenTimer: ReturnType<typeof setTimeout> | undefined;
let openingTimer: ReturnType<typeof setTimeout> | undefined;
let endOpening: () => void = () => undefined;
let opening = newOpening();
// The root budgets to watch, by name; empty: all of them.
let watched: readonly string[] = [];

/** Calls the listener with every change from now on; returns a function that ends this. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Calls the listener whenever the connection opens. `isFresh` is true if the events start at the
 * present and not after the last one seen, so that earlier answers may be out of date.
 */
export function onConnected(listener: (isFresh: boolean) => void): () => void {
  connectedListeners.add(listener);
  return () => connectedListeners.delete(listener);
}

/** Calls the listener when the server refuses the first stream of this page, and knows the caller. */
export function onRefused(listener: () => void): () => void {
  refusedListeners.add(listener);
  return () => refusedListeners.delete(listener);
}

/**
 * Resolves when the stream has opened for the first time: an answer to a request from then on misses
 * no change. Resolves without it if the stream was refused twice, and OPENING_PATIENCE_MS after the
 * start: a proxy may hold the events back.
 */
export function firstOpening(): Promise<void> {
  return opening;
}

function newOpening(): Promise<void> {
  return new Promise((resolve) => {
    endOpening = resolve;
  });
}

/** Starts, or starts again with other budgets to watch, and then continues at its position. */
export function connect(budgets: readonly string[] = []): void {
  const same = budgets.join() === watched.join();
  if (source !== undefined && same) return;
  if (!same) lastEventId = '';
  watched = budgets;
  retries = 0;
  openingTimer ??= setTimeout(endOpening, OPENING_PATIENCE_MS);
  open('connecting');
}

export function disconnect(): void {
  close();
  lastEventId = '';
  watched = [];
  clearTimeout(openingTimer);
  openingTimer = undefined;
  opening = newOpening();
  connection.value = 'off';
}

function close(): void {
  clearTimeout(retryTimer);
  source?.close();
  source = undefined;
}

function open(as: Connection): void {
  close();
  connection.value = as;
  const query = new URLSearchParams();
  for (const budget of watched) query.append('budget', budget);
  if (lastEventId !== '') query.set('lastEventId', lastEventId);
  const text = query.toString();
  const mine = new EventSource(text === '' ? '/v1/events' : `/v1/events?${text}`);
  source = mine;
  mine.onopen = () => {
    if (connection.peek() === 'reconnecting') resumedCount.value += 1;
    connection.value = 'live';
    connectionProblem.value = '';
    retries = 0;
    endOpening();
    for (const listener of connectedListeners) listener(lastEventId === '');
  };
  mine.onerror = () => {
    if (source !== mine) return;
    // The browser reconnects by itself, with Last-Event-ID, unless the answer was an error.
    if (mine.readyState === EventSource.CONNECTING) connection.value = 'reconnecting';
    else void afterRefusal();
  };
  for (const kind of KINDS)
    mine.addEventListener(kind, (event) => tell(event as MessageEvent<string>));
  mine.addEventListener('bookmark', (event) => keep(event as MessageEvent<string>));
  mine.addEventListener('end', (event) => {
    const { message = '' } = parse((event as MessageEvent<string>).data) as { message?: string };
    connectionProblem.value = message;
    void afterRefusal();
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function keep(event: MessageEvent<string>): void {
  if (event.lastEventId !== '') lastEventId = event.lastEventId;
}

function tell(event: MessageEvent<string>): void {
  keep(event);
  const change = parse(event.data) as LedgerChange;
  for (const listener of listeners) listener(change);
}

// The stream was refused or ended. An EventSource does not say why: another request finds out.
async function afterRefusal(): Promise<void> {
  close();
  if (tokenWanted.peek()) {
    connection.value = 'off';
    return;
  }
  const isFirst = connection.peek() === 'connecting' && retries === 0;
  connection.value = 'reconnecting';
  const caller = await get<Caller>('/v1/caller');
  if (source !== undefined || connection.peek() !== 'reconnecting') return;
  if (!caller.ok && caller.error.kind === 'unauthenticated') {
    connection.value = 'off';
    return;
  }
  if (caller.ok && retries >= RETRY_MS.length) {
    // The server answers, but refuses this: too many root budgets to watch, or too many watchers.
    const answer = await reasonOfRefusal();
    if (answer !== '') connectionProblem.value = answer;
    connection.value = 'unavailable';
    // The position may be wrong, in a ledger that was restored: start at the present then.
    lastEventId = '';
    retryTimer = setTimeout(() => open('reconnecting'), 30_000);
    return;
  }
  if (!isFirst || !caller.ok) endOpening();
  else for (const listener of refusedListeners) listener();
  const wait = RETRY_MS[Math.min(retries, RETRY_MS.length - 1)] ?? 5_000;
  retries += 1;
  retryTimer = setTimeout(() => open('reconnecting'), wait);
}

async function reasonOfRefusal(): Promise<string> {
  const query = new URLSearchParams(watched.map((budget) => ['budget', budget]));
  const abort = new AbortController();
  try {
    const response = await fetch(`/v1/events?${query.toString()}`, { signal: abort.signal });
    if (response.ok) return '';
    return ((await response.json()) as { message?: string }).message ?? '';
  } catch {
    return '';
  } finally {
    abort.abort();
  }
}

// A browser has six connections to one server, and every open tab would keep one for ever.
document.addEventListener('visibilitychange', () => {
  clearTimeout(hiddenTimer);
  if (document.visibilityState === 'hidden') {
    hiddenTimer = setTimeout(() => {
      if (connection.peek() === 'off') return;
      close();
      connection.value = 'paused';
    }, HIDDEN_PATIENCE_MS);
  } else if (connection.peek() === 'paused') {
    open('reconnecting');
  }
});
