// The least noise with which so many steps fit the caps, found by previews, which charge nothing.

import { useRef, useState } from 'preact/hooks';
import { rpc } from '../api/client';
import type { MechanismEvent } from '../api/messages';
import { leastNoise, type Ask } from './least_noise';
import { eventOfPlan, type Plan } from './plan';

interface PlannerFitProps {
  session: string;
  plan: Plan;
  event: MechanismEvent;
}

type State = { asking: true } | { noise: number } | { words: string };

export function PlannerFit({ session, plan, event }: PlannerFitProps) {
  // The fit belongs to one plan: another plan has none yet.
  const key = JSON.stringify([session, event, plan.steps]);
  const [found, setFound] = useState<{ key: string; state: State } | undefined>();
  const open = useRef<AbortController | undefined>(undefined);
  const state = found?.key === key ? found.state : undefined;
  const find = async () => {
    open.current?.abort();
    const aborter = new AbortController();
    open.current = aborter;
    setFound({ key, state: { asking: true } });
    const ask: Ask = async (noise) => {
      const answer = await rpc<{ decision?: string }>(
        'ChargeService.PreviewCharge',
        {
          session,
          event: eventOfPlan({ ...plan, noise: String(noise) }),
          count: plan.steps.trim(),
        },
        aborter.signal,
      );
      return answer.ok ? answer.value.decision === 'ACCEPTED' : answer.error.message;
    };
    const least = await leastNoise(Number(plan.noise), ask);
    if (aborter.signal.aborted) return;
    setFound({
      key,
      state:
        typeof least === 'number'
          ? { noise: least }
          : { words: least ?? 'No noise makes room for it: the caps are spent, or closed to it.' },
    });
  };
  return (
    <p aria-live="polite">
      <button type="button" onClick={() => void find()} disabled={state !== undefined && 'asking' in state}>
        Find the noise that fits the caps
      </button>{' '}
      {state !== undefined && 'asking' in state && <span class="muted">asking the caps …</span>}
      {state !== undefined && 'noise' in state && (
        <>
          With a noise multiplier of at least <strong>{String(state.noise)}</strong> all{' '}
          {plan.steps.trim()} steps fit.
        </>
      )}
      {state !== undefined && 'words' in state && <span>{state.words}</span>}
    </p>
  );
}
