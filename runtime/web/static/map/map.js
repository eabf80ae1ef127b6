// The map: puts view, photos, shapes and tiles on one canvas and follows the reader's hand.

import * as address from './address.js';
import { sortPoints } from './cluster.js';
import { drawGraticule, scaleBar } from './graticule.js';
import { listen } from './input.js';
import { toLat, toLon, toX, toY } from './mercator.js';
import { Measure } from './measure.js';
import { drawFootprints, drawGaps, drawLines, drawPhotos, drawRing, drawShapes, Groups } from './paint.js';
import { boundsOf, Photos } from './photos.js';
import { Shapes } from './shapes.js';
import { onThemeChange, readTheme } from './theme.js';
import { Tiles } from './tiles.js';
import { degrees } from './units.js';
import { View } from './view.js';

const reach = 12; // pixels around a photo in which a click means it
const drawnAsArea = new Set(['mission', 'raster', 'pcl', 'mesh', 'vector', 'feature', 'annotation', 'project']);

function layerOf(shape) {
  switch (shape.of) {
    case 'raster': return 'rasters';
    case 'vector': case 'feature': return 'vectors';
    case 'annotation': return 'annotations';
    default: return 'outlines';
  }
}

export class SurveyMap {
  // elements: canvas, scale, coordinates, measured. on: select(kind, what), hover(photo), moved().
  constructor(elements, on) {
    this.elements = elements;
    this.canvas = elements.canvas;
    this.on = on;
    this.view = new View();
    this.photos = new Photos();
    this.sorted = sortPoints([], [], 0);
    this.shapes = new Shapes();
    this.groups = new Groups();
    this.tiles = new Tiles(() => this.changed());
    this.measure = new Measure();
    this.layers = { photos: true, lines: true, footprints: true, gaps: true, rasters: true, vectors: true, outlines: true, annotations: true, graticule: true, background: true };
    this.lines = [];
    this.gaps = [];
    this.background = '';
    this.fitting = null; // what is shown whole, see fit
    this.selected = null; // {photo} or {shape}
    this.hovered = -1;
    this.pointer = null;
    this.frames = []; // milliseconds of the last paintings
    this.context = this.canvas.getContext('2d');
    this.theme = readTheme(this.canvas);
    onThemeChange(() => {
      this.theme = readTheme(this.canvas);
      this.changed();
    });
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    this.resize();
    this.listen();
  }

  resize() {
    const box = this.canvas.getBoundingClientRect(), ratio = Math.min(devicePixelRatio || 1, 2);
    const fitted = this.fitted;
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    this.ratio = ratio;
    this.view.resize(box.width, box.height);
    if (fitted) this.view.fit(fitted);
    this.changed();
  }

  // photosChanged is called after pages were added.
  photosChanged() {
    this.sorted = sortPoints(this.photos.x, this.photos.y, this.photos.n);
    this.groups.key = '';
    this.changed();
  }

