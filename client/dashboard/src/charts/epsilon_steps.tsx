import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { EpsilonSeries } from '../api/messages';
import { count } from '../format/numbers';
import { chartColors, onThemeChange } from './chart_colors';
import { indexAfterKey, nearestIndex } from './chart_cursor';
import { ChartFigure } from './chart_figure';
import type { Marks } from './epsilon_marks';
import { plotHeight, plotOptions } from './epsilon_options';
import { epsilonPlot, type EpsilonPlot } from './epsilon_plot';
import {
  capOwner,
  capWords,
  deltaWords,
  readoutWords,
  stepTable,
  summaryWords,
} from './epsilon_words';

interface EpsilonStepsProps {
  series: EpsilonSeries;
  /** As typed, "1e-5", or as a number. */
  delta: string | number;
  accountant: string;
}

/**
 * Epsilon at delta against the steps of a session: what was charged, with its cap, its attempts and
 * the part in open leases, and the server's own curve ahead. It grows as charges come in.
 */
export function EpsilonSteps({ series, delta, accountant }: EpsilonStepsProps) {
  const words = deltaWords(delta);
  const plot = useMemo(() => epsilonPlot(series), [series]);
  const table = useMemo(() => stepTable(series, plot, words), [series, plot, words]);
  const title = `Epsilon at delta ${words} against step`;
  const summary = summaryWords(plot, words, accountant);
  return (
    <ChartFigure title={title} table={table} summary={summary}>
      <StepLegend plot={plot} accountant={accountant} />
      <StepCanvas series={series} plot={plot} delta={words} summary={summary} />
    </ChartFigure>
  );
}

function StepLegend({ plot, accountant }: { plot: EpsilonPlot; accountant: string }) {
  const kind = plot.isApproximation ? 'approximation, not a bound' : 'upper bound';
  const isAhead = (plot.steps.at(-1) ?? 0) > plot.chargedSteps;
  return (
    <ul class="curve-legend" aria-label="Lines">
      <li>
        <span
          class={plot.isApproximation ? 'step-key step-key-dashed' : 'step-key step-key-line'}
        />
        <span>
          charged, {accountant} <span class="curve-kind">({kind})</span>
        </span>
      </li>
      {plot.leasedSteps > 0 && (
        <li>
          <span class="step-key step-key-hatch" />
          <span>
            {count(plot.leasedSteps)} steps in open leases{' '}
            <span class="curve-kind">(charged, perhaps not used yet; drawn last)</span>
          </span>
        </li>
      )}
      {isAhead && (
        <li>
          <span class="step-key step-key-ahead" />
          <span>
            ahead <span class="curve-kind">(if the last event repeats until nothing fits)</span>
          </span>
        </li>
      )}
    </ul>
  );
}

interface StepCanvasProps {
  series: EpsilonSeries;
  plot: EpsilonPlot;
  delta: string;
  summary: string;
}

function StepCanvas({ series, plot, delta, summary }: StepCanvasProps) {
  const host = useRef<HTMLDivElement>(null);
  const plotRef = useRef<uPlot>();
  const marks = useRef<Marks>();
  const lastCharged = Math.max(0, plot.chargedCount - 1);
  // A step; null: the cursor follows the newest charge.
  const [chosen, setChosen] = useState<number | null>(null);
  const at = chosen === null ? lastCharged : nearestIndex(plot.steps, chosen);

  const currentMarks = (element: Element): Marks => ({
    plot,
    colors: chartColors(element),
    capOwner: capOwner(plot),
    capWords: plot.cap === null ? '' : capWords(plot.cap, delta),
    aheadWords: 'ahead',
    leasedWords: 'open leases',
  });

  // Built once for a kind of line; new data goes into the existing plot.
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    marks.current = currentMarks(element);
    const read = () => marks.current as Marks;
    const moved = (u: uPlot) => {
      // By the pointer; when it leaves, the cursor returns to the newest charge.
      if (u.cursor.event !== undefined && u.cursor.event !== null) {
        const index = u.cursor.idx ?? null;
        setChosen(index === null ? null : (u.data[0][index] ?? null));
      }
    };
    const u = new uPlot(plotOptions(read, element.clientWidth, moved), dataOf(plot), element);
    plotRef.current = u;
    const resize = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width > 0 && width !== u.width) u.setSize({ width, height: plotHeight(width) });
    });
    resize.observe(element);
    const stopTheme = onThemeChange(() => {
      if (marks.current !== undefined) marks.current.colors = chartColors(element);
      u.redraw();
    });
    return () => {
      resize.disconnect();
      stopTheme();
      u.destroy();
      plotRef.current = undefined;
    };
  }, [plot.isApproximation]);

  useEffect(() => {
    const u = plotRef.current;
    if (u === undefined || host.current === null) return;
    marks.current = currentMarks(host.current);
    u.setData(dataOf(plot));
    // The scale grows in a microtask; the cursor stays on its step.
    queueMicrotask(() => {
      if (chosen === null || plotRef.current !== u) return;
      u.setCursor({ left: u.valToPos(chosen, 'x'), top: 0 }, false);
    });
  }, [plot, delta]);

  const onKey = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const next = indexAfterKey(event.key, at, plot.steps.length);
    const u = plotRef.current;
    if (next === undefined || u === undefined) return;
    event.preventDefault();
    const step = plot.steps[next] ?? 0;
    setChosen(step);
    u.setCursor({ left: u.valToPos(step, 'x'), top: 0 }, false);
  };

  return (
    <>
      <p class="axis-title" aria-hidden="true">
        epsilon at delta {delta}
      </p>
      <div class="step-box">
        <div ref={host} class="step-host" role="img" aria-label={summary} />
        <div
          class="step-cursor"
          role="slider"
          tabIndex={0}
          aria-label="Cursor: step"
          aria-valuemin={0}
          aria-valuemax={Math.max(0, plot.steps.length - 1)}
          aria-valuenow={Math.max(0, at)}
          aria-valuetext={`step ${count(plot.steps[at] ?? 0)}`}
          onKeyDown={onKey}
        />
      </div>
      <p class="axis-title axis-title-right" aria-hidden="true">
        steps
      </p>
      <p class="chart-readout" aria-live="polite">
        {readoutWords(series, plot, at, delta)}
      </p>
    </>
  );
}

function dataOf(plot: EpsilonPlot): uPlot.AlignedData {
  return [plot.steps, plot.upper, plot.lower, plot.ahead];
}
