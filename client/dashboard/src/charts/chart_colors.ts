// The colours of the design for a canvas, which knows no custom properties.

export interface ChartColors {
  surface: string;
  text: string;
  quiet: string;
  grid: string;
  line: string;
  area: string;
  ahead: string;
  cap: string;
  attempt: string;
  hatch: string;
}

const names: Record<keyof ChartColors, string> = {
  surface: '--surface',
  text: '--text',
  quiet: '--text-muted',
  grid: '--line',
  line: '--series-1',
  area: '--series-band',
  ahead: '--line-strong',
  cap: '--cap-line',
  attempt: '--series-4',
  hatch: '--series-1',
};

// The element's present colors: read again when light turns dark.
export function chartColors(element: Element): ChartColors {
  const style = getComputedStyle(element);
  const colors = {} as ChartColors;
  for (const key of Object.keys(names) as (keyof ChartColors)[]) {
    colors[key] = style.getPropertyValue(names[key]).trim();
  }
  return colors;
}

// Calls back when the page changes between light and dark. Returns a function that stops it.
export function onThemeChange(changed: () => void): () => void {
  const query = matchMedia('(prefers-color-scheme: dark)');
  const observer = new MutationObserver(changed);
  query.addEventListener('change', changed);
  observer.observe(document.documentElement, { attributes: true });
  return () => {
    query.removeEventListener('change', changed);
    observer.disconnect();
  };
}
