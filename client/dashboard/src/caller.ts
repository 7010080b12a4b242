// The reader's identity, as the server sees it.

import { signal } from '@preact/signals';
import { get, post, tokenWanted, type Result } from './api/client';
import { forgetBudgets } from './api/budgets';
import { disconnect } from './api/events';
import type { Caller } from './api/messages';

export const caller = signal<Caller | undefined>(undefined);

export async function askCaller(): Promise<Result<Caller>> {
  const answer = await get<Caller>('/v1/caller');
  if (answer.ok) caller.value = answer.value;
  return answer;
}

/** Sends the token to the server, which keeps it in a cookie that no script can read. */
export async function logIn(token: string): Promise<Result<Caller>> {
  const answer = await post<Caller>('/v1/login', { token });
  if (answer.ok) {
    forget();
    caller.value = answer.value;
    tokenWanted.value = false;
  }
  return answer;
}

/** Until the server confirms it, the cookie exists, and the page stays as it is. */
export async function logOut(): Promise<Result<unknown>> {
  const answer = await post('/v1/logout', {});
  if (answer.ok) {
    forget();
    tokenWanted.value = true;
  }
  return answer;
}

function forget(): void {
  disconnect();
  caller.value = undefined;
  forgetBudgets();
}