  // changed asks for a new picture.
  changed() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      const begun = performance.now();
      this.draw();
      this.frames.push(performance.now() - begun);
      if (this.frames.length > 1000) this.frames.shift();
    });
  }

  shown = (shape) => !(shape.quiet && shape !== this.selected?.shape) && this.layers[layerOf(shape)];

  draw() {
    const { view, theme, photos, layers } = this, g = this.context;
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    g.fillStyle = theme.ground;
    g.fillRect(0, 0, view.width, view.height);
    if (this.background && layers.background) this.tiles.draw(g, view, { template: this.background, maxZoom: 19 });
    const shapes = this.shapes.all.filter(this.shown);
    for (const s of shapes) if (s.tiles) this.tiles.draw(g, view, { template: s.tiles, box: s.box });
    if (layers.graticule) drawGraticule(g, view, theme);
    if (layers.footprints) this.allFootprints = drawFootprints(g, view, theme, photos, this.selected?.photo ?? -1);
    drawShapes(g, view, theme, shapes, this.selected?.shape);
    if (layers.lines) drawLines(g, view, theme, photos, this.lines);
    if (layers.photos && photos.n) {
      drawPhotos(g, view, theme, photos, this.groups.of(photos, this.sorted, view).shown(view), this.sorted);
    }
    if (layers.gaps) drawGaps(g, view, theme, this.gaps);
    if (this.hovered >= 0) drawRing(g, view, theme, photos, this.hovered, false);
    if (this.selected?.photo >= 0) drawRing(g, view, theme, photos, this.selected.photo, true);
    if (this.measure.kind) this.measure.draw(g, view, theme, this.pointer);
    this.tellPlace();
  }

  tellPlace() {
    const { view, elements } = this, bar = scaleBar(view, 120);
    elements.scale.style.width = bar.pixels + 'px';
    elements.scale.textContent = bar.text;
    const at = this.pointer || [view.x, view.y];
    elements.coordinates.textContent = degrees(toLon(at[0]), toLat(at[1]), view.zoom > 18 ? 7 : view.zoom > 10 ? 5 : 3);
    elements.measured.hidden = !this.measure.kind;
    if (this.measure.kind) elements.measured.textContent = this.measure.text(this.pointer);
  }

  // moved is called when another part of the world is shown.
  moved() {
    this.fitted = this.fitting = null;
    this.changed();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.writeAddress();
      this.on.moved();
    }, 150);
  }

  writeAddress() {
    const id = this.selected ? (this.selected.shape ? this.selected.shape.id : this.photos.ids[this.selected.photo]) : '';
    history.replaceState(null, '', location.pathname + location.search + address.write(this.view, toLon(this.view.x), toLat(this.view.y), id));
  }

  // fit shows everything there is ('all'), or what was flown and made of it ('own'): vectors and
  // annotations may be of a whole country.
  fit(what) {
    const boxes = this.shapes.all.filter((s) => drawnAsArea.has(s.of)), own = this.boxesOf('photos');
    own.push(...boxes.filter((s) => ['outlines', 'rasters'].includes(layerOf(s))).map((s) => s.box));
    if (!this.fitBoxes(what === 'own' && own.length ? own : [...own, ...boxes.map((s) => s.box)])) return;
    this.fitting = what;
  }

  // boxesOf is where the things of a layer are, null for layers that are everywhere.
  boxesOf(layer) {
    const photos = (of) => [this.photos.bounds(of)].filter(Boolean);
    switch (layer) {
      case 'photos': case 'footprints': return photos();
      case 'lines': return photos(this.lines.flat());
      case 'gaps': return this.gaps.map(({ at }) => boundsOf([toX(at[0]), toX(at[2])], [toY(at[1]), toY(at[3])]));
      case 'graticule': case 'background': return null;
      default: return this.shapes.all.filter((s) => layerOf(s) === layer).map((s) => s.box);
    }
  }

  // fitBoxes shows boxes, and reports whether there are any.
  fitBoxes(boxes) {
    const xs = boxes.flatMap((b) => [b[0], b[2]]), ys = boxes.flatMap((b) => [b[1], b[3]]);
    const box = boundsOf(xs, ys);
    if (!box) return false;
    this.view.fit(box);
    this.moved();
    this.fitted = box;
    return true;
  }

  inView() {
    const { photos, view } = this, list = [];
    this.byTime ||= [];
    if (this.byTime.length !== photos.n) {
      this.byTime = Array.from({ length: photos.n }, (_, i) => i);
      const t = photos.time;
      this.byTime.sort((a, b) => (Number.isNaN(t[a]) ? Infinity : t[a]) - (Number.isNaN(t[b]) ? Infinity : t[b]) || a - b);
    }
    for (const i of this.byTime) if (view.shows(view.px(photos.x[i]), view.py(photos.y[i]), 4)) list.push(i);
    return list;
  }

  // photoAt is the photo nearest to a pixel, or -1.
  photoAt(px, py) {
    const { photos, view } = this;
    let best = -1, nearest = reach * reach;
    if (!this.layers.photos) return best;
    for (let i = 0; i < photos.n; i++) {
      const dx = view.px(photos.x[i]) - px, dy = view.py(photos.y[i]) - py, d = dx * dx + dy * dy;
      if (d < nearest) [best, nearest] = [i, d];
    }
    return best;
  }

  // discAt is the numbered cluster under a pixel, as its photos, or null.
  discAt(px, py) {
    const groups = this.groups.of(this.photos, this.sorted, this.view).shown(this.view);
    if (!groups.numbered || !this.layers.photos) return null;
    for (let i = 0; i < groups.n; i++) {
      if (groups.count[i] > 1 && Math.hypot(this.view.px(groups.x[i]) - px, this.view.py(groups.y[i]) - py) <= 24) {
        return Array.from(this.sorted.order.subarray(groups.start[i], groups.start[i] + groups.count[i]));
      }
    }
    return null;
  }

  select(what, centre = false) {
    this.selected = what;
    if (centre && what?.photo >= 0) {
      const { view, photos } = this, i = what.photo;
      if (!view.shows(view.px(photos.x[i]), view.py(photos.y[i]), -30)) {
        view.x = photos.x[i];
        view.y = photos.y[i];
        view.constrain();
        this.moved();
      }
    }
    if (centre && what?.shape) this.fitBoxes([what.shape.box]);
    this.changed();
    this.writeAddress();
    this.on.selected(what);
  }

  hover(photo) {
    if (photo === this.hovered) return;
    this.hovered = photo;
    this.changed();
  }

  listen() {
    const { view } = this;
    const clicked = (px, py) => {
      if (this.measure.kind) {
        this.measure.add(...view.at(px, py));
        this.changed();
        return;
      }
      const disc = this.discAt(px, py);
      if (disc) {
        const box = this.photos.bounds(disc);
        if (view.zoom < 21) {
          this.fitBoxes([box]);
          return;
        }
      }
      const photo = this.photoAt(px, py);
      if (photo >= 0) {
        this.select({ photo });
        return;
      }
      const shape = this.shapes.hit(view, px, py, this.shown);
      this.select(shape && { shape });
    };
    listen(this.canvas, {
      pan: (dx, dy) => {
        view.pan(dx, dy);
        this.moved();
      },
      zoom: (by, px, py) => {
        view.zoomTo(view.zoom + by, px, py);
        this.moved();
      },
      click: clicked,
      double: (px, py) => {
        if (this.measure.kind) {
          this.measure.finish();
          this.changed();
          return;
        }
        view.zoomTo(view.zoom + 1, px, py);
        this.moved();
      },
      hover: (px, py) => {
        this.pointer = view.at(px, py);
        const photo = this.measure.kind ? -1 : this.photoAt(px, py);
        this.canvas.style.cursor = this.measure.kind ? 'crosshair' : photo >= 0 ? 'pointer' : '';
        if (photo !== this.hovered) {
          this.hover(photo);
          this.on.hovered(photo);
        }
        if (this.measure.kind) this.changed();
        else this.tellPlace();
      },
      leave: () => {
        this.pointer = null;
        this.hover(-1);
        this.on.hovered(-1);
        this.changed();
      },
      key: (key, shift) => this.key(key, shift),
    });
  }

  key(key, shift) {
    const { view } = this, step = shift ? 240 : 80;
    const pans = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (pans[key]) view.pan(...pans[key]);
    else if (key === '+' || key === '=') view.zoomTo(view.zoom + 0.5);
    else if (key === '-' || key === '_') view.zoomTo(view.zoom - 0.5);
    else if (key === '0' || key === 'Home') {
      this.fit('all');
      return true;
    } else if (key === 'n' || key === 'p') {
      this.step(key === 'n' ? 1 : -1);
      return true;
    } else if (key === 'Enter' && this.measure.kind) {
      if (this.measure.done || !this.pointer) {
        this.measure.add(view.x, view.y);
      } else this.measure.finish();
      this.changed();
      return true;
    } else if (key === 'Backspace' && this.measure.kind) {
      this.measure.undo();
      this.changed();
      return true;
    } else if (key === 'Escape') {
      if (this.measure.kind) this.on.measured('');
      else this.select(null);
      return true;
    } else return false;
    this.moved();
    return true;
  }

  // step selects the next photo in time, or the one before.
  step(by) {
    this.inView();
    const order = this.byTime, at = order.indexOf(this.selected?.photo ?? -1);
    if (order.length) this.select({ photo: order[Math.max(0, Math.min(order.length - 1, at < 0 ? 0 : at + by))] }, true);
  }
}
