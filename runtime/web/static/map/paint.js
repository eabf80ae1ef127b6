// Painting photos, flight lines, footprints and shapes on the canvas.

import { cluster } from './cluster.js';
import { nearest, toX, toY } from './mercator.js';
import { state } from './photos.js';
import { shiftOf } from './shapes.js';

const dots = 14, discs = 56; // pixels of a grid cell: single positions, and clusters with numbers
const crowded = 6; // photos to a cell of dots from which clusters are drawn
const mostFootprints = 1500;

// Groups are the clusters of the present zoom, made anew when zoom or photos change.
export class Groups {
  constructor() {
    this.key = '';
  }

  of(photos, sorted, view) {
    const zoom = Math.floor(view.zoom + 0.25);
    const key = zoom + ' ' + sorted.order.length;
    if (key === this.key && sorted === this.sorted) return this;
    this.key = key;
    this.sorted = sorted;
    const bits = (pixels) => Math.round(zoom + 8 - Math.log2(pixels));
    this.fine = cluster(sorted, photos.x, photos.y, bits(dots));
    this.discs = this.fine.n * crowded < photos.n ? cluster(sorted, photos.x, photos.y, bits(discs)) : null;
    if (this.discs) this.discs.numbered = true;
    return this;
  }

  // shown is what is drawn: numbered discs where the view is crowded, else dots.
  shown(view) {
    if (!this.discs) return this.fine;
    let cells = 0, photos = 0;
    for (let i = 0; i < this.fine.n; i++) {
      if (!view.shows(view.px(this.fine.x[i]), view.py(this.fine.y[i]))) continue;
      cells++;
      photos += this.fine.count[i];
    }
    return cells * crowded < photos ? this.discs : this.fine;
  }
}

// drawPhotos paints dots and clusters, and returns the single photos that are in view.
export function drawPhotos(g, view, theme, photos, groups, sorted) {
  const { n, start, count, x, y } = groups;
  const buckets = [[], [], [], []], discsShown = [];
  let visible = 0;
  for (let i = 0; i < n; i++) {
    const px = view.px(x[i]), py = view.py(y[i]);
    if (!view.shows(px, py, 20)) continue;
    visible++;
    let worst = state.good;
    for (let k = start[i], end = start[i] + count[i]; k < end; k++) {
      const s = photos.states[sorted.order[k]];
      if (s > worst) worst = s;
      if (worst === state.bad) break;
    }
    if (groups.numbered && count[i] > 1) discsShown.push([px, py, count[i], worst]);
    else buckets[worst].push(px, py, count[i]);
  }
  const fill = [theme.photo, theme.waiting, theme.warning, theme.bad];
  g.lineWidth = 1.25;
  g.strokeStyle = theme.photoEdge;
  for (let s = 0; s < buckets.length; s++) {
    const list = buckets[s];
    g.fillStyle = fill[s];
    g.beginPath();
    for (let i = 0; i < list.length; i += 3) mark(g, s, list[i], list[i + 1], list[i + 2] > 1 ? 5 : 4);
    g.fill();
    g.stroke();
  }
  drawDiscs(g, theme, discsShown, fill);
  return visible;
}

// mark adds a symbol to the path; states differ in shape as well as in colour.
function mark(g, s, px, py, r) {
  if (s === state.warning) { // triangle
    g.moveTo(px, py - r - 2);
    g.lineTo(px + r + 1.5, py + r);
    g.lineTo(px - r - 1.5, py + r);
    g.closePath();
  } else if (s === state.bad) { // square on its corner
    g.moveTo(px, py - r - 2);
    g.lineTo(px + r + 2, py);
    g.lineTo(px, py + r + 2);
    g.lineTo(px - r - 2, py);
    g.closePath();
  } else {
    g.moveTo(px + r, py);
    g.arc(px, py, r, 0, 7);
  }
}

function drawDiscs(g, theme, list, fill) {
  g.textAlign = 'center';
  g.textBaseline = 'middle';
  for (const [px, py, n, worst] of list) {
    const r = Math.min(26, 9 + 3.4 * Math.log10(n) * 1.6);
    g.globalAlpha = 0.9;
    g.fillStyle = theme.photo;
    g.beginPath();
    g.arc(px, py, r, 0, 7);
    g.fill();
    g.globalAlpha = 1;
    g.strokeStyle = worst > state.waiting ? fill[worst] : theme.photoEdge;
    g.lineWidth = worst > state.waiting ? 3 : 1.5;
    g.stroke();
    g.fillStyle = theme.photoEdge;
    g.font = '600 11px ' + theme.font;
    g.fillText(short(n), px, py + 0.5);
  }
  g.textAlign = 'start';
}

