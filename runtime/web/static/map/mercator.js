// Web-mercator: longitude and latitude in degrees to the unit square and back. x grows
// eastwards from the date line, y southwards from 85.05 degrees north.

export const tileSize = 256;
export const maxLatitude = 85.0511287798066;

export function toX(lon) {
  return lon / 360 + 0.5;
}

export function toY(lat) {
  const sin = Math.sin(Math.max(-maxLatitude, Math.min(maxLatitude, lat)) * Math.PI / 180);
  return 0.5 - Math.log((1 + sin) / (1 - sin)) / (4 * Math.PI);
}

export function toLon(x) {
  return (x - Math.floor(x)) * 360 - 180;
}

export function toLat(y) {
  return Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180 / Math.PI;
}

// nearest moves x by whole turns of the earth so that it is at most half a turn from centre.
export function nearest(x, centre) {
  return x - Math.round(x - centre);
}

// metresPerUnit is the ground length of the whole unit square's width at a latitude.
export function metresPerUnit(lat) {
  return 40075016.68557849 * Math.cos(lat * Math.PI / 180);
}
