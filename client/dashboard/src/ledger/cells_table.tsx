import { numberOf, type CellBalance } from '../api/messages';
import { Badge } from '../design/badge';
import { SpentBar } from '../design/spent_bar';
import { Grid } from '../design/grid';
import { quantityName } from '../format/names';
import { roundedDown, roundedUp } from '../format/numbers';

interface CellsTableProps {
  cells: readonly CellBalance[];
  /** Otherwise one cell with room is enough. */
  allMustFit: boolean;
  /** What is spent is drawn above: one cell needs no bar of its own. */
  hasBar?: boolean;
}

/** What a filter counts: cap, spent and remaining of each of its cells. */
export function CellsTable({ cells, allMustFit, hasBar }: CellsTableProps) {
  const counted = cells.filter((cell) => cell.quantity !== 'NO_GUARANTEE');
  if (counted.length === 0) return <p class="muted">Nothing is counted here.</p>;
  // If one cell is enough, the one with the most room counts. The reserve belongs to the units
  // before it.
  const ways = allMustFit ? counted : counted.filter((cell) => cell.quantity !== 'RESERVE');
  const sorted = allMustFit ? ways : [...ways].sort((a, b) => shareOf(a) - shareOf(b));
  const shown = allMustFit ? sorted : sorted.slice(0, 1);
  const rest = counted.filter((cell) => !shown.includes(cell));
  const open = ways.filter((cell) => shareOf(cell) < 1).length;
  return (
    <>
      {ways.length > 1 && (
        <p class="muted small">
          {allMustFit
            ? `A charge fits if all ${ways.length} have room.`
            : `A charge fits if one of ${ways.length} has room: ${open} ${open === 1 ? 'has' : 'have'} some left. Shown is the one with the most.`}
        </p>
      )}
      <Rows label="Cells" cells={shown} hasBar={hasBar === true && counted.length === 1} />
      {rest.length > 0 && (
        <details>
          <summary>The other {rest.length}</summary>
          <Rows label="Other cells" cells={rest} hasBar={false} />
        </details>
      )}
    </>
  );
}

function shareOf(cell: CellBalance): number {
  const cap = numberOf(cell.cap) ?? 0;
  const spent = numberOf(cell.spent) ?? 0;
  return cap > 0 ? spent / cap : Infinity;
}

interface RowsProps {
  label: string;
  cells: readonly CellBalance[];
  hasBar: boolean;
}

function Rows({ label, cells, hasBar }: RowsProps) {
  const heads = ['Counted', ...(hasBar ? [] : ['Share']), '#Spent', '#Remaining', '#Cap'];
  return (
    <Grid label={label} heads={heads}>
      {cells.map((cell) => (
        <tr key={`${cell.quantity} ${cell.order}`}>
          <th scope="row">{quantityName(cell.quantity, numberOf(cell.order))}</th>
          {!hasBar && (
            <td>
              {shareOf(cell) > 1 ? (
                <Badge icon="cross">no room left</Badge>
              ) : (
                <SpentBar spent={shareOf(cell)} />
              )}
            </td>
          )}
          <td data-label="Spent" class="number">
            {roundedUp(numberOf(cell.spent) ?? NaN)}
          </td>
          <td data-label="Remaining" class="number">
            {roundedDown(numberOf(cell.remaining) ?? NaN)}
          </td>
          <td data-label="Cap" class="number">
            {roundedDown(numberOf(cell.cap) ?? NaN)}
          </td>
        </tr>
      ))}
    </Grid>
  );
}
