import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { indexAfterKey, nearestIndex } from './chart_cursor';
import { ChartFigure } from './chart_figure';
import type { ChartTable } from './chart_table';
import { CurveAxes, type AxisWords } from './curve_axes';
import { CurveLegend } from './curve_legend';
import type { Curve } from './curve';
import { bandPath, linePath } from './curve_path';
import { makeScale, type Interval, type Scale, type ScaleKind } from './scale';

export interface CurveAxis {
  words: AxisWords;
  kind: ScaleKind;
  domain: Interval;
}

export interface CurveChartProps {
  title: string;
  // The chart in one or two sentences, for those who do not see it and those who do.
  summary: string;
  // Rising.
  xs: readonly number[];
  curves: readonly Curve[];
  x: CurveAxis;
  y: CurveAxis;
  table: ChartTable;
  // The values under the cursor, as a sentence.
  readout(index: number): string;
  // The x value there, short, as the position of the cursor.
  position(index: number): string;
  // The first position of the cursor; when it is given again, the cursor returns there.
  initialIndex: number;
  // The chart grows: the cursor follows initialIndex, but for the time that somebody holds it.
  isGrowing?: boolean;
  // In place of the names and kinds of the curves.
  legend?: ComponentChildren;
  // Drawn below the curves, and above them.
  ground?(place: Placement): ComponentChildren;
  marks?(place: Placement): ComponentChildren;
}

/** Where a chart draws. */
export interface Placement {
  area: PlotArea;
  x: Scale;
  y: Scale;
}

