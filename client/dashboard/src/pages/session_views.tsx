import { hrefOf, type Route, type SessionView } from '../router';

interface SessionViewsProps {
  budget: string;
  session: string;
  /** The page that is shown. */
  current: 'session' | SessionView;
}

const NAMES: [page: 'session' | SessionView, name: string][] = [
  ['session', 'Session'],
  ['trade-off', 'Trade-off curve'],
  ['profile', 'Privacy profile'],
  ['compare', 'Compare accountants'],
  ['planner', 'What if'],
];

/** The pages about one session, as links. */
export function SessionViews({ budget, session, current }: SessionViewsProps) {
  return (
    <nav class="views" aria-label="Views of this session">
      <ul>
        {NAMES.map(([page, name]) => {
          const to: Route = { page, budget, session };
          return (
            <li key={page}>
              <a href={hrefOf(to)} aria-current={page === current ? 'page' : undefined}>
                {name}
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
