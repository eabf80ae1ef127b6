// Distances and areas on the WGS 84 ellipsoid, for points in degrees. This is the method of
// the package client/geodesic (C. F. F. Karney, "Algorithms for geodesics", 2013), without
// azimuths; a test compares the two.

const equator = 6378137, f = 1 / 298.257223563;
const polar = equator * (1 - f), e2 = f * (2 - f), ep2 = e2 / (1 - e2);
const authalic2 = equator * equator / 2 + polar * polar / 2 * Math.atanh(Math.sqrt(e2)) / Math.sqrt(e2);
const whole = 4 * Math.PI * authalic2;

function remainder(a, b) {
  return a - b * Math.round(a / b);
}

// Gauss-Legendre rule of n nodes for the interval from -1 to 1.
function rule(n) {
  const nodes = [], weights = [];
  for (let i = 0; i < n; i++) {
    let x = Math.cos(Math.PI * (i + 0.75) / (n + 0.5)), slope = 0;
    for (let k = 0; k < 10; k++) {
      let p = 1, before = 0;
      for (let j = 0; j < n; j++) [p, before] = [((2 * j + 1) * x * p - j * before) / (j + 1), p];
      slope = n * (x * p - before) / (x * x - 1);
      x -= p / slope;
    }
    nodes.push(x);
    weights.push(2 / ((1 - x * x) * slope * slope));
  }
  return { nodes, weights };
}
const short = rule(6), long = rule(16);

// integrate returns the integral of g(sin s) over an arc.
function integrate(start, arc, g) {
  const { nodes, weights } = Math.abs(arc) <= 0.3 ? short : long;
  const half = arc / 2;
  let sum = 0;
  for (let i = 0; i < nodes.length; i++) sum += weights[i] * g(Math.sin(start + half + half * nodes[i]));
  return sum * half;
}

function sincos(degrees) {
  const r = remainder(degrees, 90), quarter = Math.round((degrees - r) / 90) & 3;
  const s = Math.sin(r * Math.PI / 180), c = Math.cos(r * Math.PI / 180);
  return [[s, c], [c, -s], [-s, -c], [-c, s]][quarter];
}

function reduced(latitude) {
  let [sin, cos] = sincos(latitude);
  sin *= 1 - f;
  const h = Math.hypot(sin, cos);
  return [sin / h, Math.max(cos / h, 1e-150)];
}

// inverse returns the geodesic between two points: metres, and the square metres below it,
// down to the equator.
export function inverse(lat1, lon1, lat2, lon2) {
  let east = remainder(lon2 - lon1, 360), lonSign = 1, latSign = 1;
  if (east < 0) { east = -east; lonSign = -1; }
  let swapped = 1;
  if (Math.abs(lat1) < Math.abs(lat2)) { [lat1, lat2] = [lat2, lat1]; lonSign = -lonSign; swapped = -1; }
  if (lat1 > 0) { lat1 = -lat1; lat2 = -lat2; latSign = -1; }
  const t = { east: east * Math.PI / 180, meridian: false };
  [t.sin1, t.cos1] = reduced(lat1);
  [t.sin2, t.cos2] = reduced(lat2);
  if (t.sin2 === -t.sin1 || lat1 === lat2) t.cos2 = t.cos1;
  if (lat1 === -90 || east === 0 || east === 180) {
    t.meridian = true;
    [t.sinA1, t.cosA1] = sincos(east);
    t.sinA2 = 0; t.cosA2 = 1;
    bend(t, 0);
    t.sphere = t.east;
  } else if (t.sin1 === 0 && t.sin2 === 0 && t.east <= (1 - f) * Math.PI) {
    return { metres: equator * t.east, below: 0 };
  } else {
    azimuth(t);
  }
  const metres = polar * integrate(t.start, t.len, (sin) => Math.sqrt(1 + t.k2 * sin * sin));
  return { metres, below: below(t) * lonSign * latSign * swapped };
}

function bend(t, sin0) {
  t.sin0 = sin0;
  t.cos0 = Math.hypot(t.cosA1, t.sinA1 * t.sin1);
  t.k2 = ep2 * t.cos0 * t.cos0;
  const c1 = t.cosA1 * t.cos1, c2 = t.cosA2 * t.cos2;
  t.start = Math.atan2(t.sin1, c1);
  t.len = Math.atan2(Math.max(0, c1 * t.sin2 - t.sin1 * c2), c1 * c2 + t.sin1 * t.sin2);
}

// meet follows the line of an azimuth to the second latitude and returns how far east that is.
function meet(t) {
  const sin0 = t.sinA1 * t.cos1;
  t.sinA2 = t.sinA1;
  t.cosA2 = Math.abs(t.cosA1);
  if (t.cos2 !== t.cos1 || Math.abs(t.sin2) !== -t.sin1) {
    t.sinA2 = sin0 / t.cos2;
    const more = t.cos1 < -t.sin1 ? (t.cos2 - t.cos1) * (t.cos1 + t.cos2) : (t.sin1 - t.sin2) * (t.sin1 + t.sin2);
    t.cosA2 = Math.sqrt(Math.max(0, (t.cosA1 * t.cos1) ** 2 + more)) / t.cos2;
  }
  bend(t, sin0);
  const s1 = sin0 * t.sin1, c1 = t.cosA1 * t.cos1, s2 = sin0 * t.sin2, c2 = t.cosA2 * t.cos2;
  t.sphere = Math.atan2(Math.max(0, c1 * s2 - s1 * c2), c1 * c2 + s1 * s2);
  const lag = f * sin0 * integrate(t.start, t.len, (sin) => (2 - f) / (1 + (1 - f) * Math.sqrt(1 + t.k2 * sin * sin)));
  return t.sphere - lag;
}

