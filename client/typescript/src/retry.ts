import { invalid } from './errors.js';
import { RpcError } from './transport.js';

/** How long and how often a call is tried. No setting makes an unknown outcome count as accepted. */
export interface Retry {
  /** Of one try; > 0. */
  callTimeoutMs: number;
  /** Of all tries and waits together; > 0. */
  overallTimeoutMs: number;
  /** >= 1, or 0: as many as the time allows. */
  maxTries: number;
  /** A wait is uniform in [b/2, b]; b doubles from the first to the second. It is never shorter than RetryInfo asks. */
  initialBackoffMs: number;
  maxBackoffMs: number;
}

export const DEFAULT_RETRY: Readonly<Retry> = {
  callTimeoutMs: 10_000,
  overallTimeoutMs: 60_000,
  maxTries: 0,
  initialBackoffMs: 50,
  maxBackoffMs: 2_000,
};

export function checkRetry(retry: Retry): void {
  for (const field of ['callTimeoutMs', 'overallTimeoutMs'] as const) {
    if (!(retry[field] > 0 && Number.isFinite(retry[field]))) throw invalid(`retry.${field}`, retry[field], 'ms in (0, inf)');
  }
  if (!(Number.isInteger(retry.maxTries) && retry.maxTries >= 0)) throw invalid('retry.maxTries', retry.maxTries, '0 or more');
  if (!(retry.initialBackoffMs >= 0)) throw invalid('retry.initialBackoffMs', retry.initialBackoffMs, 'ms, 0 or more');
  if (!(retry.maxBackoffMs >= retry.initialBackoffMs)) {
    throw invalid('retry.maxBackoffMs', retry.maxBackoffMs, 'at least initialBackoffMs');
  }
}

/** The outcome of all tries of one call. */
export interface Tries<Answer> {
  /** Set: the last try was answered. */
  answer?: Answer;
  error?: RpcError;
  /** Some try ended without saying that nothing was written. */
  mayHaveCommitted: boolean;
  count: number;
  /** "3 tries in 1.2 s". */
  howItWent: string;
}

/** Calls `once` until it answers, fails definitely, or the tries or the time are used up, and at least once. */
export async function untilDefinite<Answer>(
  retry: Retry,
  once: (timeoutMs: number) => Promise<Answer>,
): Promise<Tries<Answer>> {
  const start = performance.now();
  const left = () => retry.overallTimeoutMs - (performance.now() - start);
  let backoff = retry.initialBackoffMs;
  let mayHaveCommitted = false;
  for (let count = 1; ; ++count) {
    const outcome = await once(Math.min(retry.callTimeoutMs, left())).then(
      (answer) => ({ answer, error: undefined }),
      (error: unknown) => {
        if (!(error instanceof RpcError)) throw error;
        return { answer: undefined, error };
      },
    );
    mayHaveCommitted ||= outcome.error?.mayHaveCommitted ?? false;
    const howItWent = `${count} tries in ${((performance.now() - start) / 1000).toFixed(1)} s`;
    const tries: Tries<Answer> = { mayHaveCommitted, count, howItWent, ...outcome };
    if (outcome.error === undefined || !outcome.error.isWorthRetrying) return tries;
    if (retry.maxTries > 0 && count >= retry.maxTries) return tries;
    const wait = Math.max((backoff / 2) * (1 + Math.random()), outcome.error.retryDelayMs);
    if (wait >= left()) return tries;
    await new Promise((done) => setTimeout(done, wait));
    backoff = Math.min(2 * backoff, retry.maxBackoffMs);
    if (left() <= 0) return tries;
  }
}
