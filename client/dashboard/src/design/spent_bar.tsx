import './spent_bar.css';
import { useId } from 'preact/hooks';
import { isNearlySpent, percent } from '../format/numbers';

interface SpentBarProps {
  /** In [0, 1]; above 1 if a cell of the currency overran. */
  spent: number;
  /** The part of `spent` that open leases hold. */
  leased?: number;
  /** Shares at which to alert somebody. */
  thresholds?: readonly number[];
  /** The cap that it is spent of, in words. */
  of?: string;
}

/** What is spent of a cap, with the part in open leases hatched, and the same in words. */
export function SpentBar({ spent, leased = 0, thresholds = [], of }: SpentBarProps) {
  const hatch = useId();
  const shown = Math.min(1, Math.max(0, spent));
  const shownLeased = Math.min(shown, Math.max(0, leased));
  const tone = spent >= 1 ? ' spent-bar-bad' : isNearlySpent(spent) ? ' spent-bar-warn' : '';
  const words = `${percent(spent, 'up')} spent`;
  return (
    <span class={`spent-bar${tone}`}>
      <svg aria-hidden="true" preserveAspectRatio="none">
        <defs>
          <pattern
            id={hatch}
            width="5"
            height="5"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <line class="hatch" x1="0" y1="0" x2="0" y2="5" />
          </pattern>
        </defs>
        <rect class="spent" width={`${shown * 100}%`} height="100%" />
        {shownLeased > 0 && (
          <rect
            x={`${(shown - shownLeased) * 100}%`}
            width={`${shownLeased * 100}%`}
            height="100%"
            fill={`url(#${hatch})`}
          />
        )}
        {thresholds.map((at) => (
          <line
            class="threshold"
            key={at}
            x1={`${at * 100}%`}
            x2={`${at * 100}%`}
            y1="0"
            y2="100%"
          />
        ))}
      </svg>
      <span class="spent-bar-words">
        <strong>{words}</strong>
        {of !== undefined && ` of ${of}`}
        {spent >= 1 && ', exhausted'}
        {leased > 0 && `; ${percent(leased, 'up')} of the cap is in open leases`}
        {thresholds.length > 0 && (
          <span class="visually-hidden">
            ; alerts at {thresholds.map((at) => percent(at, 'down')).join(', ')}
          </span>
        )}
      </span>
    </span>
  );
}
