// What a curve chart draws. All curves of a chart share its x values; NaN where there is no point.

export type CurveKind =
  // Bounds on both sides: an area with two edges.
  | 'band'
  // A bound: one line.
  | 'bound'
  // Possibly above or below the truth: dashed, and labelled so.
  | 'approximation'
  // What comes next if the last event repeats.
  | 'ahead'
  // Something to compare with, such as perfect privacy: thin and dotted.
  | 'reference';

export interface Curve {
  name: string;
  kind: CurveKind;
  // The number of a color of the design, 1 to 5; a reference has none.
  color: number;
  upper: readonly number[];
  // With a band.
  lower?: readonly number[];
  // A word beside the curve, where it passes this x value.
  label?: { text: string; at: number; side: 'above' | 'below' };
}

export const kindWords: Record<CurveKind, string> = {
  band: 'bounds on both sides',
  bound: 'a bound',
  approximation: 'approximation, not a bound',
  ahead: 'if the last event repeats until nothing fits',
  reference: 'for comparison',
};
