// What the best membership test can do against everything that was charged, at a few rates of false
// alarms.

import { get, pathOfResource, rpc } from '../api/client';
import { numberOf, type BudgetGuarantees, type GetTradeOffCurveResponse } from '../api/messages';
import { percent } from '../format/numbers';

const FALSE_ALARMS = [0.001, 0.01, 0.1];

/** "1.2% of members at 0.1% false alarms; ..."; empty if the server does not say all of them. */
export async function caughtWords(name: string, delta: string): Promise<string> {
  const isSession = name.split('/').length === 4;
  const rates = isSession ? await ofSession(name) : await ofBudget(name, delta);
  if (rates.length !== FALSE_ALARMS.length || rates.some((rate) => rate === undefined)) return '';
  return rates
    .map((rate, i) => {
      const caught = `${percent(rate ?? 1, 'up')}${i === 0 ? ' of members' : ''}`;
      return `${caught} at ${percent(FALSE_ALARMS[i] ?? 0, 'up')} false alarms`;
    })
    .join('; ');
}

async function ofSession(name: string): Promise<(number | undefined)[]> {
  const answer = await rpc<GetTradeOffCurveResponse>('SessionService.GetSessionTradeOffCurve', {
    name,
    accountant: 'BEST',
    typeOneErrors: FALSE_ALARMS,
  });
  if (!answer.ok) return [];
  return (answer.value.points ?? []).map(({ truePositiveRateUpper: rate }) => numberOf(rate));
}

async function ofBudget(name: string, delta: string): Promise<(number | undefined)[]> {
  const answers = await Promise.all(
    FALSE_ALARMS.map((typeOneError) =>
      get<BudgetGuarantees>(pathOfResource(name, 'guarantees'), { delta, typeOneError }),
    ),
  );
  return answers.map((answer) =>
    answer.ok ? numberOf(answer.value.truePositiveRateUpper) : undefined,
  );
}
