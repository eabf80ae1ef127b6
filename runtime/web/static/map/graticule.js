// The grid of meridians and parallels, and the scale bar.

import { metresPerUnit, toLat, toX, toY } from './mercator.js';

const steps = [30, 20, 10, 5, 2, 1, 30 / 60, 20 / 60, 10 / 60, 5 / 60, 2 / 60, 1 / 60, 30 / 3600, 20 / 3600, 10 / 3600, 5 / 3600, 2 / 3600, 1 / 3600, 0.5 / 3600, 0.1 / 3600, 0.05 / 3600];

// stepFor is the distance of meridians in degrees that keeps them about 140 pixels apart.
export function stepFor(scale) {
  const wanted = 140 / scale * 360;
  return steps.reduce((best, s) => Math.abs(Math.log(s / wanted)) < Math.abs(Math.log(best / wanted)) ? s : best);
}

// angle writes degrees as degrees, minutes and seconds, as far as the step needs.
export function angle(value, step, letters) {
  const letter = value < -1e-12 ? letters[1] : value > 1e-12 ? letters[0] : '';
  const digits = step < 1 / 3600 - 1e-12 ? (step < 0.1 / 3600 - 1e-12 ? 2 : 1) : 0;
  let seconds = Math.round(Math.abs(value) * 3600 * 10 ** digits) / 10 ** digits;
  const d = Math.floor(seconds / 3600 + 1e-9);
  seconds -= d * 3600;
  const m = Math.floor(seconds / 60 + 1e-9);
  seconds = Math.max(0, seconds - m * 60);
  let text = d + '°';
  if (step < 1 - 1e-9) text += String(m).padStart(2, '0') + '′';
  if (step < 1 / 60 - 1e-9) text += seconds.toFixed(digits).padStart(digits ? 3 + digits : 2, '0') + '″';
  return letter ? text + '\u2009' + letter : text;
}

export function drawGraticule(g, view, theme) {
  const step = stepFor(view.scale), half = view.width / 2 / view.scale;
  g.save();
  g.strokeStyle = theme.grid;
  g.fillStyle = theme.gridText;
  g.lineWidth = 1;
  g.font = '11px ' + theme.font;
  g.textBaseline = 'top';
  g.beginPath();
  const west = (view.x - half - 0.5) * 360, east = (view.x + half - 0.5) * 360;
  const labels = [];
  for (let k = Math.ceil(west / step); k * step <= east; k++) {
    const px = Math.round((toX(k * step) - view.x) * view.scale + view.width / 2) + 0.5;
    g.moveTo(px, 0);
    g.lineTo(px, view.height);
    const lon = k * step - Math.round(k * step / 360) * 360;
    labels.push([angle(lon, step, 'EW'), px + 4, 4]);
  }
  const north = toLat(Math.max(0, view.at(0, 0)[1])), south = toLat(Math.min(1, view.at(0, view.height)[1]));
  for (let k = Math.ceil(south / step); k * step <= north; k++) {
    const py = Math.round(view.py(toY(k * step))) + 0.5;
    if (py < 24) continue;
    g.moveTo(0, py);
    g.lineTo(view.width, py);
    labels.push([angle(k * step, step, 'NS'), 4, py + 3]);
  }
  g.stroke();
  let right = -Infinity; // of the last meridian's label
  for (const [text, x, y] of labels) {
    if (y === 4 && x < right) continue;
    if (y === 4) right = x + g.measureText(text).width + 8;
    g.fillText(text, x, y);
  }
  g.restore();
}

// scaleBar is the longest round length that fits into most pixels: {metres, pixels, text}.
export function scaleBar(view, most) {
  const perPixel = metresPerUnit(toLat(view.y)) / view.scale, room = most * perPixel;
  const power = 10 ** Math.floor(Math.log10(room));
  const metres = power * [5, 2, 1].find((n) => n * power <= room);
  return { metres, pixels: metres / perPixel, text: metres >= 1000 ? metres / 1000 + ' km' : metres >= 1 ? metres + ' m' : Math.round(metres * 100) + ' cm' };
}
