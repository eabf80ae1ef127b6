// The page of a folder: follows the check and the runs that send it, and replaces what is said of
// the files without losing the place on the map.

import { on } from '../page.js';

const map = document.getElementById('map');

on('folder', async ({ version }) => {
  if (!map || version === map.dataset.version) return;
  map.dataset.version = version;
  const answer = await fetch(location.pathname + location.search);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  for (const part of ['#files', '#findings', '[data-part=folder-summary]', '.badges']) {
    const now = document.querySelector(part), then = page.querySelector(part);
    if (now && then) now.replaceWith(then);
  }
  map.dispatchEvent(new Event('reload'));
});
