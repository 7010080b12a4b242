import { useEffect, useRef } from 'preact/hooks';
import { listBudgets, rootOf } from './api/budgets';
import { tokenWanted } from './api/client';
import { connect, connection, onChange } from './api/events';
import { askCaller } from './caller';
import { LoginPage } from './pages/login';
import { pageOf, titleOf } from './pages/registry';
import { pathOf, route } from './router';
import { TopBar } from './shell/top_bar';

// What one stream of the server follows.
const MOST_ROOTS = 64;

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
    void follow();
    // A budget that is new may lie below another.
    return onChange((change) => {
      if (change.budget !== undefined) void listBudgets();
    });
  }, []);

  useEffect(() => {
    document.title = `${title} · epsledger`;
    if (first.current) {
      first.current = false;
      return;
    }
    // Another page: read from its top, by eye or by screen reader.
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

async function follow(): Promise<void> {
  const budgets = await listBudgets();
  if (tokenWanted.peek() || connection.peek() === 'live') return;
  const roots = budgets.ok
    ? budgets.value.filter((budget) => (budget.parent ?? '') === '').map((budget) => budget.name)
    : [];
  if (roots.length <= MOST_ROOTS) return connect();
  // The server wants names then: the page that is open, and as many others as there may be.
  const at = route.peek();
  const here = 'budget' in at && at.budget !== undefined ? rootOf(`budgets/${at.budget}`) : undefined;
  const others = roots.filter((name) => name !== here).slice(0, MOST_ROOTS - 1);
  connect(here === undefined ? others : [here, ...others]);
}
