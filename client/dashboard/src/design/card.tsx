import type { ComponentChildren } from 'preact';

interface CardProps {
  title: string;
  /** Instead of the title, where it explains a word. */
  heading?: ComponentChildren;
  /** Beside the title. */
  aside?: ComponentChildren;
  children: ComponentChildren;
}

export function Card({ title, heading, aside, children }: CardProps) {
  const id = `card-${title.toLowerCase().replace(/[^a-z]+/g, '-')}`;
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{heading ?? title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}
