// Which page a route shows.

import type { JSX } from 'preact';
import type { Route } from '../router';
import { AuditPage } from './audit';
import { BudgetPage } from './budget/budget';
import { ComparePage } from './compare';
import { LoginPage } from './login';
import { NotFoundPage } from './not_found';
import { OverviewPage } from './overview/overview';
import { PlannerPage } from './planner';
import { PrivacyProfilePage } from './privacy_profile';
import { RefusalsPage } from './refusals';
import { ServerPage } from './server';
import { SessionPage } from './session/session';
import { TradeOffPage } from './trade_off';

/** The properties of every page of a session. */
export interface SessionPageProps {
  budget: string;
  session: string;
}

/** The properties of a page that works with and without a session. */
export interface OptionalSessionPageProps {
  budget?: string;
  session?: string;
}

export function pageOf(route: Route): JSX.Element {
  switch (route.page) {
    case 'overview':
      return <OverviewPage />;
    case 'login':
      return <LoginPage />;
    case 'server':
      return <ServerPage />;
    case 'refusals':
      return <RefusalsPage key={route.budget} budget={route.budget} />;
    case 'audit':
      return <AuditPage key={route.budget} budget={route.budget} />;
    case 'budget':
      return <BudgetPage key={route.budget} budget={route.budget} />;
    case 'session':
      return <SessionPage key={keyOf(route)} budget={route.budget} session={route.session} />;
    case 'trade-off':
      return <TradeOffPage key={keyOf(route)} budget={route.budget} session={route.session} />;
    case 'profile':
      return (
        <PrivacyProfilePage key={keyOf(route)} budget={route.budget} session={route.session} />
      );
    case 'compare':
      return <ComparePage key={keyOf(route)} budget={route.budget} session={route.session} />;
    case 'planner':
      return <PlannerPage key={keyOf(route)} budget={route.budget} session={route.session} />;
    case 'not-found':
      return <NotFoundPage path={route.path} />;
  }
}

function keyOf(route: { budget?: string; session?: string }): string {
  return `${route.budget ?? ''}/${route.session ?? ''}`;
}

/** The title in the browser's tab and for a screen reader. */
export function titleOf(route: Route): string {
  switch (route.page) {
    case 'overview':
      return 'Budgets';
    case 'login':
      return 'Log in';
    case 'server':
      return 'Server';
    case 'refusals':
      return route.budget === undefined ? 'Refusals' : `Refusals of ${route.budget}`;
    case 'audit':
      return route.budget === undefined ? 'Audit' : `Audit of ${route.budget}`;
    case 'budget':
      return `Budget ${route.budget}`;
    case 'session':
      return `Session ${route.budget}/${route.session}`;
    case 'trade-off':
      return `Trade-off curve of ${route.budget}/${route.session}`;
    case 'profile':
      return `Privacy profile of ${route.budget}/${route.session}`;
    case 'compare':
      return route.session === undefined
        ? 'Compare accountants'
        : `Accountants of ${route.budget}/${route.session}`;
    case 'planner':
      return route.session === undefined
        ? 'Planner'
        : `Planner of ${route.budget}/${route.session}`;
    case 'not-found':
      return 'Not found';
  }
}