export interface PlotArea {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

// Room for the longest mark of the vertical axis, at the width of a digit.
const DIGIT_WIDTH = 7;

function plotArea(width: number, y: CurveAxis): PlotArea {
  const ticks = makeScale(y.kind, y.domain, { first: 0, last: 1 }).ticks(6);
  const longest = Math.max(
    3,
    ...ticks.map(({ value, label }) => (y.words.label?.(value) ?? label).length),
  );
  return {
    width,
    height: width < 480 ? 280 : 360,
    left: 14 + longest * DIGIT_WIDTH,
    right: width - 22,
    top: 30,
    bottom: 44,
  };
}

// Curves, bands and references over one axis, drawn as SVG, with a cursor for pointer and keys.
export function CurveChart(props: CurveChartProps) {
  const { xs, curves, x, y, initialIndex } = props;
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  // An x value: it keeps its meaning when points are added. Null: the initial position.
  const [chosen, setChosen] = useState<number | null>(null);
  const names = useId();

  useEffect(() => {
    if (props.isGrowing !== true) setChosen(null);
  }, [initialIndex, xs.length, props.isGrowing]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);

  const area = plotArea(Math.max(240, width), y);
  const xScale = makeScale(x.kind, x.domain, { first: area.left, last: area.right });
  const yScale = makeScale(y.kind, y.domain, {
    first: area.height - area.bottom,
    last: area.top,
  });
  const places = xs.map((value) => xScale.place(value));
  const index = chosen === null ? initialIndex : nearestIndex(xs, chosen);
  const at = Math.min(Math.max(0, index), xs.length - 1);
  const choose = (position: number) => setChosen(xs[position] ?? null);
  const place = { area, x: xScale, y: yScale };
  const drawn = useMemo(
    () =>
      curves.map((curve) => (
        <CurveShape curve={curve} places={places} y={yScale} key={curve.name} />
      )),
    // The scales depend on these.
    [
      curves,
      xs,
      area.width,
      x.kind,
      x.domain.first,
      x.domain.last,
      y.kind,
      y.domain.first,
      y.domain.last,
    ],
  );

  const onPointer = (event: PointerEvent) => {
    const left = box.current?.getBoundingClientRect().left ?? 0;
    const nearest = nearestIndex(places, event.clientX - left);
    if (nearest >= 0) choose(nearest);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const next = indexAfterKey(event.key, at, xs.length);
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
  };

  return (
    <ChartFigure title={props.title} table={props.table} summary={props.summary}>
      {props.legend ?? <CurveLegend curves={curves} />}
      <div class="curve-box" ref={box}>
        {width > 0 && (
          <svg
            class="curve-svg"
            width={area.width}
            height={area.height}
            viewBox={`0 0 ${area.width} ${area.height}`}
            role="img"
            aria-labelledby={`${names}-title ${names}-summary`}
          >
            <title id={`${names}-title`}>{props.title}</title>
            <desc id={`${names}-summary`}>{props.summary}</desc>
            <defs>
              <clipPath id={`${names}-clip`}>
                <rect
                  x={area.left}
                  y={area.top - 1}
                  width={area.right - area.left}
                  height={area.height - area.bottom - area.top + 2}
                />
              </clipPath>
            </defs>
            <CurveAxes area={area} x={xScale} y={yScale} xWords={x.words} yWords={y.words} />
            <g clip-path={`url(#${names}-clip)`}>
              {props.ground?.(place)}
              {drawn}
            </g>
            {props.marks?.(place)}
            <ReferenceLabels curves={curves} xs={xs} x={xScale} y={yScale} area={area} />
            <Cursor at={at} places={places} curves={curves} y={yScale} area={area} />
          </svg>
        )}
        <div
          class="curve-cursor"
          role="slider"
          tabIndex={0}
          aria-label={`Cursor: ${x.words.title}`}
          aria-valuemin={0}
          aria-valuemax={Math.max(0, xs.length - 1)}
          aria-valuenow={Math.max(0, at)}
          aria-valuetext={at >= 0 ? props.position(at) : 'no points'}
          onPointerMove={onPointer}
          onPointerDown={onPointer}
          onPointerLeave={() => {
            if (props.isGrowing === true) setChosen(null);
          }}
          onKeyDown={onKey}
        />
      </div>
      <p class="chart-readout" aria-live="polite">
        {at >= 0 ? props.readout(at) : ''}
      </p>
    </ChartFigure>
  );
}

interface CurveShapeProps {
  curve: Curve;
  places: readonly number[];
  y: Scale;
}

function CurveShape({ curve, places, y }: CurveShapeProps) {
  const line = (values: readonly number[]) =>
    linePath(places.map((x, i) => ({ x, y: y.place(values[i] ?? NaN) })));
  const classes = `curve curve-${curve.kind} series-${curve.color}`;
  if (curve.kind !== 'band' || curve.lower === undefined) {
    return <path class={classes} d={line(curve.upper)} />;
  }
  const lower = curve.lower;
  const band = bandPath(
    places.map((x, i) => ({
      x,
      lower: y.place(lower[i] ?? NaN),
      upper: y.place(curve.upper[i] ?? NaN),
    })),
  );
  return (
    <g class={classes}>
      <path class="curve-area" d={band} />
      <path class="curve-edge" d={line(curve.upper)} />
      <path class="curve-edge" d={line(lower)} />
    </g>
  );
}

// The longest name of a curve, in CSS pixels.
const LABEL_ROOM = 170;

interface ReferenceLabelsProps {
  curves: readonly Curve[];
  xs: readonly number[];
  x: Scale;
  y: Scale;
  area: PlotArea;
}

function ReferenceLabels({ curves, xs, x, y, area }: ReferenceLabelsProps) {
  return (
    <>
      {curves.map((curve) => {
        // A phone has no room beside its curves: the legend has the names.
        const isCrowded = area.width < 480 && curve.kind !== 'reference';
        if (curve.label === undefined || isCrowded) return null;
        const index = nearestIndex(xs, curve.label.at);
        const left = x.place(xs[index] ?? NaN);
        const top = y.place(curve.upper[index] ?? NaN);
        if (!Number.isFinite(left) || !Number.isFinite(top)) return null;
        const next = y.place(curve.upper[index + 1] ?? curve.upper[index] ?? NaN);
        const isRising = next < top;
        const below = curve.label.side === 'below';
        // On the side where the curve turns away from its name, if it has room.
        const isBefore = isRising !== below && next !== top && left - area.left > LABEL_ROOM;
        return (
          <text
            class="curve-label"
            x={left + (isBefore ? -6 : 6)}
            y={below ? top + 18 : Math.max(area.top + 12, top - 8)}
            text-anchor={isBefore ? 'end' : 'start'}
            aria-hidden="true"
            key={curve.name}
          >
            {curve.label.text}
          </text>
        );
      })}
    </>
  );
}

interface CursorProps {
  at: number;
  places: readonly number[];
  curves: readonly Curve[];
  y: Scale;
  area: PlotArea;
}

function Cursor({ at, places, curves, y, area }: CursorProps) {
  const x = places[at];
  if (x === undefined || !Number.isFinite(x)) return null;
  return (
    <g class="curve-cursor-marks">
      <line x1={x} x2={x} y1={area.top} y2={area.height - area.bottom} />
      {curves.map((curve) => {
        const place = y.place(curve.upper[at] ?? NaN);
        const inside = place >= area.top - 1 && place <= area.height - area.bottom + 1;
        if (curve.kind === 'reference' || !inside) return null;
        return <circle class={`series-${curve.color}`} cx={x} cy={place} r={4} key={curve.name} />;
      })}
    </g>
  );
}
