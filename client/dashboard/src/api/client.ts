// The server's HTTP API. No function here throws: an error is a value in words for people.

import { signal } from '@preact/signals';

export type ErrorKind =
  | 'unauthenticated'
  | 'denied'
  | 'not-found'
  // This server does not know the question: it is older than this page.
  | 'not-offered'
  // It knows the question, but cannot answer it for this request: its message says why.
  | 'unanswered'
  // The request is wrong, or is refused in the present state.
  | 'invalid'
  | 'busy'
  | 'unreachable'
  | 'broken';

export interface ApiError {
  kind: ErrorKind;
  /** What went wrong, as a sentence. */
  message: string;
  /** What to do about it, as a sentence. */
  remedy: string;
}

export type Result<T> = { ok: true; value: T } | { ok: false; error: ApiError };

/** True from the first answer that requires a token until the login. */
export const tokenWanted = signal(false);

const PATIENCE_MS = 65_000;

/** GET of a path such as "/v1/budgets/people", with parameters of the query. */
export function get<T>(
  path: string,
  parameters: Record<string, string | number | undefined> = {},
  abort?: AbortSignal,
): Promise<Result<T>> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return call<T>(text === '' ? path : `${path}?${text}`, { method: 'GET' }, abort);
}

/** One unary RPC: rpc('AccountingService.Compute', request). */
export function rpc<T>(method: string, request: unknown, abort?: AbortSignal): Promise<Result<T>> {
  return post<T>(`/epsledger.v1.${method.replace('.', '/')}`, request, abort);
}

export function post<T>(path: string, body: unknown, abort?: AbortSignal): Promise<Result<T>> {
  return call<T>(
    path,
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    abort,
  );
}

/** The path of a resource: pathOfResource('budgets/people') is "/v1/budgets/people". */
export function pathOfResource(name: string, view = ''): string {
  const path = name.split('/').map(encodeURIComponent).join('/');
  return `/v1/${path}${view === '' ? '' : `/${view}`}`;
}

async function call<T>(url: string, init: RequestInit, abort?: AbortSignal): Promise<Result<T>> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), PATIENCE_MS);
  const giveUp = () => timeout.abort();
  abort?.addEventListener('abort', giveUp);
  try {
    const response = await fetch(url, {
      ...init,
      credentials: 'same-origin',
      cache: 'no-store',
      signal: timeout.signal,
    });
    if (response.status === 401) tokenWanted.value = true;
    const text = await response.text();
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      body = undefined;
    }
    if (!response.ok) return { ok: false, error: errorOf(response.status, body) };
    if (body === undefined) {
      return failure(
        'broken',
        'The answer is not JSON.',
        'Check for a proxy between this page and the server.',
      );
    }
    return { ok: true, value: body as T };
  } catch {
    return failure(
      'unreachable',
      timeout.signal.aborted
        ? 'The server did not answer in time.'
        : 'The server cannot be reached.',
      'Is epsledgerd running, and the network up? What is shown may be out of date.',
    );
  } finally {
    clearTimeout(timer);
    abort?.removeEventListener('abort', giveUp);
  }
}

function failure(kind: ErrorKind, message: string, remedy: string): { ok: false; error: ApiError } {
  return { ok: false, error: { kind, message, remedy } };
}

/** An error of the Connect protocol, {"code": "not_found", "message": "..."}, in words. */
export function errorOf(status: number, body: unknown): ApiError {
  const { code = '', message = '' } = (body ?? {}) as { code?: string; message?: string };
  const said = message === '' ? `The server answered with status ${status}.` : sentence(message);
  const of = (kind: ErrorKind, remedy: string): ApiError => ({ kind, message: said, remedy });
  if (status === 401) return of('unauthenticated', 'Log in with a token.');
  if (status === 403) return of('denied', 'Log in with a token whose role allows it.');
  // A route or parameter that the server does not know, not a missing resource.
  const noRoute = status === 404 && (code === '' || message === 'there is nothing here');
  const noParameter = status === 400 && message.includes('is not known here');
  if (status === 501) return of('unanswered', 'Choose another accountant, or other events.');
  if (code === 'unimplemented' || noRoute || noParameter) {
    return {
      kind: 'not-offered',
      message: 'Not available from this server.',
      remedy: 'A newer epsledgerd has it.',
    };
  }
  if (status === 404)
    return of('not-found', "Check the name: it may be misspelled, or another tenant's.");
  if (status === 429 || status === 503 || status === 504) {
    return of('busy', 'Try again in a few seconds.');
  }
  if (status >= 400 && status < 500) return of('invalid', 'Change the request.');
  return of('broken', "Look at the server's log.");
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
