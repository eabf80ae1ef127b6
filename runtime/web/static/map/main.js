// The map of a page: reads what the server streams, and connects map, strip, panel and controls.

import { follow, on } from '../page.js';
import * as address from './address.js';
import { readLines } from './load.js';
import { SurveyMap } from './map.js';
import { showFindings, showPhoto, showProblem, showShape } from './panel.js';
import { Strip } from './strip.js';
import { count } from './units.js';

const again = 5000; // milliseconds before a platform that is away is asked again

const root = document.getElementById('map');
if (root) start(root);

function start(root) {
  const find = (name) => root.querySelector('[data-part=' + name + ']');
  const panel = find('panel'), notice = find('notice'), summary = find('summary'), stripBox = find('strip');
  const intro = [...panel.childNodes], findings = find('findings');
  root.classList.add('live');

  const addresses = {
    thumb: (i, kind = 'tiny') => root.dataset.thumb ? root.dataset.thumb.replace('{id}', encodeURIComponent(map.photos.ids[i])).replace('{kind}', kind) : '',
    page: (i) => root.dataset.page ? root.dataset.page.replace('{id}', encodeURIComponent(map.photos.ids[i])) : '',
  };
  const map = new SurveyMap({ canvas: find('canvas'), scale: find('scale'), coordinates: find('coordinates'), measured: find('measured') }, {
    selected(what) {
      if (!what) panel.replaceChildren(...intro);
      else if (what.shape) showShape(panel, what.shape);
      else showPhoto(panel, map.photos, what.photo, addresses);
      panel.classList.toggle('chosen', !!what);
      strip.select(what?.photo ?? -1);
      mark(what);
    },
    hovered: (photo) => strip.hover(photo),
    moved: () => strip.show(map.inView()),
    measured: (kind) => measure(kind),
  });
  const strip = new Strip(stripBox, map.photos, {
    select: (photo) => map.select({ photo }, true),
    hover: (photo) => map.hover(photo),
    thumb: (photo) => addresses.thumb(photo),
  });
  map.background = root.dataset.tiles || '';
  root.map = map; // for tests and benchmarks

  // Rows of tables on the page that stand for something on the map: data-show="id".
  function mark(what) {
    const id = what ? (what.shape ? what.shape.id : map.photos.ids[what.photo]) : '';
    for (const row of document.querySelectorAll('[data-show]')) row.toggleAttribute('data-shown', row.dataset.show === id);
  }
  document.addEventListener('click', (event) => {
    const row = event.target.closest?.('[data-show]');
    if (!row || event.target.closest('a[href]:not([data-show])')) return;
    const what = known(row.dataset.show);
    if (!what) return;
    event.preventDefault();
    map.select(what, true);
    if (matchMedia('(max-width: 700px)').matches) root.scrollIntoView({ block: 'start' });
  });

  function known(id) {
    const photo = map.photos.index.get(id), shape = map.shapes.byID.get(id);
    return photo !== undefined ? { photo } : shape ? { shape } : null;
  }

  function measure(kind) {
    if (kind) map.measure.start(kind);
    else map.measure.stop();
    for (const b of root.querySelectorAll('[data-measure]')) b.setAttribute('aria-pressed', b.dataset.measure === kind);
    map.changed();
  }
  for (const b of root.querySelectorAll('[data-measure]')) {
    b.addEventListener('click', () => {
      measure(b.getAttribute('aria-pressed') === 'true' ? '' : b.dataset.measure);
      map.canvas.focus();
    });
  }
  for (const b of root.querySelectorAll('[data-do]')) {
    b.addEventListener('click', () => {
      if (b.dataset.do === 'fit') map.fit('all');
      else map.key(b.dataset.do === 'in' ? '+' : '-');
    });
  }
  for (const box of root.querySelectorAll('[data-layer]')) {
    const layer = box.dataset.layer;
    const set = () => {
      map.layers[layer] = box.checked;
      map.changed();
    };
    box.addEventListener('change', set);
    set();
    const name = box.parentElement.textContent.trim().toLowerCase();
    if (!map.boxesOf(layer)) continue;
    const zoom = document.createElement('button');
    zoom.type = 'button';
    zoom.textContent = 'Zoom to';
    zoom.setAttribute('aria-label', 'Zoom to ' + name);
    zoom.addEventListener('click', () => {
      if (!map.fitBoxes(map.boxesOf(layer))) summary.textContent = 'There are no ' + name + ' here.';
    });
    box.parentElement.after(zoom);
  }

  let wanted = address.read(location.hash), placed = false;
  addEventListener('hashchange', (event) => {
    // The map may have written its own place in the address since.
    wanted = address.read(new URL(event.newURL).hash);
    place(true);
  });
  // place shows what the address says, else what was flown.
  function place(anew) {
    if (wanted && (anew || !placed)) map.view.go(wanted.lon, wanted.lat, wanted.zoom);
    else if (!placed || map.fitting) map.fit(map.fitting || 'own');
    placed ||= map.photos.n > 0 || map.shapes.all.length > 0;
    if (wanted?.selected) {
      const what = known(wanted.selected);
      if (what) {
        const { x, y, zoom } = map.view;
        map.select(what);
        Object.assign(map.view, { x, y, zoom });
        wanted = null;
      }
    }
    map.changed();
    strip.show(map.inView());
  }

  // load reads everything anew and replaces what is shown once something has come.
  let running = null, timer = 0;
  async function load() {
    running?.abort();
    clearTimeout(timer);
    const stop = running = new AbortController();
    const before = map.selected && (map.selected.shape ? map.selected.shape.id : map.photos.ids[map.selected.photo]);
    const held = []; // what replaces a map that is shown already comes at once, at the end
    let fresh = true, sorted = 0;
    const begin = () => {
      if (!fresh) return;
      fresh = false;
      map.photos.clear();
      map.shapes.clear();
      map.lines = [];
      map.gaps = [];
      map.byTime = null;
      map.selected = null;
      map.hovered = -1;
      strip.forget();
    };
    const take = (value) => {
      begin();
      if (value.kind === 'photos') map.photos.add(value);
      else if (value.kind === 'shape') map.shapes.add(value);
      else if (value.kind === 'survey') survey(value);
    };
    try {
      await readLines(root.dataset.source, (value) => {
        if (value.kind === 'progress') summary.textContent = value.text;
        else if (root.dataset.loaded) held.push(value);
        else {
          take(value);
          // Points are sorted again whenever there are twice as many.
          if (value.kind === 'photos' && map.photos.n >= 2 * sorted) {
            sorted = map.photos.n;
            map.photosChanged();
            place();
          }
          map.changed();
        }
      }, stop.signal);
      held.forEach(take);
      begin();
      map.photosChanged();
      notice.hidden = true;
      place();
      if (before && !map.selected) {
        const what = known(before);
        if (what) map.select(what);
      }
      root.dispatchEvent(new CustomEvent('loaded'));
      root.dataset.loaded = map.photos.n;
    } catch (problem) {
      if (stop.signal.aborted) return;
      showProblem(notice, problem);
      if (problem.away) timer = setTimeout(load, again);
    }
  }

  function survey(value) {
    map.lines = value.lines || [];
    map.gaps = value.gaps || [];
    for (const p of value.problems || []) {
      if (!p.photo) continue;
      const i = map.photos.index.get(p.photo), list = map.photos.notes.get(p.photo) || [];
      list.push(p);
      map.photos.notes.set(p.photo, list);
      if (i !== undefined) map.photos.states[i] = Math.max(map.photos.states[i], p.severity === 'error' ? 3 : 2);
    }
    if (findings) showFindings(findings, (value.problems || []).map((p) => map.photos.index.has(p.photo) ? p : { ...p, photo: '' }));
    if (summary) summary.textContent = value.text || count(map.photos.n, 'photo');
    root.classList.toggle('no-photos', !map.photos.n);
    root.classList.toggle('nothing', !map.photos.n && !map.shapes.all.length);
  }

  const choice = find('choice');
  choice?.addEventListener('change', (event) => {
    if (event.target.name === 'project') choice.elements.find.value = '';
    choice.requestSubmit();
  });

  root.addEventListener('reload', load);
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && !notice.hidden) load();
  });
  // lists renews the projects and missions to choose from.
  async function lists() {
    const answer = await fetch(location.pathname + location.search).catch(() => null);
    if (!answer?.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const missions = intro.find((node) => node.dataset?.part === 'missions');
    missions?.replaceChildren(...page.querySelector('[data-part=missions]').childNodes);
    const projects = choice.elements.project, chosen = projects.value;
    for (const list of ['select[name=project]', 'datalist']) {
      choice.querySelector(list).replaceChildren(...page.querySelector(list).childNodes);
    }
    projects.value = chosen;
  }

  if (root.dataset.topic) {
    let seen = '';
    on('map', ({ version }) => {
      if (seen && version !== seen) {
        load();
        lists();
      }
      seen = version;
    });
    follow(root.dataset.topic);
  }
  load();
}
