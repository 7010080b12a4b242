import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiError } from '../api/client';
import { copyText } from '../copy_text';
import { Icon, type IconName } from './icons';

interface NoticeProps {
  tone?: 'bad' | 'warn' | 'good' | 'quiet';
  children: ComponentChildren;
}

const ICONS: Record<string, IconName> = {
  bad: 'cross',
  warn: 'warning',
  good: 'check',
  quiet: 'info',
};

export function Notice({ tone = 'quiet', children }: NoticeProps) {
  return (
    <div class={`notice notice-${tone}`}>
      <Icon name={ICONS[tone] ?? 'info'} />
      <div>{children}</div>
    </div>
  );
}

/** An error in words, with what to do. */
export function Problem({ error, what }: { error: ApiError; what?: string }) {
  return (
    <div role="alert">
      <Notice tone={error.kind === 'not-offered' || error.kind === 'unanswered' ? 'quiet' : 'bad'}>
        <p>
          {what !== undefined && <strong>{what}: </strong>}
          {error.message}
        </p>
        <p class="muted">{error.remedy}</p>
      </Notice>
    </div>
  );
}

/** Nothing exists here yet: why, and the command that changes this. */
export function Empty({ children, command }: { children: ComponentChildren; command?: string }) {
  return (
    <Notice>
      <p>{children}</p>
      {command !== undefined && <Command text={command} />}
    </Notice>
  );
}

/** A command to copy. */
export function Command({ text }: { text: string }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    setSaid((await copyText(text)) ? 'copied' : 'not allowed by this browser');
    setTimeout(() => setSaid(''), 3000);
  };
  return (
    <div class="command">
      <code>{text}</code>
      <button type="button" onClick={() => void copy()} aria-label={`Copy: ${text}`}>
        <Icon name="copy" />
        <span aria-live="polite">{said === '' ? 'Copy' : said}</span>
      </button>
    </div>
  );
}