function azimuth(t) {
  const miss = (a) => {
    t.sinA1 = Math.cos(a); // counted from the east
    t.cosA1 = -Math.sin(a);
    return meet(t) - t.east;
  };
  let low = -Math.PI / 2, high = Math.PI / 2, lowMiss = -t.east, highMiss = Math.PI - t.east;
  const w = t.east / Math.sqrt(1 - e2 * t.cos1 * t.cos1), sin = Math.sin(w), cos = Math.cos(w);
  const guess = Math.atan2(t.sin1 * t.cos2 * cos - t.cos1 * t.sin2, sin * t.cos2);
  if (guess - 0.01 > low && guess + 0.01 < high) {
    const a = miss(guess - 0.01), b = miss(guess + 0.01);
    if (a < 0 && b > 0) [low, high, lowMiss, highMiss] = [guess - 0.01, guess + 0.01, a, b];
  }
  miss(root(low, high, lowMiss, highMiss, miss));
}

// root finds the zero between a, where g is negative, and b (Chandrupatla 1997).
function root(a, b, fa, fb, g) {
  let c = a, fc = fa, step = 0.5;
  for (let i = 0; i < 200; i++) {
    const x = a + step * (b - a), fx = g(x);
    if ((fx > 0) === (fa > 0)) { c = a; fc = fa; } else { c = b; b = a; fc = fb; fb = fa; }
    a = x;
    fa = fx;
    const best = Math.abs(fb) < Math.abs(fa) ? b : a;
    const tolerance = (2.3e-16 * Math.abs(best) + 1e-40) / Math.abs(b - a);
    if (tolerance > 0.5 || fa === 0 || fb === 0) return best;
    const xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
    step = 0.5;
    if (phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi) {
      step = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb);
    }
    step = Math.min(1 - tolerance, Math.max(tolerance, step));
  }
  return a;
}

function below(t) {
  let area = authalic2 * excess(t);
  if (t.sin0 !== 0 && t.cos0 !== 0) {
    area -= e2 * equator * equator * t.cos0 * t.sin0 / 2 *
      integrate(t.start, t.len, (sin) => slope(ep2, t.k2 * sin * sin) * sin);
  }
  return area;
}

function excess(t) {
  const sin = Math.sin(t.sphere), cos = Math.cos(t.sphere);
  if (!t.meridian && cos > -Math.SQRT2 / 2 && t.sin2 - t.sin1 < 1.75) {
    const up = 1 + cos, d1 = 1 + t.cos1, d2 = 1 + t.cos2;
    return 2 * Math.atan2(sin * (t.sin1 * d2 + t.sin2 * d1), up * (t.sin1 * t.sin2 + d1 * d2));
  }
  let s = t.sinA2 * t.cosA1 - t.cosA2 * t.sinA1;
  const c = t.cosA2 * t.cosA1 + t.sinA2 * t.sinA1;
  if (s === 0 && c < 0) s = 1e-150 * t.cosA1;
  return Math.atan2(s, c);
}

function slope(x, y) {
  let sum = 1, d = 1, power = 1, mixed = 1;
  for (let n = 1; n <= 9; n++) {
    const next = -d * 2 * n / (2 * n + 1);
    sum += (next + d) * mixed;
    d = next;
    power *= y;
    mixed = x * mixed + power;
  }
  return sum;
}

// distance in metres along a line of [longitude, latitude].
export function distance(line) {
  let sum = 0;
  for (let i = 1; i < line.length; i++) sum += inverse(line[i - 1][1], line[i - 1][0], line[i][1], line[i][0]).metres;
  return sum;
}

function transit(from, to) {
  const east = remainder(to - from, 360);
  from = remainder(from, 360);
  to = remainder(to, 360);
  if (east > 0 && (from < 0 && to >= 0 || from > 0 && to === 0)) return 1;
  if (east < 0 && from >= 0 && to < 0) return -1;
  return 0;
}

// area in square metres of a ring of [longitude, latitude], closed or not.
export function area(ring) {
  let sum = 0, crossings = 0;
  for (let i = 0; i < ring.length; i++) {
    const from = ring[i], to = ring[(i + 1) % ring.length];
    if (from[0] === to[0] && from[1] === to[1]) continue;
    sum += inverse(from[1], from[0], to[1], to[0]).below;
    crossings += transit(from[0], to[0]);
  }
  if (crossings & 1) sum += sum < 0 ? whole / 2 : -whole / 2;
  sum = Math.abs(remainder(sum, whole));
  return Math.min(sum, whole - sum);
}
