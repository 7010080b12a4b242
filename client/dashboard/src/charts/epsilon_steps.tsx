import { useMemo } from 'preact/hooks';
import type { EpsilonSeries } from '../api/messages';
import { count } from '../format/numbers';
import type { Curve } from './curve';
import { CurveChart } from './curve_chart';
import { EpsilonGround, EpsilonMarks } from './epsilon_marks';
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
  const curves = useMemo(() => curvesOf(plot), [plot]);
  const top = Math.max(plot.top, plot.cap ?? 0);
  return (
    <CurveChart
      title={`Epsilon at delta ${words} against step`}
      summary={summaryWords(plot, words, accountant)}
      xs={plot.steps}
      curves={curves}
      x={{
        words: { title: 'steps' },
        kind: 'linear',
        domain: { first: 0, last: Math.max(1, plot.steps.at(-1) ?? 1) },
      }}
      y={{
        words: { title: `epsilon at delta ${words}` },
        kind: 'linear',
        // Room above the highest line, the cap included.
        domain: { first: 0, last: top > 0 ? top * 1.12 : 1 },
      }}
      table={table}
      readout={(index) => readoutWords(series, plot, index, words)}
      position={(index) => `step ${count(plot.steps[index] ?? 0)}`}
      initialIndex={Math.max(0, plot.chargedCount - 1)}
      isGrowing
      legend={<StepLegend plot={plot} accountant={accountant} />}
      ground={(place) => <EpsilonGround plot={plot} {...place} />}
      marks={(place) => (
        <EpsilonMarks
          plot={plot}
          capOwner={capOwner(plot)}
          capWords={plot.cap === null ? '' : capWords(plot.cap, words)}
          {...place}
        />
      )}
    />
  );
}

function curvesOf(plot: EpsilonPlot): Curve[] {
  const numbers = (values: readonly (number | null)[]) => values.map((value) => value ?? NaN);
  const hasLower = plot.lower.some((value) => value !== null);
  const kind = plot.isApproximation ? 'approximation' : hasLower ? 'band' : 'bound';
  return [
    { name: 'charged', kind, color: 1, upper: numbers(plot.upper), lower: numbers(plot.lower) },
    { name: 'ahead', kind: 'ahead', color: 1, upper: numbers(plot.ahead) },
  ];
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
