// How uPlot draws epsilon against step. Colors and words are read at every drawing, so that the
// plot follows light and dark without being built again.

import type uPlot from 'uplot';
import { drawGround, drawMarks, type Marks } from './epsilon_marks';
import { linearScale } from './scale';

export const PLOT_TOP = 22;

export function plotHeight(width: number): number {
  return width < 480 ? 260 : 340;
}

const axisFont = '12px system-ui, sans-serif';

/** The room above the highest line, the cap included. */
function epsilonRange({ plot }: Marks): [number, number] {
  const top = Math.max(plot.top, plot.cap ?? 0);
  return [0, top > 0 ? top * 1.12 : 1];
}

function stepRange({ plot }: Marks): [number, number] {
  return [0, Math.max(1, plot.steps.at(-1) ?? 1)];
}

function tickLabels(values: number[]): string[] {
  const first = values[0] ?? 0;
  const last = values.at(-1) ?? 1;
  if (!(last > first)) return values.map(String);
  // The axis's own marks, so that both charts write numbers alike.
  const scale = linearScale({ first, last }, { first: 0, last: 1 });
  const ticks = scale.ticks(values.length - 1);
  return values.map((value, i) => {
    const known = ticks[i];
    return known !== undefined && Math.abs(known.value - value) < 1e-9 * Math.max(1, last)
      ? known.label
      : String(Number(value.toPrecision(12)));
  });
}

export function plotOptions(
  marks: () => Marks,
  width: number,
  moved: (u: uPlot) => void,
): uPlot.Options {
  const ratio = () => devicePixelRatio;
  const axis: uPlot.Axis = {
    font: axisFont,
    stroke: () => marks().colors.quiet,
    grid: { stroke: () => marks().colors.grid, width: 1 },
    ticks: { show: false },
    values: (_, values) => tickLabels(values),
  };
  const gap = { spanGaps: false, pxAlign: 0, points: { show: false } };
  return {
    width,
    height: plotHeight(width),
    padding: [PLOT_TOP, 12, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { size: 8 },
      focus: { prox: -1 },
    },
    scales: {
      x: { time: false, range: () => stepRange(marks()) },
      y: { range: () => epsilonRange(marks()) },
    },
    axes: [
      { ...axis, space: 80, size: 26 },
      { ...axis, space: 40, size: 52 },
    ],
    series: [
      {},
      {
        ...gap,
        stroke: () => marks().colors.line,
        width: 2,
        dash: marks().plot.isApproximation ? [7, 5] : [],
      },
      { ...gap, stroke: () => marks().colors.line, width: 1 },
      { ...gap, stroke: () => marks().colors.ahead, width: 2 },
    ],
    // Between the upper and the lower bound.
    bands: [{ series: [1, 2], fill: () => marks().colors.area }],
    hooks: {
      drawAxes: [(u) => drawGround(u, marks())],
      draw: [
        (u) => {
          u.ctx.lineWidth = ratio();
          drawMarks(u, marks());
        },
      ],
      setCursor: [moved],
    },
  };
}
