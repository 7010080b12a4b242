// What the plot of epsilon against step draws beside its lines: the cap, the attempts, the part in
// open leases and the part that is ahead. Each has its label.

import { useId } from 'preact/hooks';
import type { Placement } from './curve_chart';
import { linePath } from './curve_path';
import { drawnEpsilonAt, type EpsilonPlot } from './epsilon_plot';

// Labels nearer to each other than this would touch.
const WORD_SPACE = 76;
// The width of a letter of a label.
const LETTER_WIDTH = 6;

interface MarksProps extends Placement {
  plot: EpsilonPlot;
}

function leasedFrom(plot: EpsilonPlot): number {
  return Math.max(0, plot.chargedSteps - plot.leasedSteps);
}

function isAhead(plot: EpsilonPlot): boolean {
  return (plot.steps.at(-1) ?? 0) > plot.chargedSteps;
}

/** Below the lines: the steps that open leases hold, hatched, and where the charges end. */
export function EpsilonGround({ plot, area, x, y }: MarksProps) {
  const pattern = useId();
  const base = area.height - area.bottom;
  const end = x.place(plot.chargedSteps);
  const from = leasedFrom(plot);
  const start = plot.leasedSteps > 0 ? drawnEpsilonAt(plot, from) : null;
  const places = [{ x: x.place(from), y: base }, { x: x.place(from), y: y.place(start ?? NaN) }];
  for (let i = 0; i < plot.chargedCount; ++i) {
    const step = plot.steps[i] ?? 0;
    const epsilon = plot.upper[i] ?? null;
    if (step > from && epsilon !== null) places.push({ x: x.place(step), y: y.place(epsilon) });
  }
  places.push({ x: end, y: base });
  return (
    <>
      {start !== null && (
        <>
          <defs>
            <pattern id={pattern} class="leased-hatch" width={8} height={8} patternUnits="userSpaceOnUse">
              <path d="M-1 9L9 -1M-1 1L1 -1M7 9L9 7" />
            </pattern>
          </defs>
          <path d={`${linePath(places)}Z`} fill={`url(#${pattern})`} />
        </>
      )}
      {isAhead(plot) && <line class="ahead-line" x1={end} x2={end} y1={area.top} y2={base} />}
    </>
  );
}

interface EpsilonMarksProps extends MarksProps {
  /** "the cap of people". */
  capOwner: string;
  /** "epsilon 3 at delta 1e-5". */
  capWords: string;
}

/** Above the lines. The summary of the chart says the same in words. */
export function EpsilonMarks({ plot, area, x, y, capOwner, capWords }: EpsilonMarksProps) {
  const base = area.height - area.bottom;
  const cap = plot.cap === null ? null : y.place(plot.cap);
  const whole = `${capOwner}: ${capWords}`;
  const fits = whole.length * LETTER_WIDTH < area.right - area.left;
  const charged = x.place(plot.chargedSteps);
  return (
    <g aria-hidden="true">
      {cap !== null && <line class="cap-line" x1={area.left} x2={area.right} y1={cap} y2={cap} />}
      <Attempts plot={plot} area={area} x={x} y={y} />
      {cap !== null && (
        <text class="curve-note cap-note" x={area.right - 4} y={cap - 4} text-anchor="end">
          {fits ? whole : capOwner}
        </text>
      )}
      {isAhead(plot) && <ZoneWord text="ahead" from={charged} to={area.right} y={base} />}
      {plot.leasedSteps > 0 && (
        <ZoneWord text="open leases" from={x.place(leasedFrom(plot))} to={charged} y={base} />
      )}
    </g>
  );
}

function Attempts({ plot, area, x }: MarksProps) {
  let free = -Infinity;
  return (
    <>
      {plot.attempts.map(({ number, stepsBefore }) => {
        const at = x.place(stepsBefore);
        const hasRoom = at >= free;
        if (hasRoom) free = at + WORD_SPACE;
        return (
          <g key={number}>
            {stepsBefore > 0 && (
              <line
                class="attempt-line"
                x1={at}
                x2={at}
                y1={area.top}
                y2={area.height - area.bottom}
              />
            )}
            {hasRoom && (
              <text class="curve-note" x={at + 3} y={area.top - 3}>
                attempt {number}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

function ZoneWord({ text, from, to, y }: { text: string; from: number; to: number; y: number }) {
  if (text.length * LETTER_WIDTH + 8 > to - from) return null;
  return (
    <text class="curve-note" x={(from + to) / 2} y={y - 6} text-anchor="middle">
      {text}
    </text>
  );
}
