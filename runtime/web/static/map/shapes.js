// Outlines, lines and points with properties: projects, missions, rasters, vectors, annotations.

import { nearest, toX, toY } from './mercator.js';
import { boundsOf } from './photos.js';

// unfold puts a line of [lon, lat] into the unit square, so that it is one piece across the date
// line: x may be beyond 0 or 1. One that is narrower without that, such as an outline around most of
// the earth, stays as it is.
export function unfold(line) {
  const points = new Float64Array(line.length * 2), plain = extent(), moved = extent();
  let last = 0;
  for (let i = 0; i < line.length; i++) {
    const x = toX(line[i][0]), step = x - last, whole = Math.abs(step) > 1 - 1e-9; // along all of a parallel
    points[2 * i] = i ? points[2 * i - 2] + (whole ? step : nearest(step, 0)) : x;
    points[2 * i + 1] = toY(line[i][1]);
    plain.take(x);
    moved.take(points[2 * i]);
    last = x;
  }
  if (moved.wide() >= plain.wide()) for (let i = 0; i < line.length; i++) points[2 * i] = toX(line[i][0]);
  return points;
}

function extent() {
  let low = Infinity, high = -Infinity;
  return {
    take(x) {
      low = Math.min(low, x);
      high = Math.max(high, x);
    },
    wide: () => high - low,
  };
}

// parts splits a GeoJSON geometry into {points, lines, areas}; an area is a list of rings.
export function parts(geometry, into = { points: [], lines: [], areas: [] }) {
  const c = geometry?.coordinates;
  switch (geometry?.type) {
    case 'Point': if (c.length >= 2) into.points.push(unfold([c])); break;
    case 'MultiPoint': for (const p of c) into.points.push(unfold([p])); break;
    case 'LineString': into.lines.push(unfold(c)); break;
    case 'MultiLineString': for (const l of c) into.lines.push(unfold(l)); break;
    case 'Polygon': into.areas.push(rings(c)); break;
    case 'MultiPolygon': for (const p of c) into.areas.push(rings(p)); break;
    case 'GeometryCollection': for (const g of geometry.geometries || []) parts(g, into); break;
  }
  return into;
}

// rings unfolds the rings of a polygon next to the first one.
function rings(polygon) {
  const all = polygon.map(unfold).filter((r) => r.length >= 6);
  for (const ring of all.slice(1)) {
    const shift = Math.round(ring[0] - all[0][0]);
    if (shift) for (let i = 0; i < ring.length; i += 2) ring[i] -= shift;
  }
  return all;
}

export class Shapes {
  constructor() {
    this.clear();
  }

  clear() {
    this.all = [];
    this.byID = new Map();
  }

  // add takes a shape of the server: {of, id, name, geometry, …}. One that is there already is
  // replaced.
  add(shape) {
    shape.parts = parts(shape.geometry);
    delete shape.geometry;
    const lines = [...shape.parts.points, ...shape.parts.lines, ...shape.parts.areas.map((a) => a[0]).filter(Boolean)];
    const xs = [], ys = [];
    for (const line of lines) {
      for (let i = 0; i < line.length; i += 2) {
        xs.push(line[i]);
        ys.push(line[i + 1]);
      }
    }
    shape.box = boundsOf(xs, ys);
    if (!shape.box) return;
    const known = this.byID.get(shape.id);
    if (known) this.all[this.all.indexOf(known)] = shape;
    else this.all.push(shape);
    this.byID.set(shape.id, shape);
  }

  // hit is the shape under a pixel: points first, then lines, then the smallest area.
  hit(view, px, py, shown) {
    let best = null, bestRank = Infinity;
    for (const shape of this.all) {
      if (!shown(shape)) continue;
      const rank = rankAt(shape, view, px, py);
      if (rank < bestRank) [best, bestRank] = [shape, rank];
    }
    return best;
  }
}

function rankAt(shape, view, px, py) {
  for (const p of shape.parts.points) {
    if (Math.hypot(view.px(p[0]) - px, view.py(p[1]) - py) <= 9) return 0;
  }
  for (const line of shape.parts.lines) if (nearLine(line, view, px, py)) return 1;
  for (const area of shape.parts.areas) {
    if (area.length && inside(area, view, px, py)) {
      const [west, north, east, south] = shape.box;
      return 2 + (east - west) * (south - north);
    }
  }
  return Infinity;
}

// shiftOf is by how many turns of the earth a line is moved to be in the view.
export function shiftOf(line, view) {
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < line.length; i += 2) {
    low = Math.min(low, line[i]);
    high = Math.max(high, line[i]);
  }
  return -Math.round((low + high) / 2 - view.x);
}

function nearLine(line, view, px, py) {
  const shift = shiftOf(line, view);
  let ax, ay;
  for (let i = 0; i < line.length; i += 2) {
    const bx = (line[i] + shift - view.x) * view.scale + view.width / 2, by = view.py(line[i + 1]);
    if (i) {
      const dx = bx - ax, dy = by - ay, t = Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy || 1)));
      if (Math.hypot(ax + t * dx - px, ay + t * dy - py) <= 6) return true;
    }
    ax = bx;
    ay = by;
  }
  return false;
}

function inside(area, view, px, py) {
  const shift = shiftOf(area[0], view);
  const [x, y] = view.at(px, py);
  let odd = false;
  for (const ring of area) {
    for (let i = 0, j = ring.length - 2; i < ring.length; j = i, i += 2) {
      const ax = ring[i] + shift, ay = ring[i + 1], bx = ring[j] + shift, by = ring[j + 1];
      if ((ay > y) !== (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax) odd = !odd;
    }
  }
  return odd;
}
