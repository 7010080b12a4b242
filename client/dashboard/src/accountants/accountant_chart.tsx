import { useMemo } from 'preact/hooks';
import { pathOfResource } from '../api/client';
import {
  numberOf,
  type AccountantKind,
  type AccountantReading,
  type EpsilonSeries,
} from '../api/messages';
import { useGet } from '../api/read';
import {
  accountantPlot,
  accountantTable,
  accountantWords,
  drawnAccountants,
  type AccountantSeries,
} from '../charts/accountant_curves';
import { CurveChart } from '../charts/curve_chart';
import { roundOut } from '../charts/scale';
import { delta, deltaText } from '../delta';
import { OutOfDate } from '../design/answer';
import { Problem } from '../design/notice';
import { accountantName } from '../format/names';
import { count, roundedUp } from '../format/numbers';

// With few points, the steep beginning of a bound would be drawn too low.
const POINT_COUNT = 100;

interface AccountantChartProps {
  /** "budgets/people/sessions/first". */
  session: string;
  readings: readonly AccountantReading[];
}

/** Epsilon at delta against step under the most useful accountants. */
export function AccountantChart({ session, readings }: AccountantChartProps) {
  const drawn = drawnAccountants(readings);
  const answers = [
    useSeries(session, drawn[0]),
    useSeries(session, drawn[1]),
    useSeries(session, drawn[2]),
    useSeries(session, drawn[3]),
    useSeries(session, drawn[4]),
  ].slice(0, drawn.length);
  const series = answers.map(({ value }) => value);
  const isWhole = series.length > 0 && series.every((one) => one !== undefined);
  const plot = useMemo(
    () =>
      accountantPlot(
        isWhole
          ? drawn.map((accountant, i): AccountantSeries => ({
              accountant,
              series: series[i] ?? {},
            }))
          : [],
      ),
    [isWhole, drawn.join(), ...series],
  );
  if (drawn.length === 0) return null;
  const error = answers.find((answer) => answer.error)?.error;
  if (!isWhole && error !== undefined) {
    return <Problem error={error} what="Epsilon against step" />;
  }
  if (!isWhole) {
    return (
      <p class="muted" role="status">
        Loading the curves …
      </p>
    );
  }
  const far = readings.filter(
    ({ accountant, guarantee }) =>
      Number.isFinite(numberOf(guarantee?.upper) ?? Infinity) &&
      (numberOf(guarantee?.upper) ?? 0) > plot.top * 1.0001 &&
      !drawn.includes(accountant ?? 'KIND_UNSPECIFIED'),
  );
  const words = deltaText.value;
  return (
    <>
      {error !== undefined && <OutOfDate what="epsilon against step" error={error} />}
      <CurveChart
        title={`Epsilon at delta ${words} against step, by accountant`}
        summary={accountantWords(plot, plot.steps.length - 1, words)}
        xs={plot.steps}
        curves={plot.curves}
        x={{
          words: { title: 'steps' },
          kind: 'linear',
          domain: { first: 0, last: Math.max(1, plot.steps.at(-1) ?? 1) },
        }}
        y={{
          words: { title: `epsilon at delta ${words}` },
          kind: 'linear',
          domain: roundOut({ first: 0, last: plot.top }, 6),
        }}
        table={accountantTable(plot, words)}
        readout={(index) => accountantWords(plot, index, words)}
        position={(index) => `step ${count(plot.steps[index] ?? 0)}`}
        initialIndex={Math.max(0, plot.steps.length - 1)}
      />
      {far.length > 0 && (
        <p class="curve-words">
          Above the chart:{' '}
          {far
            .map(
              ({ accountant, guarantee }) =>
                `${accountantName(accountant)}, epsilon ${roundedUp(numberOf(guarantee?.upper) ?? NaN)} at delta ${words}`,
            )
            .join('; ')}
          .
        </p>
      )}
    </>
  );
}

function useSeries(session: string, accountant: AccountantKind | undefined) {
  return useGet<EpsilonSeries>(
    accountant === undefined ? undefined : pathOfResource(session, 'series'),
    { delta: delta.value, accountant, pointCount: POINT_COUNT },
    { touchedBy: [session] },
  ).value;
}
