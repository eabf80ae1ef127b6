// Layers of picture tiles: the background, and rasters through the page's server.

import { nearest, tileSize } from './mercator.js';

const kept = 600; // tiles in memory, over all layers

export class Tiles {
  constructor(changed) {
    this.changed = changed;
    this.cache = new Map(); // address to {image, ready, failed}
    this.loading = 0;
  }

  get(address) {
    let tile = this.cache.get(address);
    if (tile) {
      this.cache.delete(address); // to the end: the one used last
    } else {
      tile = { image: new Image(), ready: false, failed: false };
      const done = (ready) => {
        tile.ready = ready;
        tile.failed = !ready;
        this.loading--;
        this.changed();
      };
      tile.image.onload = () => done(true);
      tile.image.onerror = () => done(false);
      tile.image.referrerPolicy = 'no-referrer';
      // Cookies are for a host with all its ports: another server on it is asked without them.
      const { host, hostname } = new URL(address, location.href);
      if (host !== location.host && hostname === location.hostname) tile.image.crossOrigin = 'anonymous';
      this.loading++;
      tile.image.src = address;
    }
    this.cache.set(address, tile);
    for (const [oldest, t] of this.cache) {
      if (this.cache.size <= kept) break;
      if (!t.ready && !t.failed) t.image.src = '';
      this.cache.delete(oldest);
    }
    return tile;
  }

  // draw paints a layer {template, box, maxZoom, opacity}; box may be absent.
  draw(g, view, layer) {
    const z = Math.max(0, Math.min(layer.maxZoom ?? 22, Math.round(view.zoom + Math.log2(Math.min(devicePixelRatio, 2)) * 0.5)));
    const n = 2 ** z, size = view.scale / n;
    let west = view.x - view.width / 2 / view.scale, east = view.x + view.width / 2 / view.scale;
    let north = view.y - view.height / 2 / view.scale, south = view.y + view.height / 2 / view.scale;
    if (layer.box) {
      const middle = (layer.box[0] + layer.box[2]) / 2, shift = nearest(middle, view.x) - middle;
      west = Math.max(west, layer.box[0] + shift);
      east = Math.min(east, layer.box[2] + shift);
      north = Math.max(north, layer.box[1]);
      south = Math.min(south, layer.box[3]);
      if (west >= east || north >= south) return;
    }
    g.save();
    g.globalAlpha = layer.opacity ?? 1;
    g.imageSmoothingEnabled = size <= 2 * tileSize;
    for (let y = Math.max(0, Math.floor(north * n)); y <= Math.min(n - 1, Math.floor(south * n)); y++) {
      for (let x = Math.floor(west * n); x <= Math.floor(east * n); x++) {
        const left = (x / n - view.x) * view.scale + view.width / 2, top = (y / n - view.y) * view.scale + view.height / 2;
        this.one(g, layer, z, x, y, left, top, size);
      }
    }
    g.restore();
  }

  // one paints a tile, or the part of a wider one while it is on its way.
  one(g, layer, z, x, y, left, top, size) {
    const tile = this.get(address(layer.template, z, x, y));
    if (tile.ready) {
      g.drawImage(tile.image, left, top, size + 0.5, size + 0.5);
      return;
    }
    for (let up = 1; up <= 4 && z - up >= 0; up++) {
      const wider = this.cache.get(address(layer.template, z - up, x >> up, y >> up));
      if (!wider?.ready) continue;
      const part = wider.image.width / 2 ** up;
      g.drawImage(wider.image, (x - (x >> up << up)) * part, (y - (y >> up << up)) * part, part, part, left, top, size + 0.5, size + 0.5);
      return;
    }
  }
}

function address(template, z, x, y) {
  const n = 2 ** z;
  return template.replace('{z}', z).replace('{x}', ((x % n) + n) % n).replace('{y}', y);
}
