import { BrandMark } from '../design/brand_mark';
import { hrefOf, route, type Page, type Route } from '../router';
import { CallerMenu } from './caller_menu';
import { ConnectionStatus } from './connection_status';
import { DeltaControl } from './delta_control';
import { ThemeSwitch } from './theme_switch';

const MENU: { to: Route; text: string; pages: Page[] }[] = [
  {
    to: { page: 'overview' },
    text: 'Budgets',
    pages: ['overview', 'budget', 'session'],
  },
  { to: { page: 'refusals' }, text: 'Refusals', pages: ['refusals'] },
  { to: { page: 'audit' }, text: 'Audit', pages: ['audit'] },
  { to: { page: 'planner' }, text: 'Planner', pages: ['planner'] },
  { to: { page: 'compare' }, text: 'Compare', pages: ['compare'] },
  { to: { page: 'server' }, text: 'Server', pages: ['server'] },
];

export function TopBar() {
  const page = menuPage();
  return (
    <header class="bar-top">
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          // The hash is the route: it stays.
          event.preventDefault();
          document.getElementById('content')?.focus();
        }}
      >
        Skip to the content
      </a>
      <div class="bar-top-inner">
        <a class="brand" href={hrefOf({ page: 'overview' })}>
          <BrandMark />
          epsledger
        </a>
        <nav aria-label="Pages">
          <ul class="menu">
            {MENU.map(({ to, text, pages }) => (
              <li key={text}>
                <a href={hrefOf(to)} aria-current={pages.includes(page) ? 'page' : undefined}>
                  {text}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="bar-tools">
          <DeltaControl />
          <ConnectionStatus />
          <ThemeSwitch />
          <CallerMenu />
        </div>
      </div>
    </header>
  );
}

/** The page that the menu shows as the present one: what is shown of one session is of its budget. */
function menuPage(): Page {
  const at = route.value;
  return 'session' in at && at.session !== undefined ? 'session' : at.page;
}
