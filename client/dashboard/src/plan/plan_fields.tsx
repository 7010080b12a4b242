import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../api/client';
import type { RelationKind } from '../api/messages';
import { Problem } from '../design/notice';
import { relationName } from '../format/names';
import { query, setQuery } from '../router';
import { fieldProblem, typingProblem, type Plan, type PlanField } from './plan';
import { stepsOfRecipe } from './recipe';

const RELATIONS: RelationKind[] = ['ADD_OR_REMOVE_ONE', 'REPLACE_ONE', 'REPLACE_SPECIAL'];

interface PlanFieldsProps {
  plan: Plan;
  /** The server's error, shown at its field. */
  error?: ApiError;
  /** Without a session, the relation must be chosen too. */
  withRelation: boolean;
}

/** Noise multiplier, sampling probability and steps, kept in the address of the page. */
export function PlanFields({ plan, error, withRelation }: PlanFieldsProps) {
  const relation = useId();
  return (
    <>
      <RecipeFields isWanted={plan.sampling === ''} />
      <div class="plan-fields">
        <PlanInput
          field="noise"
          name="Noise multiplier"
          hint="noise standard deviation / the largest contribution of one record"
          text={plan.noise}
          error={error}
        />
        <PlanInput
          field="sampling"
          name="Sampling probability"
          hint="of each record, by Poisson sampling; empty: every record in every step"
          text={plan.sampling}
          error={error}
        />
        <PlanInput field="steps" name="Steps" hint="how often" text={plan.steps} error={error} />
        {withRelation && (
          <span class="field">
            <label for={relation}>Neighboring relation</label>
            <select
              id={relation}
              value={plan.relation}
              onChange={(event) => setQuery({ relation: event.currentTarget.value })}
            >
              {RELATIONS.map((kind) => (
                <option value={kind} key={kind}>
                  {relationName(kind)}
                </option>
              ))}
            </select>
          </span>
        )}
      </div>
    </>
  );
}

const RECIPE_FIELDS = [
  ['batch', 'Batch size', 'expected, by Poisson sampling'],
  ['records', 'Data set size', 'records to train on'],
  ['epochs', 'Epochs', 'passes over the data'],
] as const;

/** Batch size, data set size and epochs, for those who think in them: they fill in two fields. */
function RecipeFields({ isWanted }: { isWanted: boolean }) {
  const id = useId();
  const said = (field: string) => query.value.get(field) ?? '';
  const take = (field: string, typed: string) => {
    const recipe = { batch: said('batch'), records: said('records'), epochs: said('epochs') };
    const found = stepsOfRecipe({ ...recipe, [field]: typed });
    setQuery({
      [field]: typed === '' ? undefined : typed,
      ...(found === undefined
        ? {}
        : { sampling: String(found.sampling), steps: String(found.steps) }),
    });
  };
  return (
    <details open={isWanted || RECIPE_FIELDS.some(([field]) => said(field) !== '')}>
      <summary>From a training recipe</summary>
      <div class="plan-fields">
        {RECIPE_FIELDS.map(([field, name, hint]) => (
          <span class="field" key={field}>
            <label for={`${id}-${field}`}>{name}</label>
            <input
              id={`${id}-${field}`}
              inputMode="decimal"
              autocomplete="off"
              value={said(field)}
              aria-describedby={`${id}-${field}-hint`}
              onInput={(event) => take(field, event.currentTarget.value)}
            />
            <span class="small muted" id={`${id}-${field}-hint`}>
              {hint}
            </span>
          </span>
        ))}
      </div>
    </details>
  );
}

// The pause in typing after which the server is asked.
const PAUSE_MS = 300;

interface PlanInputProps {
  field: PlanField;
  name: string;
  hint: string;
  text: string;
  error?: ApiError;
}

export function PlanInput({ field, name, hint, text, error }: PlanInputProps) {
  const id = useId();
  const [draft, setDraft] = useState<string | undefined>();
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const shown = draft ?? text;
  const told = fieldProblem(error);
  const problem = typingProblem(field, shown) ?? (told?.field === field ? told.words : undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const take = (typed: string) => {
    clearTimeout(timer.current);
    setQuery({ [field]: typed });
    setDraft(undefined);
  };
  return (
    <span class="field">
      <label for={id}>{name}</label>
      <input
        id={id}
        inputMode={field === 'steps' ? 'numeric' : 'decimal'}
        autocomplete="off"
        spellcheck={false}
        value={shown}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-hint${problem === undefined ? '' : ` ${id}-problem`}`}
        onInput={(event) => {
          const typed = event.currentTarget.value;
          setDraft(typed);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => take(typed), PAUSE_MS);
        }}
        onChange={(event) => take(event.currentTarget.value)}
      />
      {problem !== undefined && (
        <span class="field-error" id={`${id}-problem`} role="alert">
          {problem}
        </span>
      )}
      <span class="small muted" id={`${id}-hint`}>
        {hint}
      </span>
    </span>
  );
}

/** An error of the server about a plan: at its field if it names one, otherwise here, in words. */
export function PlanProblem({ error, what }: { error: ApiError; what: string }) {
  if (fieldProblem(error) === undefined) return <Problem error={error} what={what} />;
  return <p class="muted">Correct what is marked above.</p>;
}
