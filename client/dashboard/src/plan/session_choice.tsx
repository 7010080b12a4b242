import { useId, useState } from 'preact/hooks';
import { knownBudgets } from '../api/budgets';
import { idOf } from '../api/resource_names';
import { pathOfResource } from '../api/client';
import type { ListSessionsResponse } from '../api/messages';
import { useGet } from '../api/read';
import { go, query, type Route } from '../router';

const MOST_SESSIONS = 1000;

/** Chooses the session whose history a plan continues, or none. */
export function SessionChoice({ budget, session }: { budget?: string; session?: string }) {
  const id = useId();
  const [chosen, setChosen] = useState(budget ?? '');
  const sessions = useGet<ListSessionsResponse>(
    chosen === '' ? undefined : pathOfResource(`budgets/${chosen}`, 'sessions'),
    { pageSize: MOST_SESSIONS },
  );
  const budgets = [...knownBudgets.value.keys()].map(idOf).sort();
  if (chosen !== '' && !budgets.includes(chosen)) budgets.push(chosen);
  const names = (sessions.value.value?.sessions ?? []).map(({ name }) => idOf(name));
  if (session !== undefined && chosen === budget && !names.includes(session)) names.push(session);
  // Keeps the input that was typed already.
  const open = (to: Route) => go(to, Object.fromEntries(query.peek()));
  return (
    <div class="plan-fields">
      <span class="field">
        <label for={`${id}-budget`}>On top of what was spent in</label>
        <select
          id={`${id}-budget`}
          value={chosen}
          onChange={(event) => {
            const next = event.currentTarget.value;
            setChosen(next);
            if (next === '' && session !== undefined) open({ page: 'planner' });
          }}
        >
          <option value="">nothing: a first run</option>
          {budgets.map((name) => (
            <option value={name} key={name}>
              {name}
            </option>
          ))}
        </select>
      </span>
      {chosen !== '' && (
        <span class="field">
          <label for={`${id}-session`}>Session</label>
          <select
            id={`${id}-session`}
            value={chosen === budget ? (session ?? '') : ''}
            onChange={(event) => {
              const next = event.currentTarget.value;
              if (next !== '') open({ page: 'planner', budget: chosen, session: next });
            }}
          >
            <option value="">{sessions.value.value !== undefined && names.length === 0
                ? 'no session here'
                : 'choose one'}</option>
            {names.map((name) => (
              <option value={name} key={name}>
                {name}
              </option>
            ))}
          </select>
          {sessions.value.error !== undefined && (
            <span class="field-error" role="alert">
              {sessions.value.error.message} {sessions.value.error.remedy}
            </span>
          )}
          {(sessions.value.value?.nextPageToken ?? '') !== '' && (
            <span class="small muted">
              the first {MOST_SESSIONS}; others are planned from their own page
            </span>
          )}
        </span>
      )}
    </div>
  );
}
