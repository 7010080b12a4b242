import './charts.css';
import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import type { ChartTable } from './chart_table';
import { csvText } from './csv';
import { copyText } from '../copy_text';

interface ChartFigureProps {
  title: string;
  summary: string;
  table: ChartTable;
  children: ComponentChildren;
}

/** The frame of every chart: its title, its words, and the same numbers as a table and as CSV. */
export function ChartFigure({ title, summary, table, children }: ChartFigureProps) {
  const [asTable, setAsTable] = useState(false);
  const [said, setSaid] = useState('');
  const name = useId();
  const clearing = useRef<ReturnType<typeof setTimeout>>();

  const copy = async () => {
    const done = await copyText(csvText(table.exactColumns ?? table.columns, table.exactRows));
    setSaid(done ? `${table.rows.length} rows copied` : 'This browser does not let the page copy.');
    clearTimeout(clearing.current);
    clearing.current = setTimeout(() => setSaid(''), 4000);
  };

  return (
    <figure class="card chart" aria-labelledby={name}>
      <figcaption class="chart-head">
        <h2 class="chart-title" id={name}>
          {title}
        </h2>
        <span class="chart-tools">
          <button type="button" onClick={() => setAsTable(!asTable)}>
            {asTable ? 'View as chart' : 'View as table'}
          </button>
          <button type="button" onClick={() => void copy()}>
            Copy CSV
          </button>
          <span class="chart-said" role="status">
            {said}
          </span>
        </span>
      </figcaption>
      <p class="chart-summary">{summary}</p>
      {asTable ? <TableTwin title={title} table={table} /> : children}
    </figure>
  );
}

function TableTwin({ title, table }: { title: string; table: ChartTable }) {
  return (
    <div class="chart-table-box" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
      <table class="chart-table">
        <thead>
          <tr>
            {table.columns.map((column) => (
              <th scope="col" key={column}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
