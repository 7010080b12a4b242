import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { pathOfResource } from '../api/client';
import { countOf, type Session } from '../api/messages';
import { useGet, type Read } from '../api/read';
import { sessionName } from '../api/resource_names';
import { AccountantChoice } from '../accountants/accountant_choice';
import { Answer } from '../design/answer';
import { ClaimBadge, isUnproven } from '../design/badge';
import { Notice } from '../design/notice';
import { PageHead } from '../design/page_head';
import { NothingCharged } from '../ledger/nothing_charged';
import type { SessionView } from '../router';
import { crumbsTo } from './crumbs';
import { SessionViews } from './session_views';
import './curve_page.css';

interface SessionPageHeadProps {
  page: SessionView;
  title: string;
  budget: string;
  session: string;
  /** The session itself, if it is known. */
  told: Session | undefined;
}

/** The session of a page. */
export function useSession(budget: string, session: string): ReadonlySignal<Read<Session>> {
  const name = sessionName(budget, session);
  return useGet<Session>(pathOfResource(name), {}, { touchedBy: [name] });
}

/** The head of the pages about one session, with its claim. */
export function SessionPageHead(props: SessionPageHeadProps) {
  const { page, title, budget, session, told } = props;
  const claim = told?.claim;
  return (
    <>
      <PageHead
        title={title}
        crumbs={crumbsTo(budget, session)}
        badges={told !== undefined && <ClaimBadge claim={claim} />}
      >
        <SessionViews budget={budget} session={session} current={page} />
      </PageHead>
      {isUnproven(claim) && (
        <Notice tone="warn">
          <p>
            <strong>{claim?.label}.</strong> Nothing is proven about this session, so there is no
            finite bound, and all numbers here say so.
          </p>
        </Notice>
      )}
    </>
  );
}

interface CurvePageProps<T> extends Omit<SessionPageHeadProps, 'told'> {
  read: ReadonlySignal<Read<T>>;
  /** Beside the choice of the accountant. */
  controls?: ComponentChildren;
  children: (value: T) => ComponentChildren;
}

/** A page that shows one curve of one session. */
export function CurvePage<T>(props: CurvePageProps<T>) {
  const { page, title, budget, session, read, controls, children } = props;
  return (
    <ChargedSession page={page} title={title} budget={budget} session={session}>
      <div class="curve-controls">
        {controls}
        <AccountantChoice session={sessionName(budget, session)} />
      </div>
      <Answer read={read} what={`the ${title.toLowerCase()}`}>
        {children}
      </Answer>
    </ChargedSession>
  );
}

interface ChargedSessionProps extends Omit<SessionPageHeadProps, 'told'> {
  children: ComponentChildren;
}

/** A page of numbers of one session: always with its claim. */
export function ChargedSession({ children, ...head }: ChargedSessionProps) {
  const { budget, session } = head;
  const read = useSession(budget, session);
  return (
    <>
      <SessionPageHead {...head} told={read.value.value} />
      <Answer read={read} what={`session ${budget}/${session}`}>
        {(told) => (countOf(told.acceptedChargeCount) === 0 ? <NothingCharged session={told} /> : children)}
      </Answer>
    </>
  );
}
