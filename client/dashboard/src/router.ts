// The address of the shown page: "#/budgets/people/sessions/first/trade-off?delta=1e-6". Routes are
// in the hash, because the server answers only "/" and "/assets/*".

import { computed, signal } from '@preact/signals';

/** The pages of a session. */
export const SESSION_VIEWS = ['trade-off', 'profile', 'compare', 'planner'] as const;
export type SessionView = (typeof SESSION_VIEWS)[number];

export type Route =
  | { page: 'overview' }
  | { page: 'login' }
  | { page: 'server' }
  // Refusals of all budgets, or of one and everything below it.
  | { page: 'refusals'; budget?: string }
  // The ledger of one tree of budgets.
  | { page: 'audit'; budget?: string }
  | { page: 'budget'; budget: string }
  | { page: 'session'; budget: string; session: string }
  | { page: SessionView; budget: string; session: string }
  // Without a session: events that nobody charged.
  | { page: 'planner' | 'compare'; budget?: undefined; session?: undefined }
  | { page: 'not-found'; path: string };

export type Page = Route['page'];

function isSessionView(text: string | undefined): text is SessionView {
  return (SESSION_VIEWS as readonly (string | undefined)[]).includes(text);
}

/** Reads "/budgets/people?delta=1e-5", a hash without its "#". Never throws. */
export function readRoute(hash: string): { route: Route; query: URLSearchParams } {
  const at = hash.indexOf('?');
  const path = at < 0 ? hash : hash.slice(0, at);
  const query = new URLSearchParams(at < 0 ? '' : hash.slice(at + 1));
  return { route: routeOf(path), query };
}

function routeOf(path: string): Route {
  let segments: string[];
  try {
    segments = path
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
  } catch {
    return { page: 'not-found', path };
  }
  const [first, budget, third, session, view] = segments;
  if (first === undefined) return { page: 'overview' };
  if (segments.length === 1) {
    if (first === 'budgets') return { page: 'overview' };
    if (
      first === 'login' ||
      first === 'server' ||
      first === 'refusals' ||
      first === 'audit' ||
      first === 'planner' ||
      first === 'compare'
    ) {
      return { page: first } as Route;
    }
  }
  if (first === 'budgets' && budget !== undefined) {
    if (segments.length === 2) return { page: 'budget', budget };
    if (segments.length === 3 && (third === 'refusals' || third === 'audit')) {
      return { page: third, budget };
    }
    if (third === 'sessions' && session !== undefined) {
      if (segments.length === 4) return { page: 'session', budget, session };
      if (segments.length === 5 && isSessionView(view)) return { page: view, budget, session };
    }
  }
  return { page: 'not-found', path };
}

/** The path of a route, without "#" and query. */
export function pathOf(route: Route): string {
  const part = encodeURIComponent;
  switch (route.page) {
    case 'overview':
      return '/';
    case 'login':
    case 'server':
      return `/${route.page}`;
    case 'not-found':
      return route.path;
    case 'budget':
      return `/budgets/${part(route.budget)}`;
    case 'refusals':
    case 'audit':
      return route.budget === undefined
        ? `/${route.page}`
        : `/budgets/${part(route.budget)}/${route.page}`;
    case 'session':
      return `/budgets/${part(route.budget)}/sessions/${part(route.session)}`;
    default:
      return route.budget === undefined || route.session === undefined
        ? `/${route.page}`
        : `/budgets/${part(route.budget)}/sessions/${part(route.session)}/${route.page}`;
  }
}

const hash = signal(location.hash.slice(1));
addEventListener('hashchange', () => {
  hash.value = location.hash.slice(1);
});

const read = computed(() => readRoute(hash.value));

export const route = computed<Route>(() => read.value.route);
/** The parameters after "?" in the hash. A page may keep its own there: setQuery. */
export const query = computed(() => read.value.query);

/** The address of a route for a link; it keeps the parameters that all pages share (delta). */
export function hrefOf(to: Route, more: Record<string, string> = {}): string {
  const parameters = new URLSearchParams();
  const delta = query.value.get('delta');
  if (delta !== null) parameters.set('delta', delta);
  for (const [name, value] of Object.entries(more)) parameters.set(name, value);
  const text = parameters.toString();
  return `#${pathOf(to)}${text === '' ? '' : `?${text}`}`;
}

export function go(to: Route, more: Record<string, string> = {}): void {
  location.hash = hrefOf(to, more).slice(1);
}

/** Sets or removes parameters of the present address, without an entry in the history. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const parameters = new URLSearchParams(query.peek());
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) parameters.delete(name);
    else parameters.set(name, value);
  }
  const text = parameters.toString();
  const next = `${pathOf(route.peek())}${text === '' ? '' : `?${text}`}`;
  history.replaceState(history.state, '', `#${next}`);
  hash.value = next;
}
