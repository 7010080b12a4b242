import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { pathOfResource } from '../api/client';
import { countOf, type Session } from '../api/messages';
import { useGet, type Read } from '../api/read';
import { Answer } from '../design/answer';
import { ClaimBadge, isUnproven } from '../design/badge';
import { Empty, Notice } from '../design/notice';
import { PageHead } from '../design/page_head';
import { hrefOf, type SessionView } from '../router';
import { SessionViews } from './session_views';
import './curve_page.css';

interface SessionPageHeadProps {
  page: SessionView;
  title: string;
  budget: string;
  session: string;
  /** The session itself, as far as it is known. */
  told: Session | undefined;
}

/** The session that a page looks at. */
export function useSession(budget: string, session: string): Session | undefined {
  const name = `budgets/${budget}/sessions/${session}`;
  return useGet<Session>(pathOfResource(name), {}, { touchedBy: [name] }).value.value;
}

/** In place of curves of nothing: the command that changes that. */
export function NothingCharged({ budget, session }: { budget: string; session: string }) {
  const command = `epsctl charge create ${budget}/${session} --open-attempt --gaussian 40 --count 10`;
  return (
    <Empty command={command}>
      Nothing was charged to this session yet, so there is nothing to show. A charge is made with:
    </Empty>
  );
}

export function isUncharged(told: Session | undefined): boolean {
  return told !== undefined && countOf(told.acceptedChargeCount) === 0;
}

/** The head of the pages that look at one session, with what is claimed of it. */
export function SessionPageHead(props: SessionPageHeadProps) {
  const { page, title, budget, session, told } = props;
  const claim = told?.claim;
  return (
    <>
      <PageHead
        title={title}
        crumbs={[
          { text: 'Budgets', href: hrefOf({ page: 'overview' }) },
          { text: budget, href: hrefOf({ page: 'budget', budget }) },
          { text: session, href: hrefOf({ page: 'session', budget, session }) },
        ]}
        badges={told !== undefined && <ClaimBadge claim={claim} />}
      >
        <SessionViews budget={budget} session={session} current={page} />
      </PageHead>
      {isUnproven(claim) && (
        <Notice tone="warn">
          <p>
            <strong>{claim?.label}.</strong> Nothing is proven of this session, so there is no
            finite bound, and what is shown here says so.
          </p>
        </Notice>
      )}
    </>
  );
}

interface CurvePageProps<T> extends Omit<SessionPageHeadProps, 'told'> {
  read: ReadonlySignal<Read<T>>;
  /** What is asked for: "the trade-off curve". */
  what: string;
  controls?: ComponentChildren;
  children: (value: T) => ComponentChildren;
}

/** A page that shows one curve of one session. */
export function CurvePage<T>(props: CurvePageProps<T>) {
  const { page, title, budget, session, read, what, controls, children } = props;
  const told = useSession(budget, session);
  const head = (
    <SessionPageHead page={page} title={title} budget={budget} session={session} told={told} />
  );
  if (isUncharged(told)) {
    return (
      <>
        {head}
        <NothingCharged budget={budget} session={session} />
      </>
    );
  }
  return (
    <>
      {head}
      {controls !== undefined && <div class="curve-controls">{controls}</div>}
      <Answer read={read} what={what}>
        {children}
      </Answer>
    </>
  );
}
