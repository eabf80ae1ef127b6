// What the page says of the selection. Names and properties come from files and from other
// people: they only ever become text, never markup.

import { degrees, localTime, utcTime } from './units.js';
import { toLat, toLon } from './mercator.js';

const stateText = ['', 'not read by the platform yet', 'warning', 'not usable'];
const mostRows = 60;

function element(tag, text, attributes = {}) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
}

function facts(rows) {
  const list = element('dl', undefined, { class: 'facts' });
  for (const [label, value] of rows) {
    list.append(element('dt', label), value instanceof Node ? wrap('dd', value) : element('dd', value));
  }
  return list;
}

function wrap(tag, child) {
  const e = element(tag);
  e.append(child);
  return e;
}

function time(ms) {
  return element('time', localTime(ms), { datetime: new Date(ms).toISOString(), title: utcTime(ms) });
}

function picture(address, name) {
  const image = element('img', undefined, { class: 'preview', alt: 'Preview of ' + name, src: address });
  image.onerror = () => image.remove();
  return image;
}

// link is a link within the page; addresses of other sites are not followed.
function link(text, address) {
  return address.startsWith('/') && !address.startsWith('//') ? element('a', text, { href: address }) : element('span', text);
}

// showPhoto fills the panel with a photo.
export function showPhoto(panel, photos, i, addresses) {
  const rows = [];
  if (!Number.isNaN(photos.time[i])) rows.push(['Taken', time(photos.time[i])]);
  rows.push(['Position', degrees(toLon(photos.x[i]), toLat(photos.y[i]))]);
  if (photos.altitudes[i] !== null) rows.push(['Altitude', photos.altitudes[i].toFixed(1) + ' m above sea level']);
  const note = photos.notes.get(photos.ids[i]), state = stateText[photos.states[i]];
  if (state) rows.push(['State', state]);
  panel.replaceChildren(element('h2', photos.names[i]));
  const thumb = addresses.thumb(i, 'small'), page = addresses.page(i);
  if (thumb) panel.append(picture(thumb, photos.names[i]));
  for (const n of note || []) {
    const p = element('p', n.message, { class: 'note' });
    if (n.hint) p.append(element('br'), element('span', n.hint, { class: 'hint' }));
    panel.append(p);
  }
  panel.append(facts(rows));
  if (page) panel.append(wrap('p', link('Open the dataset', page)));
}

const kinds = { project: 'Project', mission: 'Mission', raster: 'Raster', vector: 'Vector', pcl: 'Point cloud', mesh: 'Mesh', annotation: 'Annotation', feature: 'Feature', file: 'File', image: 'Image' };

// showShape fills the panel with a shape and its properties.
export function showShape(panel, shape) {
  panel.replaceChildren(element('p', kinds[shape.of] || shape.of, { class: 'kind' }), element('h2', shape.name || shape.id));
  if (shape.preview) panel.append(picture(shape.preview, shape.name));
  if (shape.note) panel.append(element('p', shape.note, { class: 'note' }));
  if (shape.facts?.length) panel.append(facts(shape.facts));
  const properties = Object.entries(shape.properties || {});
  if (properties.length) {
    panel.append(element('h3', 'Properties'));
    panel.append(facts(properties.slice(0, mostRows).map(([name, value]) => [name, plain(value)])));
    if (properties.length > mostRows) panel.append(element('p', properties.length - mostRows + ' more on its page', { class: 'hint' }));
  }
  for (const [text, address] of shape.links || []) panel.append(wrap('p', link(text, address)));
}

function plain(value) {
  return value === null ? '–' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const mostFindings = 40;

// showFindings lists what is odd about a survey; a click selects the photo.
export function showFindings(box, findings) {
  box.replaceChildren();
  if (!findings.length) return;
  const list = element('ul', undefined, { class: 'map-list' });
  for (const f of findings.slice(0, mostFindings)) {
    const item = element('li');
    const text = (f.name && f.code !== 'gap' ? f.name + ': ' : '') + f.message;
    item.append(f.photo ? element('a', text, { href: '#', 'data-show': f.photo }) : text);
    if (f.hint) item.append(element('br'), element('span', f.hint, { class: 'quiet' }));
    list.append(item);
  }
  box.append(element('h2', 'Findings'), list);
  if (findings.length > mostFindings) box.append(element('p', findings.length - mostFindings + ' more in the flight report', { class: 'hint' }));
}

// showProblem says what did not work.
export function showProblem(element_, problem) {
  element_.replaceChildren(element('strong', problem.message || String(problem)));
  if (problem.hint) element_.append(' ', element('span', problem.hint));
  if (problem.away) element_.append(' ', element('span', 'The page tries again by itself.'));
  element_.hidden = false;
}
