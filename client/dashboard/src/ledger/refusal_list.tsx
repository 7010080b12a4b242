import type { Charge } from '../api/messages';
import { Choice } from '../design/choice';
import { count, counted } from '../format/numbers';
import { reasonWords } from '../format/refusals';
import { query, setQuery } from '../router';
import { RefusalsTable } from './charge_tables';
import { filteredRefusals, groupedRefusals, reasonsOf } from './refusal_groups';

/** Refusals with a search and a filter; those that say the same are one row. */
export function RefusalList({ charges }: { charges: readonly Charge[] }) {
  const reason = query.value.get('reason') ?? '';
  const find = query.value.get('find') ?? '';
  const isEach = query.value.get('each') === 'true';
  const found = filteredRefusals(charges, reason, find);
  const groups = isEach
    ? found.map((charge) => ({ key: charge.name, charges: [charge] }))
    : groupedRefusals(found);
  const set = (name: string, value: string) =>
    setQuery({ [name]: value === '' ? undefined : value });
  return (
    <>
      <div class="fields-inline">
        <label class="field-inline">
          Find
          <input
            type="search"
            placeholder="session, event or budget"
            value={find}
            onInput={(event) => set('find', event.currentTarget.value)}
          />
        </label>
        <Choice label="Why" value={reason} onChoose={(value) => set('reason', value)}>
          {[
            ['', 'any reason'],
            ...reasonsOf(charges).map((one) => [
              one.reason,
              `${reasonWords(one.reason)} (${count(one.count)})`,
            ]),
          ]}
        </Choice>
        <label class="field-inline">
          <input
            type="checkbox"
            checked={isEach}
            onChange={(event) => set('each', event.currentTarget.checked ? 'true' : '')}
          />
          Each one in a row
        </label>
        <span class="small muted" role="status">
          {counted(found.length, 'refusal')}
          {groups.length < found.length && ` in ${counted(groups.length, 'row')}`}
        </span>
      </div>
      {found.length === 0 ? (
        <p class="muted">No refusal of these matches.</p>
      ) : (
        <RefusalsTable groups={groups} />
      )}
    </>
  );
}
