// Clusters of points that are close together on the screen. Points are sorted once along a
// Z-order curve of 26 bits each way (0.6 m on the ground); in that order the points of a grid
// cell are neighbours at every zoom, so that clusters of a zoom are found in one pass.

const half = 13, most = 26;

// spread moves the 13 low bits of v apart, to every other bit.
function spread(v) {
  v = (v | v << 8) & 0x00ff00ff;
  v = (v | v << 4) & 0x0f0f0f0f;
  v = (v | v << 2) & 0x33333333;
  return (v | v << 1) & 0x55555555;
}

// sortPoints returns {order, hi, lo}: the points along the curve and their codes.
export function sortPoints(x, y, n) {
  const hi = new Uint32Array(n), lo = new Uint32Array(n), size = 2 ** most;
  for (let i = 0; i < n; i++) {
    const cx = Math.floor((x[i] - Math.floor(x[i])) * size), cy = Math.min(size - 1, Math.max(0, Math.floor(y[i] * size)));
    hi[i] = spread(cx >>> half) | spread(cy >>> half) << 1;
    lo[i] = spread(cx & 0x1fff) | spread(cy & 0x1fff) << 1;
  }
  let order = new Uint32Array(n), other = new Uint32Array(n);
  for (let i = 0; i < n; i++) order[i] = i;
  for (const [code, shift] of [[lo, 0], [lo, 13], [hi, 0], [hi, 13]]) { // a radix sort of 4 digits
    const starts = new Uint32Array(8193);
    for (let i = 0; i < n; i++) starts[(code[i] >>> shift & 0x1fff) + 1]++;
    for (let i = 0; i < 8192; i++) starts[i + 1] += starts[i];
    for (let i = 0; i < n; i++) other[starts[code[order[i]] >>> shift & 0x1fff]++] = order[i];
    [order, other] = [other, order];
  }
  return { order, hi, lo };
}

// cluster groups sorted points by the cells of a grid of 2^bits cells each way. The result is
// columns: start and count into sorted.order, and the middle of the members.
export function cluster(sorted, x, y, bits) {
  const { order, hi, lo } = sorted, n = order.length;
  bits = Math.max(0, Math.min(most, bits));
  const hiShift = Math.max(0, 26 - 2 * bits), loShift = Math.max(0, 26 - 2 * (bits - half));
  const useLo = bits > half;
  const start = new Uint32Array(n), count = new Uint32Array(n), cx = new Float64Array(n), cy = new Float64Array(n);
  let cells = 0;
  for (let i = 0; i < n;) {
    const p = order[i], a = hi[p] >>> hiShift, b = useLo ? lo[p] >>> loShift : 0;
    let j = i, sx = 0, sy = 0;
    for (; j < n; j++) {
      const q = order[j];
      if (hi[q] >>> hiShift !== a || useLo && lo[q] >>> loShift !== b) break;
      sx += x[q];
      sy += y[q];
    }
    start[cells] = i;
    count[cells] = j - i;
    cx[cells] = sx / (j - i);
    cy[cells] = sy / (j - i);
    cells++;
    i = j;
  }
  return { n: cells, start: start.subarray(0, cells), count: count.subarray(0, cells), x: cx.subarray(0, cells), y: cy.subarray(0, cells) };
}
