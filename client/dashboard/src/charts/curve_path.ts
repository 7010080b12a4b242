// SVG path texts of curves and bands, in the coordinates of the screen.

export interface Place {
  x: number;
  y: number;
}

export interface BandPlace {
  x: number;
  lower: number;
  upper: number;
}

// A tenth of a pixel is more than a screen shows.
function text(coordinate: number): string {
  return String(Math.round(coordinate * 10) / 10);
}

function isDrawn(...coordinates: number[]): boolean {
  return coordinates.every(Number.isFinite);
}

// A polyline through the places; a non-finite value breaks it.
export function linePath(places: readonly Place[]): string {
  let path = '';
  let open = false;
  for (const { x, y } of places) {
    if (!isDrawn(x, y)) {
      open = false;
      continue;
    }
    path += `${open ? 'L' : 'M'}${text(x)} ${text(y)}`;
    open = true;
  }
  return path;
}

// The area between two polylines; a non-finite value on either side breaks it.
export function bandPath(places: readonly BandPlace[]): string {
  let path = '';
  let run: BandPlace[] = [];
  const close = () => {
    if (run.length > 1) {
      const back = [...run].reverse();
      path += `${linePath(run.map(({ x, upper }) => ({ x, y: upper })))}${linePath(
        back.map(({ x, lower }) => ({ x, y: lower })),
      ).replace('M', 'L')}Z`;
    }
    run = [];
  };
  for (const place of places) {
    if (isDrawn(place.x, place.lower, place.upper)) run.push(place);
    else close();
  }
  close();
  return path;
}
