import { pageOf } from './pages/registry';
import { route } from './router';

export function App() {
  return <main>{pageOf(route.value)}</main>;
}
