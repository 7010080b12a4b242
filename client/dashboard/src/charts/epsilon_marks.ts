// What the plot of epsilon against step draws beside its lines: the cap, the attempts, the part in
// open leases and the part that is ahead. Each has its label.

import type uPlot from 'uplot';
import type { ChartColors } from './chart_colors';
import { drawnEpsilonAt, type EpsilonPlot } from './epsilon_plot';

// Labels nearer to each other than this, in CSS pixels, would touch.
const WORD_SPACE = 76;

export interface Marks {
  plot: EpsilonPlot;
  colors: ChartColors;
  // "the cap of people", "epsilon 3 at delta 1e-5".
  capOwner: string;
  capWords: string;
  aheadWords: string;
  leasedWords: string;
}

// Below the lines.
export function drawGround(u: uPlot, marks: Marks): void {
  const { ctx } = u;
  const { plot } = marks;
  ctx.save();
  clip(u);
  drawLeased(u, marks);
  const lastStep = plot.steps.at(-1) ?? 0;
  if (lastStep > plot.chargedSteps) {
    const from = u.valToPos(plot.chargedSteps, 'x', true);
    dashedLine(ctx, marks.colors.quiet, [2, 3], from, u.bbox.top, from, u.bbox.top + u.bbox.height);
  }
  ctx.restore();
}

// Above the lines.
export function drawMarks(u: uPlot, marks: Marks): void {
  const { ctx, bbox } = u;
  const { plot, colors } = marks;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = 'bottom';
  if (plot.cap !== null) {
    const y = u.valToPos(plot.cap, 'y', true);
    ctx.lineWidth = 1.5 * ratio;
    dashedLine(ctx, colors.cap, [], bbox.left, y, bbox.left + bbox.width, y);
  }
  drawAttempts(u, marks);
  if (plot.cap !== null) {
    const whole = `${marks.capOwner}: ${marks.capWords}`;
    const fits = ctx.measureText(whole).width < bbox.width - 8 * ratio;
    ctx.textAlign = 'right';
    const y = u.valToPos(plot.cap, 'y', true) - 3 * ratio;
    haloText(ctx, fits ? whole : marks.capOwner, bbox.left + bbox.width - 4 * ratio, y, {
      ...colors,
      text: colors.cap,
    });
  }
  drawZoneWords(u, marks);
  ctx.restore();
}

function clip(u: uPlot): void {
  u.ctx.beginPath();
  u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  u.ctx.clip();
}

function dashedLine(
  ctx: CanvasRenderingContext2D,
  color: string,
  dashes: number[],
  x1: number,
  y1: number,
  x2: number,
  y2: number,
): void {
  ctx.strokeStyle = color;
  ctx.setLineDash(dashes.map((dash) => dash * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
  ctx.setLineDash([]);
}

// Stays readable on hatching and across lines.
function haloText(
  ctx: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  colors: ChartColors,
): void {
  ctx.lineJoin = 'round';
  ctx.lineWidth = 4 * devicePixelRatio;
  ctx.strokeStyle = colors.surface;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = colors.text;
  ctx.fillText(text, x, y);
}

function leasedFrom(plot: EpsilonPlot): number {
  return Math.max(0, plot.chargedSteps - plot.leasedSteps);
}

// Hatched: the area below the line of the steps that open leases hold.
function drawLeased(u: uPlot, { plot, colors }: Marks): void {
  if (!(plot.leasedSteps > 0)) return;
  const from = leasedFrom(plot);
  const start = drawnEpsilonAt(plot, from);
  if (start === null) return;
  const { ctx } = u;
  const bottom = u.bbox.top + u.bbox.height;
  ctx.beginPath();
  ctx.moveTo(u.valToPos(from, 'x', true), bottom);
  ctx.lineTo(u.valToPos(from, 'x', true), u.valToPos(start, 'y', true));
  for (let i = 0; i < plot.chargedCount; ++i) {
    const step = plot.steps[i] ?? 0;
    const epsilon = plot.upper[i] ?? null;
    if (step <= from || epsilon === null) continue;
    ctx.lineTo(u.valToPos(step, 'x', true), u.valToPos(epsilon, 'y', true));
  }
  ctx.lineTo(u.valToPos(plot.chargedSteps, 'x', true), bottom);
  ctx.closePath();
  ctx.fillStyle = hatch(ctx, colors.hatch) ?? colors.area;
  ctx.fill();
}

function hatch(ctx: CanvasRenderingContext2D, color: string): CanvasPattern | null {
  const side = 8 * devicePixelRatio;
  const tile = document.createElement('canvas');
  tile.width = side;
  tile.height = side;
  const draw = tile.getContext('2d');
  if (draw === null) return null;
  draw.strokeStyle = color;
  draw.lineWidth = devicePixelRatio;
  draw.beginPath();
  // Past its corners, so that tiles meet.
  for (const shift of [-side, 0, side]) {
    draw.moveTo(shift - 1, side + 1);
    draw.lineTo(shift + side + 1, -1);
  }
  draw.stroke();
  return ctx.createPattern(tile, 'repeat');
}

function drawAttempts(u: uPlot, { plot, colors }: Marks): void {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  let free = -Infinity;
  ctx.lineWidth = ratio;
  ctx.textAlign = 'left';
  for (const { number, stepsBefore } of plot.attempts) {
    const x = u.valToPos(stepsBefore, 'x', true);
    if (stepsBefore > 0) {
      dashedLine(ctx, colors.attempt, [4, 3], x, bbox.top, x, bbox.top + bbox.height);
    }
    if (x < free) continue;
    ctx.fillStyle = colors.text;
    ctx.fillText(`attempt ${number}`, x + 3 * ratio, bbox.top - 2 * ratio);
    free = x + WORD_SPACE * ratio;
  }
}

function drawZoneWords(u: uPlot, { plot, colors, aheadWords, leasedWords }: Marks): void {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  const y = bbox.top + bbox.height - 5 * ratio;
  const charged = u.valToPos(plot.chargedSteps, 'x', true);
  const words = (text: string, from: number, to: number) => {
    if (ctx.measureText(text).width + 8 * ratio > to - from) return;
    ctx.textAlign = 'center';
    haloText(ctx, text, (from + to) / 2, y, colors);
  };
  if ((plot.steps.at(-1) ?? 0) > plot.chargedSteps)
    words(aheadWords, charged, bbox.left + bbox.width);
  if (plot.leasedSteps > 0) words(leasedWords, u.valToPos(leasedFrom(plot), 'x', true), charged);
}
