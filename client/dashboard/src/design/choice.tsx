import type { Signal } from '@preact/signals';

interface ChoiceProps {
  label: string;
  /** What is chosen now, and who takes a new choice: a signal takes it itself. */
  value: string | Signal<string>;
  onChoose?: (value: string) => void;
  /** Values and their names. */
  children: readonly (readonly string[])[];
}

/** One of a few values, with its name before it. */
export function Choice({ label, value, onChoose, children }: ChoiceProps) {
  return (
    <label class="field-inline">
      {label}
      <select
        aria-label={label}
        value={typeof value === 'string' ? value : value.value}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          if (typeof value !== 'string') value.value = chosen;
          onChoose?.(chosen);
        }}
      >
        {children.map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
