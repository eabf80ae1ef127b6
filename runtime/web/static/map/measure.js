// Measuring distance and area: points that are clicked, and their length and surface.

import { area, distance } from './geodesic.js';
import { toLat, toLon, toX, toY } from './mercator.js';
import { unfold } from './shapes.js';
import { length, surface } from './units.js';

export class Measure {
  constructor() {
    this.kind = ''; // '', 'distance' or 'area'
    this.points = []; // [lon, lat]
    this.done = false;
  }

  start(kind) {
    this.kind = kind;
    this.points = [];
    this.done = false;
  }

  stop() {
    this.start('');
  }

  add(x, y) {
    if (this.done) this.start(this.kind);
    this.points.push([toLon(x), toLat(y)]);
  }

  undo() {
    this.done = false;
    this.points.pop();
  }

  finish() {
    this.done = this.points.length > 1;
  }

  // text is the result so far; at is the pointer, [x, y] in the unit square or null.
  text(at) {
    const points = this.line(at);
    if (points.length < 2) return this.kind === 'area' ? 'Click the corners of the area; Enter ends' : 'Click the points of the line; Enter ends';
    if (this.kind === 'area' && points.length > 2) {
      return surface(area(points)) + ', around it ' + length(distance([...points, points[0]]));
    }
    return length(distance(points));
  }

  line(at) {
    return at && !this.done && this.points.length ? [...this.points, [toLon(at[0]), toLat(at[1])]] : this.points;
  }

  draw(g, view, theme, at) {
    const points = this.line(at);
    if (!points.length) return;
    const line = unfold(points), shift = -Math.round(toX(points[0][0]) - view.x);
    const place = (i) => [(line[2 * i] + shift - view.x) * view.scale + view.width / 2, view.py(toY(points[i][1]))];
    g.save();
    g.strokeStyle = theme.measure;
    g.fillStyle = theme.measure;
    g.lineWidth = 2;
    g.beginPath();
    for (let i = 0; i < points.length; i++) g.lineTo(...place(i));
    if (this.kind === 'area' && points.length > 2) {
      g.closePath();
      g.globalAlpha = 0.15;
      g.fill();
      g.globalAlpha = 1;
    }
    g.stroke();
    for (let i = 0; i < points.length; i++) {
      g.beginPath();
      g.arc(...place(i), 3.5, 0, 7);
      g.fill();
    }
    g.restore();
  }
}
