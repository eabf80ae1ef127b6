// Numbers with units, as people read them.

const group = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function count(n, one, many = one + 's') {
  return group.format(n) + ' ' + (n === 1 ? one : many);
}

function round(value, digits) {
  return new Intl.NumberFormat('en', { maximumFractionDigits: digits, minimumFractionDigits: digits }).format(value);
}

export function length(metres) {
  if (metres >= 10000) return round(metres / 1000, 1) + ' km';
  if (metres >= 1000) return round(metres / 1000, 2) + ' km';
  return round(metres, metres < 10 ? 2 : 1) + ' m';
}

export function surface(squareMetres) {
  if (squareMetres >= 1e6) return round(squareMetres / 1e6, 2) + ' km²';
  if (squareMetres >= 1e4) return round(squareMetres / 1e4, 2) + ' ha';
  return round(squareMetres, squareMetres < 100 ? 2 : 0) + ' m²';
}

export function degrees(lon, lat, digits = 6) {
  return Math.abs(lat).toFixed(digits) + '° ' + (lat < 0 ? 'S' : 'N') + '  ' + Math.abs(lon).toFixed(digits) + '° ' + (lon < 0 ? 'W' : 'E');
}

const pad = (n) => String(n).padStart(2, '0');

// localTime is a time in the reader's zone; utcTime the same moment in UTC.
export function localTime(ms) {
  const t = new Date(ms);
  return `${t.getFullYear()}-${pad(t.getMonth() + 1)}-${pad(t.getDate())} ${pad(t.getHours())}:${pad(t.getMinutes())}:${pad(t.getSeconds())}`;
}

export function utcTime(ms) {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ') + ' UTC';
}
