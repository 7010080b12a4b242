import { useEffect, useRef } from 'preact/hooks';
import { budgetsListed, listBudgets, rootBudgets, rootOf } from './api/budgets';
import { tokenWanted } from './api/client';
import { connect, MOST_ROOTS, onRefused } from './api/events';
import { useAnswer } from './api/read';
import { askCaller } from './caller';
import { LoginPage } from './pages/login';
import { pageOf, titleOf } from './pages/registry';
import { pathOf, route } from './router';
import { TopBar } from './shell/top_bar';

export function App() {
  const mustLogIn = tokenWanted.value || route.value.page === 'login';
  return mustLogIn ? <LoginPage /> : <Pages />;
}

function Pages() {
  const main = useRef<HTMLElement>(null);
  const shown = route.value;
  const path = pathOf(shown);
  const title = titleOf(shown);
  const first = useRef(true);

  useEffect(() => {
    void askCaller();
    connect();
    return onRefused(() => void followNamed());
  }, []);

  // A new budget may lie below another one.
  useAnswer('budgets', listBudgets, {
    touchedBy: ['budgets'],
    touchedWhen: (change) => change.budget !== undefined,
  });

  useEffect(() => {
    document.title = `${title} · epsledger`;
    if (budgetsListed.peek()) followShown();
    if (first.current) {
      first.current = false;
      return;
    }
    // Another page: start at its top, for the eye and for a screen reader.
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [path]);

  return (
    <>
      <TopBar />
      <main id="content" class="page" tabIndex={-1} ref={main}>
        {pageOf(shown)}
      </main>
      <footer class="page-foot">
        Shown epsilons are rounded up, what remains is rounded down. The ledger accounts for what
        clients claim: it cannot see their code.
      </footer>
    </>
  );
}

/** The server follows all budgets only if they are few. */
async function followNamed(): Promise<void> {
  await listBudgets();
  if (!tokenWanted.peek() && rootBudgets().length > MOST_ROOTS) followShown();
}

/** Follows all budgets or, if the server requires names, the open page and some others. */
function followShown(): void {
  const roots = rootBudgets();
  if (roots.length <= MOST_ROOTS) return connect();
  const at = route.peek();
  const here =
    'budget' in at && at.budget !== undefined ? rootOf(`budgets/${at.budget}`) : undefined;
  const first = roots.slice(0, MOST_ROOTS);
  connect(here === undefined || first.includes(here) ? first : [here, ...first.slice(0, -1)]);
}
