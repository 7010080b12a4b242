import type { ComponentChildren } from 'preact';

export interface Crumb {
  text: string;
  href: string;
}

interface PageHeadProps {
  title: string;
  crumbs?: readonly Crumb[];
  /** Beside the title. */
  badges?: ComponentChildren;
  children?: ComponentChildren;
}

/** The head of a page: its place, its name, its state. */
export function PageHead({ title, crumbs = [], badges, children }: PageHeadProps) {
  return (
    <div class="page-head">
      {crumbs.length > 0 && (
        <nav aria-label="Where this is">
          <ol class="crumbs">
            {crumbs.map((crumb) => (
              <li key={crumb.href}>
                <a href={crumb.href}>{crumb.text}</a>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <div class="page-title">
        <h1>{title}</h1>
        {badges}
      </div>
      {children}
    </div>
  );
}
