// Handles: points on any shape, their smooth weights, and dragging them. Weights are made on a coarse grid at once, so that
// they follow the pointer, and on a fine one in the worker when it rests.
import { Character } from './engine.js';

const COARSE = 40, FINE = 96; // voxels along the longest side
const START_COUNT = 6;
const SLOW = 70; // milliseconds: above it, weights do not follow the pointer but its release

/** `count` vertices that lie far from each other and from `others`, or from the middle. */
export function spread(positions, count, others = []) {
  const n = positions.length / 3, middle = [0, 0, 0];
  for (let v = 0; v < n; v++) for (let c = 0; c < 3; c++) middle[c] += positions[3 * v + c] / n;
  const distance = new Float64Array(n).fill(Infinity), chosen = [];
  const near = (point) => {
    for (let v = 0; v < n; v++)
      distance[v] = Math.min(distance[v], (positions[3 * v] - point[0]) ** 2 + (positions[3 * v + 1] - point[1]) ** 2 + (positions[3 * v + 2] - point[2]) ** 2);
  };
  for (const other of others.length ? others : [middle]) near(other);
  while (chosen.length < Math.min(count, n)) {
    let best = 0;
    for (let v = 1; v < n; v++) if (distance[v] > distance[best]) best = v;
    chosen.push([...positions.subarray(3 * best, 3 * best + 3)]);
    near(chosen.at(-1));
  }
  return chosen;
}

export class Handles {
  constructor(engine, jobs, base, changed, failed) {
    Object.assign(this, { engine, jobs, base, changed, failed });
    this.list = [];
    this.selected = 0;
    this.mode = 'move';
    this.character = null;
    this.serial = 0;
    this.session = 0; // on the coarse grid, once there are handles
  }
  destroy() {
    this.serial++;
    this.character?.destroy();
    this.character = null;
    this.engine.closeHandles(this.session);
    this.session = 0;
  }
  begin() {
    if (!this.list.length) {
      this.list = spread(this.base.rest, START_COUNT).map((rest) => ({ rest, move: [0, 0, 0] }));
      this.selected = 0;
    }
    this.solve();
  }
  points() { return this.list.flatMap((handle) => handle.rest); }

  /** Weights for the handles as they stand: coarse now, fine soon. */
  solve(fine = true) {
    if (!this.list.length) return;
    if (this.coarseTime === undefined || this.coarseTime < SLOW) this.solveHere();
    if (fine) this.solveFine();
  }
  solveHere() {
    const start = performance.now();
    try {
      this.session ||= this.engine.openHandles(this.base.model, COARSE);
      const made = this.engine.setHandles(this.session, this.points());
      this.coarseTime = performance.now() - start;
      this.adopt(made.model, made.domain, this.coarseTime);
    } catch (error) {
      this.failed(error);
    }
  }
  async solveFine() {
    const serial = ++this.serial;
    try {
      const made = await this.jobs.run('handles', { words: this.engine.packed(this.base.model), points: this.points(), voxels: FINE });
      if (made && serial === this.serial) this.adopt(this.engine.createModel(made.words), made.domain, made.milliseconds);
    } catch (error) {
      if (serial === this.serial) this.failed(error);
    }
  }
  adopt(model, domain, milliseconds) {
    const character = new Character(this.engine, model), { nodes } = character.description;
    const root = nodes.findLastIndex((node) => node.name === 'handles');
    this.character?.destroy();
    this.character = character;
    this.nodes = nodes.flatMap((node, i) => (node.parent === root ? [i] : []));
    this.domain = domain;
    this.milliseconds = milliseconds;
    this.pose();
    this.changed();
  }
  /** Moves into the character's pose. */
  pose() {
    if (!this.character) return;
    this.character.reset();
    const { pose } = this.character;
    this.nodes.forEach((node, i) => { for (let c = 0; c < 3; c++) pose[10 * node + c] += this.list[i]?.move[c] ?? 0; });
  }
  position(i) { return this.list[i].rest.map((x, c) => x + this.list[i].move[c]); }
  /** The pointer (or a slider) puts handle i to a point. */
  drag(i, point, final) {
    const handle = this.list[i];
    if (this.mode === 'move') {
      handle.move = point.map((x, c) => x - handle.rest[c]);
      this.pose();
      this.changed();
      return;
    }
    handle.rest = point.map((x, c) => x - handle.move[c]);
    this.serial++; // a fine solve on its way is of an older place
    this.solve(final);
  }
  add(point) {
    this.list.push({ rest: point, move: [0, 0, 0] });
    this.selected = this.list.length - 1;
    this.solve();
  }
  /** Where it is farthest from all others: for those who have no pointer to click with. */
  addFarthest() { this.add(spread(this.base.rest, 1, this.list.map((handle) => handle.rest))[0]); }
  remove() {
    if (this.list.length <= 1) return;
    this.list.splice(this.selected, 1);
    this.selected = Math.max(0, this.selected - 1);
    this.solve();
  }
  resetMoves() {
    for (const handle of this.list) handle.move = [0, 0, 0];
    this.pose();
    this.changed();
  }
  /** The description with the handles where they are now. */
  description() {
    const { description, pose } = this.character;
    return { ...description, nodes: description.nodes.map((node, i) => (this.nodes.includes(i) ? { ...node, rest: pose.slice(10 * i, 10 * i + 10) } : node)) };
  }
}
