import { useMemo } from 'preact/hooks';
import { pathOfResource } from '../api/client';
import {
  numberOf,
  type GetPrivacyProfileResponse,
  type PrivacyProfilePoint,
  type SessionGuarantees,
} from '../api/messages';
import { useGet, useRpc } from '../api/read';
import { CurveChart } from '../charts/curve_chart';
import type { Curve } from '../charts/curve';
import {
  deltaWords,
  DEEPEST_POWER,
  profileCurves,
  profilePoints,
  profileTable,
  profileWords,
  type ProfilePoint,
} from '../charts/profile_curves';
import { roundOut } from '../charts/scale';
import { delta, deltaText } from '../delta';
import { accountantName } from '../format/names';
import { roundedUp } from '../format/numbers';
import { AccountantChoice, chosenAccountant } from '../accountants/accountant_choice';
import { CurvePage } from './curve_page';

/** The axis ends where delta is this small, or at what was chosen if that is smaller. */
const LAST_DELTA = 1e-10;
const POINT_COUNT = 161;

/** Delta as a function of epsilon, of what a session was charged. */
export function PrivacyProfilePage({ budget, session }: { budget: string; session: string }) {
  const name = `budgets/${budget}/sessions/${session}`;
  const accountant = chosenAccountant();
  const smallest = Math.min(LAST_DELTA, delta.value / 100);
  const end = useEpsilonAt(name, smallest, accountant);
  const last = end === undefined ? undefined : endOfAxis(end);
  const answer = useRpc<GetPrivacyProfileResponse>(
    'SessionService.GetSessionPrivacyProfile',
    last === undefined
      ? undefined
      : { name, accountant, epsilonRange: { first: 0, last, count: POINT_COUNT } },
    { touchedBy: [name] },
  );
  return (
    <CurvePage
      page="profile"
      title="Privacy profile"
      budget={budget}
      session={session}
      read={answer}
      what="the privacy profile"
      controls={<AccountantChoice session={name} />}
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

/** Epsilon at a delta under an accountant; undefined while it is not known. */
function useEpsilonAt(session: string, at: number, accountant: string): number | undefined {
  const answer = useGet<SessionGuarantees>(
    pathOfResource(session, 'guarantees'),
    { delta: at },
    { touchedBy: [session] },
  );
  const told = answer.value.value;
  if (told === undefined) return undefined;
  const reading = told.readings?.find((one) => one.accountant === accountant);
  return numberOf(reading?.guarantee?.upper) ?? Infinity;
}

// Where there is no finite epsilon, what people call private still has a place.
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
      summary={profileSummary(points, reached, words)}
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

function profileSummary(points: readonly ProfilePoint[], reached: number, words: string): string {
  const first = points[0];
  const at = points[reached];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return 'No points.';
  if (at === undefined) {
    return `Delta stays above ${words.replace('delta ', '')} up to epsilon ${roundedUp(last.epsilon)}, where the axis ends.`;
  }
  return (
    `Delta falls from ${deltaWords(first)} at epsilon 0; ` +
    `from epsilon ${roundedUp(at.epsilon)} on it is at most ${words.replace('delta ', '')}.`
  );
}
