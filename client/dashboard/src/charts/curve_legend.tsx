import { kindWords, type Curve } from './curve';

// Identifies each curve by name, by word and by the look of its line; color comes last.
export function CurveLegend({ curves }: { curves: readonly Curve[] }) {
  return (
    <ul class="curve-legend" aria-label="Curves">
      {curves.map((curve) => (
        <li key={curve.name}>
          <svg width="30" height="14" aria-hidden="true" focusable="false">
            {curve.kind === 'band' ? (
              <g class={`curve curve-band series-${curve.color}`}>
                <rect class="curve-area" x="1" y="2" width="28" height="10" />
                <path class="curve-edge" d="M1 2H29M1 12H29" />
              </g>
            ) : (
              <path class={`curve curve-${curve.kind} series-${curve.color}`} d="M1 7H29" />
            )}
          </svg>
          <span>
            {curve.name}
            <span class="curve-kind"> ({kindWords[curve.kind]})</span>
          </span>
        </li>
      ))}
    </ul>
  );
}
