import { numberOf, type ComputeResponse, type CountedEvent } from '../api/messages';
import { useRpc, type Read } from '../api/read';
import { delta, deltaText } from '../delta';
import { Card } from '../design/card';
import { count, epsilonAtDelta, rounded } from '../format/numbers';
import { eventOfPlan, fieldProblem, targetOfPlan, type Plan } from './plan';
import { PlanInput } from './plan_fields';

type Variable = 'NOISE_MULTIPLIER' | 'COUNT' | 'SAMPLING_PROBABILITY';

interface PlannerTargetsProps {
  plan: Plan;
  /** The history that is spent already. */
  history: readonly CountedEvent[];
}

/** The noise, steps or sampling that meets a target, with the other two as they are. */
export function PlannerTargets({ plan, history }: PlannerTargetsProps) {
  const answers: Record<Variable, Read<ComputeResponse>> = {
    NOISE_MULTIPLIER: useCalibration(plan, history, 'NOISE_MULTIPLIER'),
    COUNT: useCalibration(plan, history, 'COUNT'),
    SAMPLING_PROBABILITY: useCalibration(plan, history, 'SAMPLING_PROBABILITY'),
  };
  const error = Object.values(answers).find((answer) => answer.error !== undefined)?.error;
  const isAsked = targetOfPlan(plan) !== undefined && eventOfPlan(plan) !== undefined;
  return (
    <Card title="To stay at a target">
      <div class="plan-fields">
        <PlanInput
          field="target"
          name={`Target epsilon at delta ${deltaText.value}`}
          hint="of everything together: what is spent and what would be charged"
          text={plan.target}
          error={error}
        />
      </div>
      {isAsked && (
        <div class="table-box" tabIndex={0} role="region" aria-label="What stays at the target">
          <table class="grid as-cards">
            <thead>
              <tr>
                <th scope="col">Change only</th>
                <th scope="col" class="number">
                  to
                </th>
                <th scope="col">Then</th>
                <th scope="col">Theorem</th>
              </tr>
            </thead>
            <tbody>
              <TargetRow
                name="the noise multiplier"
                answer={answers.NOISE_MULTIPLIER}
                words={atLeast}
              />
              <TargetRow name="the steps" answer={answers.COUNT} words={atMostSteps} />
              <TargetRow
                name="the sampling probability"
                answer={answers.SAMPLING_PROBABILITY}
                words={atMost}
              />
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

// More noise, fewer steps and less sampling are the safe sides.
const atLeast = (value: number) => `at least ${rounded(value, 'up', 4)}`;
const atMost = (value: number) => `at most ${rounded(value, 'down', 4)}`;
const atMostSteps = (value: number) => `at most ${count(Math.floor(value))}`;

function useCalibration(
  plan: Plan,
  history: readonly CountedEvent[],
  variable: Variable,
): Read<ComputeResponse> {
  const event = eventOfPlan(plan);
  const epsilon = targetOfPlan(plan);
  // The sought value needs no input of its own.
  const steps = variable === 'COUNT' ? '1' : plan.steps.trim();
  const isSampled = plan.sampling.trim() !== '';
  const isWhole =
    event !== undefined &&
    epsilon !== undefined &&
    /^\d+$/.test(steps) &&
    (variable !== 'SAMPLING_PROBABILITY' || isSampled);
  return useRpc<ComputeResponse>(
    'AccountingService.Compute',
    isWhole
      ? {
          accountant: 'BEST',
          neighboringRelation: plan.relation,
          // The search changes the first event.
          events: [{ event, count: steps }, ...history],
          query: { calibrate: { epsilon, delta: delta.value, variable } },
        }
      : undefined,
  ).value;
}

/** "No value ... spends at most ...": the row names the value. */
function withoutField(message: string): string {
  const words = message.replace(/^[\w.]+: /, '');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

interface TargetRowProps {
  name: string;
  answer: Read<ComputeResponse>;
  words: (value: number) => string;
}

function TargetRow({ name, answer, words }: TargetRowProps) {
  const { value, error, loading } = answer;
  const solution = numberOf(value?.value);
  const upper = numberOf(value?.upper);
  return (
    <tr>
      <th scope="row">{name}</th>
      {error !== undefined ? (
        <td class="breakable" data-label="to" colSpan={3}>
          {fieldProblem(error)?.words ?? withoutField(error.message)}
        </td>
      ) : solution === undefined ? (
        <td class="muted" data-label="to" colSpan={3}>
          {loading ? 'asking …' : 'not asked: the other fields must be filled in'}
        </td>
      ) : (
        <>
          <td class="number" data-label="to">
            {words(solution)}
          </td>
          <td data-label="Then">{epsilonAtDelta(upper, deltaText.value)}</td>
          <td class="small breakable" data-label="Theorem">
            {value?.theorem}
          </td>
        </>
      )}
    </tr>
  );
}
