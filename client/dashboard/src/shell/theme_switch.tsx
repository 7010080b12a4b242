import { Icon, type IconName } from '../design/icons';
import { chooseTheme, themeChoice, type ThemeChoice } from '../theme';

const NEXT: Record<ThemeChoice, ThemeChoice> = { system: 'light', light: 'dark', dark: 'system' };
const ICONS: Record<ThemeChoice, IconName> = { system: 'screen', light: 'sun', dark: 'moon' };

export function ThemeSwitch() {
  const choice = themeChoice.value;
  const words = choice === 'system' ? "the system's" : choice;
  return (
    <button
      type="button"
      class="button-plain"
      aria-label={`Colors: ${words}. Change to ${NEXT[choice]}.`}
      title={`Colors: ${words}`}
      onClick={() => chooseTheme(NEXT[choice])}
    >
      <Icon name={ICONS[choice]} />
    </button>
  );
}
