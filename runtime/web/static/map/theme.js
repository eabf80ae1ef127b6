// Colours of the canvas, from the page's style sheet: custom properties --map-*.

const names = ['ground', 'grid', 'grid-text', 'photo', 'photo-edge', 'waiting', 'warning', 'bad', 'selected', 'line', 'gap',
  'footprint', 'footprint-edge', 'mission', 'project', 'shape', 'raster', 'cloud', 'annotation', 'text', 'halo', 'measure'];

export function readTheme(element) {
  const style = getComputedStyle(element), theme = {};
  for (const name of names) theme[name.replace(/-(.)/g, (_, c) => c.toUpperCase())] = style.getPropertyValue('--map-' + name).trim() || '#888';
  theme.font = style.fontFamily;
  return theme;
}

// onThemeChange calls back when the reader changes between light and dark, or prints.
export function onThemeChange(callback) {
  for (const query of ['(prefers-color-scheme: dark)', 'print']) matchMedia(query).addEventListener('change', callback);
}
