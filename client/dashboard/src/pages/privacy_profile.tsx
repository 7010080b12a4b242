import { useMemo } from 'preact/hooks';
import { get, pathOfResource, rpc, type Result } from '../api/client';
import {
  numberOf,
  type GetPrivacyProfileResponse,
  type PrivacyProfilePoint,
  type SessionGuarantees,
} from '../api/messages';
import { useAnswer } from '../api/read';
import { sessionName } from '../api/resource_names';
import { CurveChart } from '../charts/curve_chart';
import type { Curve } from '../charts/curve';
import {
  DEEPEST_POWER,
  profileCurves,
  profilePoints,
  profileSummary,
  profileTable,
  profileWords,
} from '../charts/profile_curves';
import { roundOut } from '../charts/scale';
import { delta, deltaText } from '../delta';
import { accountantName } from '../format/names';
import { roundedUp } from '../format/numbers';
import { chosenAccountant } from '../accountants/accountant_choice';
import { CurvePage } from './curve_page';
import type { SessionPageProps } from './registry';

/** The axis ends where delta is this small, or at the chosen delta if that is smaller. */
const LAST_DELTA = 1e-10;
const POINT_COUNT = 161;

/** Delta as a function of epsilon, for the charges of a session. */
export function PrivacyProfilePage({ budget, session }: SessionPageProps) {
  const name = sessionName(budget, session);
  const accountant = chosenAccountant();
  const smallest = Math.min(LAST_DELTA, delta.value / 100);
  const ask = async (abort: AbortSignal): Promise<Result<GetPrivacyProfileResponse>> => {
    // The axis ends at the epsilon of its smallest delta.
    const told = await get<SessionGuarantees>(
      pathOfResource(name, 'guarantees'),
      { delta: smallest },
      abort,
    );
    if (!told.ok) return told;
    const reading = told.value.readings?.find((one) => one.accountant === accountant);
    const last = endOfAxis(numberOf(reading?.guarantee?.upper) ?? Infinity);
    return rpc<GetPrivacyProfileResponse>(
      'SessionService.GetSessionPrivacyProfile',
      { name, accountant, epsilonRange: { first: 0, last, count: POINT_COUNT } },
      abort,
    );
  };
  const read = useAnswer(`profile ${name} ${accountant} ${smallest}`, ask, { touchedBy: [name] });
  return (
    <CurvePage
      page="profile"
      title="Privacy profile"
      budget={budget}
      session={session}
      read={read}
    >
      {({ points = [] }) => (
        <>
          <ProfileChart points={points} name={accountantName(accountant)} smallest={smallest} />
          <p class="curve-words">
            Every point of the curve is a guarantee of the same history: it is (epsilon,
            delta)-differentially private at all of them at once.
          </p>
        </>
      )}
    </CurvePage>
  );
}

// Without a finite epsilon, the usual epsilons of private training still have a place.
const WITHOUT_BOUND = 10;

function endOfAxis(epsilon: number): number {
  if (!Number.isFinite(epsilon) || epsilon <= 0) return WITHOUT_BOUND;
  return roundOut({ first: 0, last: epsilon }, 5).last;
}

interface ProfileChartProps {
  points: readonly PrivacyProfilePoint[];
  name: string;
  smallest: number;
}

function ProfileChart({ points: told, name, smallest }: ProfileChartProps) {
  const points = useMemo(() => profilePoints(told), [told]);
  const xs = useMemo(() => points.map(({ epsilon }) => epsilon), [points]);
  const wanted = Math.log10(delta.value);
  const reached = points.findIndex(({ upper }) => upper <= wanted);
  const words = `delta ${deltaText.value}`;
  const curves: Curve[] = [
    {
      name: words,
      kind: 'reference',
      color: 0,
      upper: points.map(() => wanted),
      label: { text: words, at: 0, side: 'above' },
    },
    ...profileCurves(points, name),
  ];
  const deepest = Math.max(DEEPEST_POWER, Math.floor(Math.log10(smallest) + 1e-9));
  return (
    <CurveChart
      title="Delta against epsilon"
      summary={profileSummary(points, reached, deltaText.value)}
      xs={xs}
      curves={curves}
      x={{
        words: { title: 'epsilon' },
        kind: 'linear',
        domain: { first: 0, last: xs.at(-1) ?? 1 },
      }}
      y={{
        words: { title: 'delta (logarithmic)' },
        kind: 'powers',
        domain: { first: deepest, last: 0 },
      }}
      table={profileTable(points)}
      readout={(index) => profileWords(points[index])}
      position={(index) => `epsilon ${roundedUp(points[index]?.epsilon ?? 0)}`}
      initialIndex={Math.max(0, reached)}
    />
  );
}

