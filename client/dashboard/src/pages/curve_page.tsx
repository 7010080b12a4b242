import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { pathOfResource } from '../api/client';
import type { Session } from '../api/messages';
import { useGet, type Read } from '../api/read';
import { Answer } from '../design/answer';
import { ClaimBadge, isUnproven } from '../design/badge';
import { Notice } from '../design/notice';
import { PageHead } from '../design/page_head';
import { hrefOf, type SessionView } from '../router';
import { SessionViews } from './session_views';
import './curve_page.css';

interface SessionPageHeadProps {
  page: SessionView;
  title: string;
  budget: string;
  session: string;
}

/** The head of the pages that look at one session, with what is claimed of it. */
export function SessionPageHead({ page, title, budget, session }: SessionPageHeadProps) {
  const name = `budgets/${budget}/sessions/${session}`;
  const told = useGet<Session>(pathOfResource(name), {}, { touchedBy: [name] });
  const claim = told.value.value?.claim;
  return (
    <>
      <PageHead
        title={title}
        crumbs={[
          { text: 'Budgets', href: hrefOf({ page: 'overview' }) },
          { text: budget, href: hrefOf({ page: 'budget', budget }) },
          { text: session, href: hrefOf({ page: 'session', budget, session }) },
        ]}
        badges={told.value.value !== undefined && <ClaimBadge claim={claim} />}
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

interface CurvePageProps<T> extends SessionPageHeadProps {
  read: ReadonlySignal<Read<T>>;
  /** What is asked for: "the trade-off curve". */
  what: string;
  controls?: ComponentChildren;
  children: (value: T) => ComponentChildren;
}

/** A page that shows one curve of one session. */
export function CurvePage<T>(props: CurvePageProps<T>) {
  const { page, title, budget, session, read, what, controls, children } = props;
  return (
    <>
      <SessionPageHead page={page} title={title} budget={budget} session={session} />
      {controls !== undefined && <div class="curve-controls">{controls}</div>}
      <Answer read={read} what={what}>
        {children}
      </Answer>
    </>
  );
}
