import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/client';
import type { Read } from '../api/read';
import { Notice, Problem } from './notice';

interface AnswerProps<T> {
  read: ReadonlySignal<Read<T>>;
  /** The requested thing, for the words: "the budget". */
  what: string;
  children: (value: T) => ComponentChildren;
}

/** The server's answer, or why there is none. An old answer stays and is marked as old. */
export function Answer<T>({ read, what, children }: AnswerProps<T>) {
  const { value, error, loading } = read.value;
  if (value === undefined) {
    if (error !== undefined) return <Problem error={error} what={capital(what)} />;
    return loading ? (
      <div class="loading" role="status">
        <p class="muted small">Loading {what} …</p>
        <span class="loading-line" />
        <span class="loading-line" />
        <span class="loading-line" />
      </div>
    ) : null;
  }
  return (
    <>
      {error !== undefined && <OutOfDate what={what} error={error} />}
      {children(value)}
    </>
  );
}

/** Beside an old answer, if no newer one could be fetched. */
export function OutOfDate({ what, error }: { what: string; error: ApiError }) {
  return (
    <Notice tone="warn">
      <p>
        {capital(what)} may be out of date. {error.message} {error.remedy}
      </p>
    </Notice>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