function short(n) {
  return n < 10000 ? String(n) : Math.round(n / 1000) + 'k';
}

// drawLines paints flight lines, each a list of photos in order of time. Points closer than two
// pixels to the last one are left out.
export function drawLines(g, view, theme, photos, lines) {
  const scale = view.scale, w = view.width, h = view.height, halfW = w / 2, halfH = h / 2;
  g.strokeStyle = theme.line;
  g.lineWidth = 1.5;
  g.lineJoin = 'round';
  g.beginPath();
  for (const line of lines) {
    let lastX = 0, lastY = 0, out = false, begun = false, drawn = false, x0 = 0;
    for (let k = 0; k < line.length; k++) {
      const x = photos.x[line[k]];
      x0 = k ? x0 + (nearest(x, x0) - x0) : nearest(x, view.x);
      const px = (x0 - view.x) * scale + halfW, py = (photos.y[line[k]] - view.y) * scale + halfH;
      if (begun && Math.abs(px - lastX) < 2 && Math.abs(py - lastY) < 2 && k < line.length - 1) continue;
      const outside = px < 0 && lastX < 0 || py < 0 && lastY < 0 || px > w && lastX > w || py > h && lastY > h;
      if (begun && !outside) {
        if (out || !drawn) g.moveTo(lastX, lastY);
        g.lineTo(px, py);
        drawn = true;
      }
      out = begun && outside;
      begun = true;
      lastX = px;
      lastY = py;
    }
  }
  g.stroke();
}

// drawGaps paints where photos or strips are missing.
export function drawGaps(g, view, theme, gaps) {
  g.save();
  g.strokeStyle = theme.gap;
  g.lineWidth = 3;
  g.setLineDash([6, 5]);
  g.beginPath();
  for (const { at } of gaps) {
    const x = nearest(toX(at[0]), view.x);
    g.moveTo((x - view.x) * view.scale + view.width / 2, view.py(toY(at[1])));
    g.lineTo((nearest(toX(at[2]), x) - view.x) * view.scale + view.width / 2, view.py(toY(at[3])));
  }
  g.stroke();
  g.restore();
}

// drawFootprints paints the ground of the photos in view; it reports false when they are too many.
export function drawFootprints(g, view, theme, photos, selected) {
  const inView = [], margin = 400;
  for (let i = 0; i < photos.n; i++) {
    if (!photos.grounds[i]) continue;
    if (!view.shows(view.px(photos.x[i]), view.py(photos.y[i]), margin)) continue;
    inView.push(i);
    if (inView.length > mostFootprints) return false;
  }
  g.fillStyle = theme.footprint;
  g.strokeStyle = theme.footprintEdge;
  g.lineWidth = 1;
  for (const i of inView) {
    trace(g, view, photos.ground(i));
    g.fill();
    if (inView.length <= 400) g.stroke();
  }
  if (selected >= 0 && photos.grounds[selected]) {
    trace(g, view, photos.ground(selected));
    g.strokeStyle = theme.selected;
    g.lineWidth = 2.5;
    g.stroke();
  }
  return true;
}

function trace(g, view, ring) {
  const shift = shiftOf(ring, view);
  g.beginPath();
  for (let i = 0; i < ring.length; i += 2) {
    g.lineTo((ring[i] + shift - view.x) * view.scale + view.width / 2, view.py(ring[i + 1]));
  }
  g.closePath();
}

// Looks of shapes by what they are: colour, width, dash, fill opacity, label.
function look(theme, shape) {
  switch (shape.of) {
    case 'project': return { color: theme.project, width: 1.5, label: true, radius: 6 };
    case 'mission': return { color: theme.mission, width: 1.5, dash: [7, 4], fill: 0.04, label: true, radius: 5 };
    case 'raster': return { color: theme.raster, width: 1.25, fill: 0, label: true, radius: 5 };
    case 'pcl': case 'mesh': return { color: theme.cloud, width: 1.5, dash: [2, 3], fill: 0.1, label: true, radius: 5 };
    case 'annotation': return { color: theme.annotation, width: 2, fill: 0.15, radius: 6 };
    default: return { color: theme.shape, width: 1.25, fill: 0.1, radius: 4 };
  }
}

