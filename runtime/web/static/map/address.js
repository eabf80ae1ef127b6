// Deep links: the place and the selection in the address, #zoom/latitude/longitude/selection.

export function write(view, lon, lat, selected) {
  const digits = Math.max(2, Math.ceil(view.zoom / 3) + 1);
  let text = '#' + view.zoom.toFixed(2) + '/' + lat.toFixed(digits) + '/' + lon.toFixed(digits);
  if (selected) text += '/' + encodeURIComponent(selected);
  return text;
}

// read returns {zoom, lat, lon, selected}, or null when there is no place in the address.
export function read(hash) {
  const parts = hash.replace(/^#/, '').split('/');
  const [zoom, lat, lon] = parts.slice(0, 3).map(Number);
  if (parts.length < 3 || ![zoom, lat, lon].every(Number.isFinite)) return null;
  let selected = '';
  try {
    selected = decodeURIComponent(parts.slice(3).join('/'));
  } catch {
    // a link cut within an escape has no selection
  }
  return { zoom, lat: Math.max(-90, Math.min(90, lat)), lon, selected };
}
