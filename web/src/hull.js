// A coarse closed mesh around a body: the surface of the cells of a grid that it touches, and of those around them. For cages.
//
// Invariant: every edge has two triangles that run along it both ways. Cells that meet in an edge or a corner alone are joined by
// filling cells between them, until none is left.

const CORNERS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];
const FACES = [[[-1, 0, 0], [0, 4, 7, 3]], [[1, 0, 0], [1, 2, 6, 5]], [[0, -1, 0], [0, 1, 5, 4]], [[0, 1, 0], [3, 7, 6, 2]], [[0, 0, -1], [0, 3, 2, 1]], [[0, 0, 1], [4, 5, 6, 7]]];
const ROUNDS = 3, PULL = 0.5; // of smoothing
const WRAP = 0.55; // cells

/** Points of the surface, close enough that no cell between two of them is missed. */
function* pointsOf(positions, indices, step) {
  const at = (v) => [positions[3 * v], positions[3 * v + 1], positions[3 * v + 2]];
  for (let t = 0; t < indices.length; t += 3) {
    const [a, b, c] = [at(indices[t]), at(indices[t + 1]), at(indices[t + 2])], far = (p, q) => Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]), n = Math.min(64, Math.max(1, Math.ceil(Math.max(far(a, b), far(b, c), far(c, a)) / step)));
    for (let i = 0; i <= n; i++) for (let j = 0; j <= n - i; j++) yield a.map((x, k) => x + (i / n) * (b[k] - x) + (j / n) * (c[k] - x));
  }
}
class Grid {
  constructor(size) { this.size = size; this.full = new Uint8Array(size[0] * size[1] * size[2]); }
  index([x, y, z]) { return x + this.size[0] * (y + this.size[1] * z); }
  has(cell) { return cell.every((x, c) => x >= 0 && x < this.size[c]) && this.full[this.index(cell)] === 1; }
  *cells() { for (let z = 0; z < this.size[2]; z++) for (let y = 0; y < this.size[1]; y++) for (let x = 0; x < this.size[0]; x++) yield [x, y, z]; }
}
/** What cannot be reached from outside is inside. */
function fillInside(grid) {
  const outside = new Uint8Array(grid.full.length), stack = [[0, 0, 0]]; // the rim is empty
  outside[0] = 1;
  while (stack.length) {
    const cell = stack.pop();
    for (const [step] of FACES) {
      const next = cell.map((x, c) => x + step[c]);
      if (next.some((x, c) => x < 0 || x >= grid.size[c])) continue;
      const i = grid.index(next);
      if (!grid.full[i] && !outside[i]) { outside[i] = 1; stack.push(next); }
    }
  }
  grid.full.forEach((_, i) => { grid.full[i] = outside[i] ? 0 : 1; });
}
/** Cells that meet in an edge or a corner alone: a cell between them is filled. @returns whether one was */
function joinCells(grid) {
  let changed = false;
  for (const cell of grid.cells()) {
    if (!grid.has(cell)) continue;
    for (const dx of [-1, 0, 1]) for (const dy of [-1, 0, 1]) for (const dz of [0, 1]) {
      const off = [dx, dy, dz], steps = [0, 1, 2].filter((c) => off[c]);
      if (steps.length < 2 || !grid.has(cell.map((x, c) => x + off[c]))) continue;
      const between = []; // all cells of the block but the two
      for (let m = 1; m < (1 << steps.length) - 1; m++) between.push(cell.map((x, c) => { const s = steps.indexOf(c); return s >= 0 && m & (1 << s) ? x + off[c] : x; }));
      const path = steps.length === 2 ? between.some((each) => grid.has(each)) : between.filter((each) => grid.has(each)).length >= 2;
      if (path) continue;
      grid.full[grid.index(between[0])] = 1;
      if (between.length > 2) grid.full[grid.index(between[2])] = 1;
      changed = true;
    }
  }
  return changed;
}
/** Corners and triangles of the surface, outward. */
function surface(grid, low, step) {
  const numbers = new Map(), places = [], triangles = [];
  const corner = (cell, k) => {
    const at = cell.map((x, c) => x + CORNERS[k][c]), key = at.join();
    if (!numbers.has(key)) { numbers.set(key, places.length); places.push(at.map((x, c) => low[c] + step * x)); }
    return numbers.get(key);
  };
  for (const cell of grid.cells()) {
    if (!grid.has(cell)) continue;
    for (const [off, face] of FACES) {
      if (grid.has(cell.map((x, c) => x + off[c]))) continue;
      const [a, b, c, d] = face.map((k) => corner(cell, k));
      triangles.push([a, b, c], [a, c, d]);
    }
  }
  return { places, triangles };
}
/** Rounder: corners go towards the mean of their neighbours, there and back a little (which keeps the size). */
function soften({ places, triangles }) {
  const near = places.map(() => new Set());
  for (const [a, b, c] of triangles) { near[a].add(b).add(c); near[b].add(a).add(c); near[c].add(a).add(b); }
  const move = (part) => { const old = places.map((each) => [...each]); places.forEach((place, i) => { for (let c = 0; c < 3; c++) { let mean = 0; for (const j of near[i]) mean += old[j][c] / near[i].size; place[c] += part * (mean - old[i][c]); } }); };
  for (let i = 0; i < ROUNDS; i++) { move(PULL); move(-PULL * 1.04); }
}
/** Nearer to the body: corners that are far from it come as near as WRAP cells. */
function wrap({ places }, positions, step) {
  for (const place of places) {
    let best = 0, least = Infinity;
    for (let v = 0; v < positions.length; v += 3) { const d = (place[0] - positions[v]) ** 2 + (place[1] - positions[v + 1]) ** 2 + (place[2] - positions[v + 2]) ** 2; if (d < least) { least = d; best = v; } }
    const far = Math.sqrt(least), keep = Math.min(1, (WRAP * step) / (far || 1));
    for (let c = 0; c < 3; c++) place[c] = positions[best + c] + keep * (place[c] - positions[best + c]);
  }
}
/** @param positions, indices of the body @param cells along its longest side @returns an OBJ */
export function hull(positions, indices, cells) {
  const min = [Infinity, Infinity, Infinity], max = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < positions.length; i++) { min[i % 3] = Math.min(min[i % 3], positions[i]); max[i % 3] = Math.max(max[i % 3], positions[i]); }
  const step = Math.max(...max.map((x, c) => x - min[c])) / cells || 1, size = max.map((x, c) => Math.max(1, Math.ceil((x - min[c]) / step - 1e-9)) + 4), low = max.map((x, c) => (x + min[c]) / 2 - (size[c] * step) / 2), grid = new Grid(size);
  for (const point of pointsOf(positions, indices, step / 2)) grid.full[grid.index(point.map((x, c) => Math.floor((x - low[c]) / step)))] = 1;
  const margin = 0.2 * step; // a body at a cell's wall has the next cell too
  for (let v = 0; v < positions.length; v += 3) for (const [off] of FACES) grid.full[grid.index([0, 1, 2].map((c) => Math.floor((positions[v + c] + margin * off[c] - low[c]) / step)))] = 1;
  fillInside(grid);
  while (joinCells(grid)) fillInside(grid);
  const made = surface(grid, low, step);
  soften(made);
  wrap(made, positions, step);
  return [...made.places.map((at) => `v ${at.map((x) => x.toFixed(7)).join(' ')}`), ...made.triangles.map((corners) => `f ${corners.map((i) => i + 1).join(' ')}`), ''].join('\n');
}
