import type { CsvCell } from './csv';

/** The numbers behind a chart: as shown, and as received. */
export interface ChartTable {
  columns: readonly string[];
  /** Rounded for reading, each to its safe side. */
  rows: readonly (readonly string[])[];
  /** The columns of the CSV; unset: as `columns`. */
  exactColumns?: readonly string[];
  /** With every digit. */
  exactRows: readonly (readonly CsvCell[])[];
}
