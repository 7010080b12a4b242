import { useMemo } from 'preact/hooks';
import type { GetTradeOffCurveResponse, TradeOffPoint } from '../api/messages';
import { useRpc } from '../api/read';
import { sessionName } from '../api/resource_names';
import { CurveChart } from '../charts/curve_chart';
import {
  attackBounds,
  attackWords,
  falseAlarmRates,
  falseAlarmWords,
  shownBounds,
  SMALLEST_FALSE_ALARM,
  tradeOffCurves,
  tradeOffSummary,
  tradeOffTable,
  type TradeOffView,
} from '../charts/trade_off_curves';
import { accountantName } from '../format/names';
import { percent } from '../format/numbers';
import { query, setQuery } from '../router';
import { chosenAccountant } from '../accountants/accountant_choice';
import { CurvePage } from './curve_page';
import type { SessionPageProps } from './registry';

// The first is the usual one: an attack is dangerous where it raises few false alarms.
const VIEWS: { view: TradeOffView; name: string }[] = [
  { view: 'few-false-alarms', name: 'Few false alarms (log-log)' },
  { view: 'trade-off', name: 'All false alarms' },
];

/** The false alarm rate that people usually ask about. */
const FIRST_LOOK = 0.01;

/** What a membership test can do against the charges of a session. */
export function TradeOffPage({ budget, session }: SessionPageProps) {
  const name = sessionName(budget, session);
  const accountant = chosenAccountant();
  const view: TradeOffView = query.value.get('view') === 'linear' ? 'trade-off' : 'few-false-alarms';
  const answer = useRpc<GetTradeOffCurveResponse>(
    'SessionService.GetSessionTradeOffCurve',
    { name, accountant, typeOneErrors: falseAlarmRates },
    { touchedBy: [name] },
  );
  return (
    <CurvePage
      page="trade-off"
      title="Trade-off curve"
      budget={budget}
      session={session}
      read={answer}
      controls={<ViewChoice view={view} />}
    >
      {({ points = [] }) => (
        <>
          <TradeOffChart points={points} view={view} name={accountantName(accountant)} />
          <p class="curve-words">
            An attacker guesses who was in the training data. False alarms are those who were not
            and are called members; caught are those who were. The curve holds for every attack,
            whatever it knows. With perfect privacy no attack beats a coin.
          </p>
        </>
      )}
    </CurvePage>
  );
}

function ViewChoice({ view }: { view: TradeOffView }) {
  return (
    <div class="choice" role="radiogroup" aria-labelledby="view-choice">
      <span id="view-choice">View</span>
      {VIEWS.map((choice) => (
        <label key={choice.view}>
          <input
            type="radio"
            name="view"
            checked={view === choice.view}
            onChange={() => setQuery({ view: choice.view === 'trade-off' ? 'linear' : undefined })}
          />
          {choice.name}
        </label>
      ))}
    </div>
  );
}

interface TradeOffChartProps {
  points: readonly TradeOffPoint[];
  view: TradeOffView;
  name: string;
}

function TradeOffChart({ points, view, name }: TradeOffChartProps) {
  const bounds = useMemo(() => shownBounds(attackBounds(points), view), [points, view]);
  const isLinear = view === 'trade-off';
  const whole = { first: isLinear ? 0 : SMALLEST_FALSE_ALARM, last: 1 };
  const kind = isLinear ? 'linear' : 'logarithmic';
  const share = (value: number) => percent(value, 'up', 3);
  return (
    <CurveChart
      title={
        isLinear ? 'Members missed against false alarms' : 'Members caught against false alarms'
      }
      summary={tradeOffSummary(bounds)}
      xs={bounds.map(({ falseAlarm }) => falseAlarm)}
      curves={tradeOffCurves(bounds, view, name)}
      x={{
        words: { title: 'false alarms (false positive rate)', label: share },
        kind,
        domain: whole,
      }}
      y={{
        words: {
          title: isLinear
            ? 'members missed (false negative rate)'
            : 'members caught (true positive rate)',
          label: share,
        },
        kind,
        domain: whole,
      }}
      table={tradeOffTable(bounds)}
      readout={(index) => attackWords(bounds[index])}
      position={(index) => falseAlarmWords(bounds[index]?.falseAlarm ?? 0)}
      initialIndex={Math.max(
        0,
        bounds.findIndex(({ falseAlarm }) => falseAlarm === FIRST_LOOK),
      )}
    />
  );
}
