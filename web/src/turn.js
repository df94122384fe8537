// Rotations as arrays x y z w, and the angles the sliders show (x first, then y, then z).

export const IDENTITY = [0, 0, 0, 1];

export function multiply(a, b) {
  return [
    a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
    a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
    a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
    a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
  ];
}

export function unit(q) {
  const length = Math.hypot(...q);
  return length > 0 ? q.map((x) => x / length) : IDENTITY;
}

export function inverse(q) {
  const [x, y, z, w] = unit([...q]);
  return [-x, -y, -z, w];
}

/** The rotation of a row-major 3x4 matrix with any positive scale. */
export function fromMatrix(m, at = 0) {
  const columns = [0, 1, 2].map((c) => [m[at + c], m[at + 4 + c], m[at + 8 + c]]);
  const [x, y, z] = columns.map((column) => { const length = Math.hypot(...column) || 1; return column.map((v) => v / length); });
  const trace = x[0] + y[1] + z[2];
  if (trace > 0) { const s = 2 * Math.sqrt(1 + trace); return unit([(y[2] - z[1]) / s, (z[0] - x[2]) / s, (x[1] - y[0]) / s, s / 4]); }
  if (x[0] > y[1] && x[0] > z[2]) { const s = 2 * Math.sqrt(1 + x[0] - y[1] - z[2]); return unit([s / 4, (y[0] + x[1]) / s, (z[0] + x[2]) / s, (y[2] - z[1]) / s]); }
  if (y[1] > z[2]) { const s = 2 * Math.sqrt(1 + y[1] - x[0] - z[2]); return unit([(y[0] + x[1]) / s, s / 4, (z[1] + y[2]) / s, (z[0] - x[2]) / s]); }
  const s = 2 * Math.sqrt(1 + z[2] - x[0] - y[1]);
  return unit([(z[0] + x[2]) / s, (z[1] + y[2]) / s, s / 4, (x[1] - y[0]) / s]);
}

const axis = (i, degrees) => { const q = [0, 0, 0, Math.cos((degrees * Math.PI) / 360)]; q[i] = Math.sin((degrees * Math.PI) / 360); return q; };

/** Turned about x, then y, then z, degrees. */
export const fromAngles = ([x, y, z]) => multiply(axis(2, z), multiply(axis(1, y), axis(0, x)));

export function toAngles(q) {
  const [x, y, z, w] = unit([...q]), degrees = 180 / Math.PI;
  const pitch = Math.asin(Math.min(1, Math.max(-1, 2 * (w * y - z * x))));
  return [Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)) * degrees, pitch * degrees, Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) * degrees];
}
