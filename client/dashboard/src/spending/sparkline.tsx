import './spending.css';
import type { DayPoint } from './spend_days';

/** The share of the cap over days, as a small step line: the words beside it say the numbers. */
export function Sparkline({ points }: { points: readonly DayPoint[] }) {
  return (
    <svg
      class="sparkline"
      viewBox="0 0 100 24"
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      <path class="spend-area" d={`${stepPath(points, 100, 24)}V24H0Z`} />
      <path class="spend-line" d={stepPath(points, 100, 24)} />
    </svg>
  );
}

/** A step for each day, from the left to the right: 1 is at the top. */
export function stepPath(points: readonly DayPoint[], width: number, height: number): string {
  return points
    .map(({ spent }, i) => {
      const y = (height * (1 - Math.min(1, Math.max(0, spent)))).toFixed(2);
      const next = ((width * (i + 1)) / points.length).toFixed(2);
      return `${i === 0 ? `M0 ${y}` : `V${y}`}H${next}`;
    })
    .join('');
}
