import { countOf, type Charge } from '../api/messages';
import { idOf } from '../api/resource_names';
import { Badge } from '../design/badge';
import { Ago } from '../design/time';
import { Grid } from '../design/grid';
import { count, counted } from '../format/numbers';
import { causeWords, reasonWords, remedyWords } from '../format/refusals';
import { isWord, Term } from '../glossary/term';
import { hrefOf } from '../router';
import { eventOfCharge, sessionsOf, type RefusalGroup } from './refusal_groups';

/** Returns "people" and "first" from a charge's name. */
function ownerOf(charge: Charge): { budget: string; session: string; attempt: string } {
  const parts = charge.name.split('/');
  return { budget: parts[1] ?? '', session: parts[3] ?? '', attempt: parts[5] ?? '' };
}

/** The reason in words, explained where the glossary does. */
function Reason({ reason }: { reason: string | undefined }) {
  const word = (reason ?? '').toLowerCase().replaceAll('_', '-');
  const words = reasonWords(reason);
  return isWord(word) ? <Term word={word}>{words}</Term> : <>{words}</>;
}

/** Charges of one session, with their decisions. */
export function ChargesTable({ charges }: { charges: readonly Charge[] }) {
  return (
    <Grid label="Charges" heads={['Charge', 'Decision', 'Event', '#Times', '#Entry', 'When']}>
      {charges.map((charge) => (
        <tr key={charge.name}>
          <th scope="row" class="breakable">
            {idOf(charge.name)}
            <span class="under">attempt {ownerOf(charge).attempt}</span>
          </th>
          <td data-label="Decision" class="short">
            {charge.decision === 'ACCEPTED' ? (
              <Badge tone="good" icon="check">
                accepted
              </Badge>
            ) : (
              <Badge tone="bad" icon="cross">
                refused
              </Badge>
            )}
          </td>
          <td data-label="Event">{eventOfCharge(charge) || 'unknown event'}</td>
          <td data-label="Times" class="number">
            {count(charge.count)}
          </td>
          <td data-label="Entry" class="number">
            {count(charge.sequence)}
          </td>
          <td data-label="When" class="short">
            <Ago time={charge.createTime} />
          </td>
        </tr>
      ))}
    </Grid>
  );
}

/** Refused charges and sessions: the request, the reason, and what to do, as of the newest. */
export function RefusalsTable({
  groups,
  ofOneSession,
}: {
  groups: readonly RefusalGroup[];
  ofOneSession?: boolean;
}) {
  return (
    <Grid
      label="Refused charges"
      heads={[
        ofOneSession === true ? 'Charge' : 'Session',
        'Asked for',
        'Why not',
        'What to do',
        'When',
      ]}
    >
      {groups.map((group) => (
        <RefusalRow key={group.key} group={group} ofOneSession={ofOneSession === true} />
      ))}
    </Grid>
  );
}

function RefusalRow({ group, ofOneSession }: { group: RefusalGroup; ofOneSession: boolean }) {
  const charge = group.charges[0] as Charge;
  const times = group.charges.length;
  const others = sessionsOf(group).length - 1;
  const { budget, session, attempt } = ownerOf(charge);
  const refusal = charge.refusal ?? {};
  const limiting = refusal.limitingResource ?? '';
  const cause = causeWords(refusal);
  const isPlan = charge.event === undefined && (charge.eventDescription ?? '') === '';
  return (
    <tr>
      <th scope="row" class="breakable">
        {isPlan ? (
          `${budget}/${session}`
        ) : ofOneSession ? (
          idOf(charge.name)
        ) : (
          <a href={hrefOf({ page: 'session', budget, session })}>
            {budget}/<wbr />
            {session}
          </a>
        )}
        <span class="under">
          {!isPlan &&
            `${ofOneSession ? '' : `${idOf(charge.name)}, `}attempt ${attempt}, `}
          entry {count(charge.sequence)}
        </span>
        {times > 1 && (
          <span class="under">
            and {count(times - 1)} more for this reason
            {others > 0 && ` in ${counted(others, 'other session')}`}, since <Ago time={group.charges.at(-1)?.createTime} />
          </span>
        )}
      </th>
      <td data-label="Asked for">
        <span>
          {isPlan
            ? 'to open the session: it was not created'
            : `${count(charge.count)} × ${eventOfCharge(charge)}`}
        </span>
      </td>
      <td data-label="Why not">
        <Badge tone="bad" icon="cross" wide>
          <Reason reason={refusal.reason} />
        </Badge>
        {limiting !== '' && (
          <span class="under">{limiting.replace('budgets/', '').replace('/sessions/', '/')}</span>
        )}
        {cause !== '' && <span class="under">{cause}</span>}
      </td>
      <td data-label="What to do">
        <span>{remedyWords(refusal)}</span>
        {countOf(refusal.stepsThatFit) > 0 && (
          <span class="under">As of then: others may have spent since.</span>
        )}
      </td>
      <td data-label="When" class="short">
        <Ago time={charge.createTime} />
      </td>
    </tr>
  );
}
