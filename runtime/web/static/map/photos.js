// The photos of the map, as columns: positions in the unit square, times, states. Pages of the
// server are added as they arrive; nothing here is drawn.

import { nearest, toLat, toX, toY } from './mercator.js';

// States of a photo, as the server numbers them.
export const state = { good: 0, waiting: 1, warning: 2, bad: 3 };

const mostGrounds = 2000; // photos whose ground counts for what is shown at first

export class Photos {
  constructor() {
    this.clear();
  }

  clear() {
    this.n = 0;
    this.x = new Float64Array(1024);
    this.y = new Float64Array(1024);
    this.time = new Float64Array(1024); // milliseconds since 1970, NaN when unknown
    this.states = new Uint8Array(1024);
    this.ids = [];
    this.names = [];
    this.altitudes = []; // metres above sea level, or null
    this.grounds = []; // outline of the ground, see ground()
    this.notes = new Map(); // photo to what is wrong with it
    this.index = new Map(); // id to photo
  }

  grow(n) {
    let size = this.x.length;
    if (n <= size) return;
    while (size < n) size *= 2;
    for (const column of ['x', 'y', 'time', 'states']) {
      const wider = new this[column].constructor(size);
      wider.set(this[column]);
      this[column] = wider;
    }
  }

  // add takes one page: {id: [], name: [], at: [lon, lat, …], time: [], state: [], ground: []}.
  add(page) {
    this.grow(this.n + page.id.length);
    for (let i = 0; i < page.id.length; i++) {
      const n = this.n++;
      const x = toX(page.at[2 * i]);
      this.x[n] = x - Math.floor(x); // 180 degrees east are 180 degrees west, for the means of clusters
      this.y[n] = toY(page.at[2 * i + 1]);
      this.time[n] = page.time[i] ?? NaN;
      this.states[n] = page.state[i];
      this.ids.push(page.id[i]);
      this.names.push(page.name[i]);
      this.altitudes.push(page.altitude?.[i] ?? null);
      this.grounds.push(page.ground?.[i] || null);
      this.index.set(page.id[i], n);
    }
  }

  // ground is the outline of what a photo shows, [x, y, …] in the unit square, or null. The
  // server sends it in units of 1e-7 degrees from the position.
  ground(i) {
    const g = this.grounds[i];
    if (!g || g instanceof Float64Array) return g;
    const lon = (this.x[i] - 0.5) * 360, lat = toLat(this.y[i]);
    const ring = new Float64Array(g.length);
    for (let k = 0; k < g.length; k += 2) {
      ring[k] = toX(lon + g[k] * 1e-7);
      ring[k + 1] = toY(lat + g[k + 1] * 1e-7);
    }
    return this.grounds[i] = ring;
  }

  // bounds of the photos given, or of all with the ground they show: [west, north, east, south]
  // in the unit square, east of west also across the date line; null when there are none.
  bounds(of) {
    const xs = [], ys = [];
    const add = (x, y) => {
      xs.push(x);
      ys.push(y);
    };
    for (let k = 0; k < (of ? of.length : this.n); k++) {
      const i = of ? of[k] : k;
      add(this.x[i], this.y[i]);
      const ground = !of && this.n <= mostGrounds && this.ground(i);
      for (let c = 0; ground && c < ground.length; c += 2) add(nearest(ground[c], this.x[i]), ground[c + 1]);
    }
    return boundsOf(xs, ys);
  }
}

// boundsOf is the smallest box around points; it leaves out the widest gap between meridians,
// so that points on both sides of the date line are in a narrow box.
export function boundsOf(xs, ys) {
  if (!xs.length) return null;
  let north = Infinity, south = -Infinity, west = Infinity, east = -Infinity;
  for (let i = 0; i < xs.length; i++) {
    north = Math.min(north, ys[i]);
    south = Math.max(south, ys[i]);
    west = Math.min(west, xs[i]);
    east = Math.max(east, xs[i]);
  }
  if (east - west > 0.5) {
    const sorted = Float64Array.from(xs, (x) => x - Math.floor(x)).sort();
    let gap = sorted[0] + 1 - sorted[sorted.length - 1];
    west = sorted[0];
    east = sorted[sorted.length - 1];
    for (let i = 1; i < sorted.length; i++) {
      if (sorted[i] - sorted[i - 1] > gap) {
        gap = sorted[i] - sorted[i - 1];
        west = sorted[i];
        east = sorted[i - 1] + 1;
      }
    }
  }
  return [west, north, east, south];
}
