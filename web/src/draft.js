// A cage that is drawn by hand: a closed mesh of few corners, begun as a box, changed by a few operations. For cages.js.
//
// Invariant: every edge has two triangles that run along it both ways, and no triangle is there twice. What would break it is not done.

const MARGIN = 0.06; // of the body's longest side, between it and the box
const FLAT = 0.999; // cosine up to which neighbours are one face
const NEAR_EDGE = 0.12; // barycentric: nearer to an edge than this, the edge is split
const BOX = [[0, 3, 2], [0, 2, 1], [4, 5, 6], [4, 6, 7], [0, 1, 5], [0, 5, 4], [3, 7, 6], [3, 6, 2], [0, 4, 7], [0, 7, 3], [1, 2, 6], [1, 6, 5]];

const sub = (a, b) => a.map((x, c) => x - b[c]), dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const mix = (a, b, t) => a.map((x, c) => x + t * (b[c] - x));
const scaled = ({ places, triangles }, t) => { const [a, b, c] = triangles[t].map((i) => places[i]); return cross(sub(b, a), sub(c, a)); }; // twice its area along its normal
const unit = (a) => { const length = Math.hypot(...a) || 1; return a.map((x) => x / length); };
const made = (places, triangles) => Object.freeze({ places: Object.freeze(places), triangles: Object.freeze(triangles) });

/** Whether the invariant holds. */
export function closed({ triangles }) {
  const edges = new Set();
  for (const corners of triangles) for (let k = 0; k < 3; k++) {
    const [a, b] = [corners[k], corners[(k + 1) % 3]], key = `${a} ${b}`;
    if (a === b || edges.has(key)) return false;
    edges.add(key);
  }
  return triangles.length >= 4 && [...edges].every((key) => edges.has(key.split(' ').reverse().join(' '))) && new Set(triangles.map((corners) => [...corners].sort().join())).size === triangles.length;
}
/** A box around a body. */
export function box(min, max) {
  const by = MARGIN * Math.max(...max.map((x, c) => x - min[c])), [low, high] = [min.map((x) => x - by), max.map((x) => x + by)];
  return made([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]].map((corner) => corner.map((side, c) => (side ? high : low)[c])), BOX);
}
/** A cage that is there, to be changed. @param controls, triangles plain lists of numbers */
export const of = (controls, triangles) => made(Array.from({ length: controls.length / 3 }, (_, i) => controls.slice(3 * i, 3 * i + 3)), Array.from({ length: triangles.length / 3 }, (_, t) => triangles.slice(3 * t, 3 * t + 3)));
export const moved = ({ places, triangles }, i, to) => made(places.map((place, k) => (k === i ? to : place)), triangles);

/** The first triangle that a ray meets, from either side. @returns { triangle, point, at: barycentric } or null */
export function pick({ places, triangles }, origin, direction) {
  let best = null, nearest = Infinity;
  triangles.forEach((corners, triangle) => {
    const [a, b, c] = corners.map((i) => places[i]), e = sub(b, a), f = sub(c, a), p = cross(direction, f), d = dot(e, p);
    if (Math.abs(d) < 1e-14) return;
    const s = sub(origin, a), u = dot(s, p) / d, q = cross(s, e), v = dot(direction, q) / d, far = dot(f, q) / d;
    if (u < 0 || v < 0 || u + v > 1 || far <= 0 || far >= nearest) return;
    nearest = far;
    best = { triangle, at: [1 - u - v, u, v], point: origin.map((x, k) => x + far * direction[k]) };
  });
  return best;
}
/** A new corner at a place of a triangle; near an edge, in the edge. */
export function split({ places, triangles }, { triangle, point, at }) {
  const corners = triangles[triangle], least = at.indexOf(Math.min(...at)), n = places.length, rest = triangles.filter((_, t) => t !== triangle);
  if (at[least] > NEAR_EDGE) return made([...places, point], [...rest, ...[0, 1, 2].map((k) => [corners[k], corners[(k + 1) % 3], n])]);
  const [a, b, c] = [1, 2, 0].map((k) => corners[(least + k) % 3]), other = triangles.findIndex((each) => [0, 1, 2].some((k) => each[k] === b && each[(k + 1) % 3] === a)), d = triangles[other].find((i) => i !== a && i !== b);
  const along = sub(places[b], places[a]), t = Math.min(0.9, Math.max(0.1, dot(sub(point, places[a]), along) / (dot(along, along) || 1)));
  return made([...places, mix(places[a], places[b], t)], [...triangles.filter((_, k) => k !== triangle && k !== other), [a, n, c], [n, b, c], [b, n, d], [n, a, d]]);
}
/** Triangles that lie in one plane with a triangle and hang together with it. */
function face(draft, triangle) {
  const { triangles } = draft, normal = unit(scaled(draft, triangle)), found = new Set([triangle]), queue = [triangle];
  while (queue.length) {
    const corners = triangles[queue.pop()];
    triangles.forEach((each, t) => { if (!found.has(t) && each.filter((i) => corners.includes(i)).length === 2 && dot(unit(scaled(draft, t)), normal) > FLAT) { found.add(t); queue.push(t); } });
  }
  return { found, normal };
}
/** The face of a triangle goes outward, and walls close what it leaves. @returns null where it cannot */
export function pull(draft, { triangle }) {
  const { places, triangles } = draft, { found, normal } = face(draft, triangle), by = 0.6 * Math.sqrt([...found].reduce((sum, t) => sum + Math.hypot(...scaled(draft, t)) / 2, 0)), twin = new Map(), next = [...places];
  for (const t of found) for (const i of triangles[t]) if (!twin.has(i)) { twin.set(i, next.length); next.push(places[i].map((x, c) => x + by * normal[c])); }
  const inside = new Set([...found].flatMap((t) => [0, 1, 2].map((k) => `${triangles[t][k]} ${triangles[t][(k + 1) % 3]}`))), walls = [];
  for (const t of found) for (let k = 0; k < 3; k++) { const a = triangles[t][k], b = triangles[t][(k + 1) % 3]; if (!inside.has(`${b} ${a}`)) walls.push([a, b, twin.get(b)], [a, twin.get(b), twin.get(a)]); }
  const result = made(next, [...triangles.map((corners, t) => (found.has(t) ? corners.map((i) => twin.get(i)) : corners)), ...walls]);
  return closed(result) ? compact(result) : null;
}
/** Corners that no triangle has go. */
function compact({ places, triangles }) {
  const used = [...new Set(triangles.flat())].sort((a, b) => a - b), number = new Map(used.map((i, k) => [i, k]));
  return made(used.map((i) => places[i]), triangles.map((corners) => corners.map((i) => number.get(i))));
}
/** A corner goes: it is drawn into the nearest neighbour that leaves the mesh closed. @returns null where there is none */
export function without({ places, triangles }, gone) {
  const near = [...new Set(triangles.filter((corners) => corners.includes(gone)).flat())].filter((i) => i !== gone), far = (i) => Math.hypot(...sub(places[i], places[gone]));
  for (const heir of near.sort((a, b) => far(a) - far(b))) {
    const result = made(places, triangles.map((corners) => corners.map((i) => (i === gone ? heir : i))).filter((corners) => new Set(corners).size === 3));
    if (closed(result)) return compact(result);
  }
  return null;
}
export const text = ({ places, triangles }) => [...places.map((at) => `v ${at.map((x) => x.toFixed(7)).join(' ')}`), ...triangles.map((corners) => `f ${corners.map((i) => i + 1).join(' ')}`), ''].join('\n');