export function drawShapes(g, view, theme, shapes, selected) {
  const labels = [];
  for (const shape of shapes) {
    const [west, north, east, south] = shape.box, middle = (west + east) / 2, shift = nearest(middle, view.x) - middle;
    const left = (west + shift - view.x) * view.scale + view.width / 2, right = (east + shift - view.x) * view.scale + view.width / 2;
    const top = view.py(north), bottom = view.py(south);
    if (right < -12 || left > view.width + 12 || bottom < -12 || top > view.height + 12) continue;
    const l = look(theme, shape), chosen = shape === selected;
    const color = shape.color || l.color;
    g.strokeStyle = chosen ? theme.selected : color;
    g.lineWidth = (shape.width || l.width) + (chosen ? 1.5 : 0);
    g.setLineDash(l.dash || []);
    if (right - left > 3 || bottom - top > 3) drawParts(g, view, shape, l, color);
    else point(g, theme, (left + right) / 2, (top + bottom) / 2, l.radius - 1, color);
    for (const p of shape.parts.points) point(g, theme, view.px(p[0]), view.py(p[1]), l.radius, chosen ? theme.selected : color);
    if (l.label) labels.push([shape.name, (left + right) / 2, Math.max(top, 24) - (right - left > 60 ? 6 : 20), chosen, Math.max(right, left + 60), bottom]);
  }
  g.setLineDash([]);
  drawLabels(g, view, theme, labels);
}

function drawParts(g, view, shape, l, color) {
  for (const area of shape.parts.areas) {
    if (!area.length) continue;
    const shift = shiftOf(area[0], view);
    g.beginPath();
    for (const ring of area) outline(g, view, ring, shift, true);
    if (l.fill) {
      g.globalAlpha = shape.opacity ?? l.fill;
      g.fillStyle = shape.fill || color;
      g.fill('evenodd');
      g.globalAlpha = 1;
    }
    g.stroke();
  }
  for (const line of shape.parts.lines) {
    g.beginPath();
    outline(g, view, line, shiftOf(line, view), false);
    g.stroke();
  }
}

function outline(g, view, line, shift, close) {
  let lastX = NaN, lastY = NaN;
  for (let i = 0; i < line.length; i += 2) {
    const px = (line[i] + shift - view.x) * view.scale + view.width / 2, py = view.py(line[i + 1]);
    if (Math.abs(px - lastX) < 1 && Math.abs(py - lastY) < 1) continue;
    if (i) g.lineTo(px, py);
    else g.moveTo(px, py);
    lastX = px;
    lastY = py;
  }
  if (close) g.closePath();
}

function point(g, theme, px, py, r, color) {
  g.save();
  g.setLineDash([]);
  g.fillStyle = color;
  g.strokeStyle = theme.photoEdge;
  g.lineWidth = 1.5;
  g.beginPath();
  g.rect(px - r, py - r, 2 * r, 2 * r);
  g.fill();
  g.stroke();
  g.restore();
}

// drawLabels writes names where they do not cover one another.
function drawLabels(g, view, theme, labels) {
  const taken = [];
  g.font = '12px ' + theme.font;
  g.textAlign = 'center';
  g.textBaseline = 'alphabetic';
  g.lineJoin = 'round';
  labels.sort((a, b) => b[3] - a[3]);
  for (const [name, x, y, chosen] of labels) {
    const text = name.length > 40 ? name.slice(0, 39) + '…' : name, w = g.measureText(text).width / 2 + 4;
    const at = Math.max(w, Math.min(view.width - w, x));
    if (x < 0 || x > view.width || y > view.height || taken.some(([l, t, r, b]) => at - w < r && at + w > l && y - 13 < b && y + 4 > t)) continue;
    taken.push([at - w, y - 13, at + w, y + 4]);
    g.strokeStyle = theme.halo;
    g.lineWidth = 3;
    g.strokeText(text, at, y);
    g.fillStyle = chosen ? theme.selected : theme.text;
    g.fillText(text, at, y);
  }
  g.textAlign = 'start';
}

// drawRing marks the photo under the pointer, or the selected one.
export function drawRing(g, view, theme, photos, i, strong) {
  const px = view.px(photos.x[i]), py = view.py(photos.y[i]);
  g.strokeStyle = theme.selected;
  g.lineWidth = strong ? 3 : 2;
  g.beginPath();
  g.arc(px, py, strong ? 9 : 8, 0, 7);
  g.stroke();
}
