// Light or dark: as the system says, unless the reader chose. Kept for the next visit.

import { computed, effect, signal } from '@preact/signals';

export type ThemeChoice = 'system' | 'light' | 'dark';

const KEY = 'epsledger.theme';
const darkSystem = matchMedia('(prefers-color-scheme: dark)');
const systemIsDark = signal(darkSystem.matches);
darkSystem.addEventListener('change', () => {
  systemIsDark.value = darkSystem.matches;
});

function kept(): ThemeChoice {
  try {
    const text = localStorage.getItem(KEY);
    return text === 'light' || text === 'dark' ? text : 'system';
  } catch {
    return 'system';
  }
}

// Paper is white.
const paper = matchMedia('print');
const isPrinted = signal(paper.matches);
paper.addEventListener('change', () => {
  isPrinted.value = paper.matches;
});

export const themeChoice = signal<ThemeChoice>(kept());
const theme = computed(() => {
  if (isPrinted.value) return 'light';
  if (themeChoice.value !== 'system') return themeChoice.value;
  return systemIsDark.value ? 'dark' : 'light';
});

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
});

export function chooseTheme(choice: ThemeChoice): void {
  themeChoice.value = choice;
  try {
    if (choice === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, choice);
  } catch {
    // The choice lasts until the page is closed.
  }
}
