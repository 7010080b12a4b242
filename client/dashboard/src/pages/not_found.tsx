import { Notice } from '../design/notice';
import { PageHead } from '../design/page_head';
import { hrefOf } from '../router';

export function NotFoundPage({ path }: { path: string }) {
  return (
    <>
      <PageHead title="There is no such page" />
      <Notice tone="warn">
        <p>
          Nothing is at <code>{path}</code>. <a href={hrefOf({ page: 'overview' })}>All budgets</a>
        </p>
      </Notice>
    </>
  );
}
