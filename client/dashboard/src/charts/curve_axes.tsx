import type { PlotArea } from './curve_chart';
import type { Scale } from './scale';

export interface AxisWords {
  // With its unit, and with delta where the value depends on it.
  title: string;
  // The label of a mark; unset: its number.
  label?: (value: number) => string;
}

interface CurveAxesProps {
  area: PlotArea;
  x: Scale;
  y: Scale;
  xWords: AxisWords;
  yWords: AxisWords;
}

// Grid, marks and titles. The chart's summary reads them out, so they are hidden here.
export function CurveAxes({ area, x, y, xWords, yWords }: CurveAxesProps) {
  const base = area.height - area.bottom;
  const xTicks = x.ticks(Math.max(2, Math.floor((area.right - area.left) / (area.width < 480 ? 64 : 96))));
  const yTicks = y.ticks(Math.max(2, Math.floor((base - area.top) / 40)));
  return (
    <g class="curve-axes" aria-hidden="true">
      {yTicks.map(({ value, label }) => (
        <g key={value}>
          <line
            class="curve-grid"
            x1={area.left}
            x2={area.right}
            y1={y.place(value)}
            y2={y.place(value)}
          />
          <text x={area.left - 8} y={y.place(value) + 4} text-anchor="end">
            {yWords.label?.(value) ?? label}
          </text>
        </g>
      ))}
      {xTicks.map(({ value, label }) => (
        <g key={value}>
          <line
            class="curve-grid"
            x1={x.place(value)}
            x2={x.place(value)}
            y1={area.top}
            y2={base}
          />
          <text x={x.place(value)} y={base + 18} text-anchor="middle">
            {xWords.label?.(value) ?? label}
          </text>
        </g>
      ))}
      <line class="curve-base" x1={area.left} x2={area.right} y1={base} y2={base} />
      <line class="curve-base" x1={area.left} x2={area.left} y1={area.top} y2={base} />
      <text class="curve-title" x={4} y={14}>
        {yWords.title}
      </text>
      <text class="curve-title" x={area.right} y={area.height - 6} text-anchor="end">
        {xWords.title}
      </text>
    </g>
  );
}
