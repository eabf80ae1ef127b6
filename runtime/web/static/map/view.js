// What part of the world the map shows: centre in the unit square, zoom, size in pixels.

import { nearest, tileSize, toLat, toLon, toX, toY } from './mercator.js';

export const maxZoom = 23;

export class View {
  constructor() {
    this.x = 0.5;
    this.y = 0.5;
    this.zoom = 2;
    this.width = 1;
    this.height = 1;
  }

  // scale is the pixels of the unit square.
  get scale() {
    return tileSize * 2 ** this.zoom;
  }

  // minZoom fills the width with the world, so that nothing is seen twice.
  get minZoom() {
    return Math.max(0, Math.log2(Math.max(this.width, this.height) / tileSize));
  }

  resize(width, height) {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.constrain();
  }

  constrain() {
    this.zoom = Math.max(this.minZoom, Math.min(maxZoom, this.zoom));
    this.x -= Math.floor(this.x);
    const half = this.height / 2 / this.scale;
    this.y = half >= 0.5 ? 0.5 : Math.max(half, Math.min(1 - half, this.y));
  }

  px(x) {
    return (nearest(x, this.x) - this.x) * this.scale + this.width / 2;
  }

  py(y) {
    return (y - this.y) * this.scale + this.height / 2;
  }

  // at is the position under a pixel.
  at(px, py) {
    return [this.x + (px - this.width / 2) / this.scale, this.y + (py - this.height / 2) / this.scale];
  }

  lonLat(px, py) {
    const [x, y] = this.at(px, py);
    return [toLon(x), toLat(y)];
  }

  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.constrain();
  }

  // zoomTo changes the zoom and keeps the position under a pixel where it is.
  zoomTo(zoom, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.at(px, py);
    this.zoom = Math.max(this.minZoom, Math.min(maxZoom, zoom));
    this.x = x - (px - this.width / 2) / this.scale;
    this.y = y - (py - this.height / 2) / this.scale;
    this.constrain();
  }

  // fit shows a box [west, north, east, south] with a margin in pixels.
  fit(box, margin = 48, closest = 20) {
    const [west, north, east, south] = box;
    const room = (size) => Math.max(size - 2 * margin, size / 2);
    const zoom = Math.log2(Math.min(room(this.width) / Math.max(east - west, 1e-9), room(this.height) / Math.max(south - north, 1e-9)) / tileSize);
    this.zoom = Math.min(closest, zoom);
    this.x = (west + east) / 2;
    this.y = (north + south) / 2;
    this.constrain();
  }

  go(lon, lat, zoom = this.zoom) {
    this.x = toX(lon);
    this.y = toY(lat);
    this.zoom = zoom;
    this.constrain();
  }

  // shows reports whether a pixel is within the view, or margin pixels around it.
  shows(px, py, margin = 0) {
    return px >= -margin && py >= -margin && px <= this.width + margin && py <= this.height + margin;
  }
}
