// A training recipe, as trainers know it: what it means for sampling and steps.

export interface Recipe {
  /** As typed. */
  batch: string;
  records: string;
  epochs: string;
}

/**
 * Returns the sampling probability >= batch / records, within one rounding, and the steps >= epochs *
 * records / batch. Undefined unless all three are numbers in range: 0 < batch <= records, epochs > 0.
 */
export function stepsOfRecipe(recipe: Recipe): { sampling: number; steps: number } | undefined {
  const [batch, records, epochs] = [recipe.batch, recipe.records, recipe.epochs].map((text) =>
    text.trim() === '' ? NaN : Number(text),
  ) as [number, number, number];
  if (!(batch > 0 && batch <= records && Number.isFinite(records))) return undefined;
  if (!(epochs > 0)) return undefined;
  const steps = Math.ceil((epochs * records) / batch);
  if (!(steps <= Number.MAX_SAFE_INTEGER)) return undefined;
  // A quotient is rounded to the nearest number; a smaller probability would promise too much.
  const quotient = batch / records;
  return { sampling: Math.min(1, quotient * (1 + Number.EPSILON)), steps };
}
