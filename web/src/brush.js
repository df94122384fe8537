// The weight brush on the stage: a pointer's path becomes dabs, dabs become a stroke, a stroke is one step of the history. Weights are
// painted in the engine (painting.js); here is no arithmetic of weights.
import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineLoop, Quaternion, Vector3 } from 'three';
import { $, checkRadio, make, setSlider } from './dom.js';

const RING = 64, SPACING = 0.2; // dabs a radius
const ABOUT = {
  add: 'Gives the chosen joint weight, taken from the others.', subtract: 'Takes weight from it: the others get it.', smooth: 'Evens all weights out with their neighbours’.',
  sharpen: 'The other way: borders become harder.', fill: 'Leads to automatic weights for this skeleton (cutis handles --skeleton).', reduce: 'Leads to few influences that deform alike (cutis reduce).',
};
const TOWARD = { fill: ['Automatic weights', 'handles', () => ['--skeleton']], reduce: ['Optimising the weights', 'reduce', (n) => ['--influences', String(n), '--effort', 'fast']] };
export const NO_STROKES = Object.freeze([]);

export class Brush {
  constructor(studio) {
    Object.assign(this, { studio, on: false, kind: 'add', radius: 0.05, strength: 0.2, mirror: false, pressure: true, limit: 0, locked: new Set(), strokes: new Map(), made: 0, held: null, hover: null, asking: false, sources: {} });
    const circle = new Float32Array(Array.from({ length: RING }, (_, i) => [Math.cos((2 * Math.PI * i) / RING), Math.sin((2 * Math.PI * i) / RING), 0]).flat());
    this.ring = new LineLoop(new BufferGeometry().setAttribute('position', new BufferAttribute(circle, 3)), new LineBasicMaterial({ color: 0xffffff, depthTest: false, transparent: true, opacity: 0.9 }));
    Object.assign(this.ring, { renderOrder: 14, visible: false, frustumCulled: false });
    studio.viewport.scene.add(this.ring);
    this.wirePointer();
  }
  /** Whether the pointer paints now. */
  get active() { return this.on && this.studio.tab === 'weights' && this.studio.skinned; }
  get documents() { return Object.values(this.sources).map(({ document }) => document); }
  get worldRadius() { return this.radius * (this.studio.info?.diagonal ?? 1); }

  // Pointer ---------------------------------------------------------------------------------------
  wirePointer() {
    const stage = $('stage'), canvas = $('canvas');
    stage.addEventListener('pointerdown', (event) => this.down(event), true); // before the camera does
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', () => this.end());
    canvas.addEventListener('pointercancel', () => this.cancel());
    canvas.addEventListener('pointerleave', () => { if (!this.held) this.showRing(null); });
  }
  ray(event) { const { origin, direction } = this.studio.viewport.ray(event).ray; return [...origin.toArray(), ...direction.toArray()]; }
  /** Which of the compared bodies is there. */
  side({ clientX, clientY }) {
    const { viewport } = this.studio, { split, bodies } = viewport, rect = $('canvas').getBoundingClientRect(), x = clientX - rect.left, cells = viewport.cells();
    if (bodies) return cells.findIndex((cell) => cell.x === viewport.cellAt(x, clientY - rect.top).x && cell.y === viewport.cellAt(x, clientY - rect.top).y);
    return split !== null && x / rect.width > split ? 1 : 0;
  }
  down(event) {
    const { studio } = this;
    if (!this.active || event.target !== $('canvas') || event.button !== 0) return;
    if (event.altKey) { this.choose(event); event.stopPropagation(); return; }
    const there = this.hover && Math.hypot(event.clientX - this.hover.x, event.clientY - this.hover.y) < 6 ? this.hover.hit : studio.viewport.surfacePoint(event); // a finger does not hover
    if (!there) return;
    event.stopPropagation();
    event.preventDefault();
    $('canvas').focus({ focusVisible: false });
    $('canvas').setPointerCapture(event.pointerId);
    const { kind } = this, swapped = { add: 'subtract', subtract: 'add' }[kind], shown = event.shiftKey ? 'smooth' : (event.ctrlKey || event.metaKey) && swapped ? swapped : kind;
    this.held = { stroke: ++this.made, kind: shown, pointer: event.pointerId, side: this.side(event), samples: [], last: null, ended: false, changed: 0 };
    this.add(event);
  }
  move(event) {
    if (!this.active) return;
    if (this.held?.pointer === event.pointerId && !this.held.ended) { for (const each of event.getCoalescedEvents?.().length ? event.getCoalescedEvents() : [event]) this.add(each); return; }
    if (!event.buttons) this.look(event);
  }
  /** Dabs up to a place of the pointer, evenly spaced whatever its speed. */
  add(event) {
    const { held } = this, { clientX: x, clientY: y } = event, strength = this.strength * (this.pressure && event.pointerType === 'pen' ? event.pressure : 1);
    const step = Math.max(2, SPACING * this.pixels), [fx, fy] = held.last ?? [x, y], way = Math.hypot(x - fx, y - fy), count = held.last ? Math.floor(way / step) : 1;
    for (let i = 1; i <= count; i++) {
      const part = held.last ? (i * step) / way : 1, at = { clientX: fx + part * (x - fx), clientY: fy + part * (y - fy) };
      held.samples.push({ ray: this.ray(at), strength });
      if (i === count) held.next = [at.clientX, at.clientY];
    }
    if (!count) return;
    held.last = held.next;
    this.studio.frames.changed();
  }
  /** The brush's radius on the screen. */
  get pixels() {
    const { camera, canvas } = this.studio.viewport, distance = this.hover?.hit?.distance ?? camera.position.distanceTo(this.studio.viewport.orbit.target);
    return (this.worldRadius * canvas.clientHeight) / (2 * distance * Math.tan((camera.fov * Math.PI) / 360));
  }
  end() {
    if (!this.held || this.held.ended) return;
    this.held.ended = true;
    this.studio.frames.changed();
  }
  /** The stroke never happened. @returns whether there was one */
  cancel() {
    if (!this.held) return false;
    this.held = null;
    this.studio.frames.changed();
    return true;
  }
  /** What the next frame shall paint; null: nothing. */
  take() {
    const { held, studio } = this;
    if (!held || (held.sent && !held.samples.length)) return null;
    const toward = TOWARD[held.kind] ? this.sources[held.kind]?.document.id : null;
    held.sent = held.ended;
    return {
      stroke: held.stroke, samples: held.samples.splice(0), side: held.side, end: held.ended, toward, kind: TOWARD[held.kind] ? 'toward' : held.kind, joint: Math.max(0, studio.joint), radius: this.worldRadius,
      even: held.kind === 'reduce', mirror: this.mirror, influences: held.kind === 'reduce' ? this.limit || 4 : this.limit, locked: [...this.locked],
    };
  }
  /** What a frame painted. */
  told({ hit, stroke, changed }, asked) {
    const { held, studio } = this;
    if (hit) this.showRing(hit);
    if (held?.stroke !== asked.stroke) return;
    held.changed += changed;
    if (!asked.end) return;
    this.held = null;
    if (!stroke?.vertices.length) return;
    this.strokes.set(asked.stroke, stroke);
    studio.edit({ strokes: Object.freeze([...studio.state.strokes, asked.stroke]) });
  }
  /** The ring under the pointer; one question at a time, the newest. */
  async look(event) {
    this.wanted = event;
    if (this.asking) return;
    this.asking = true;
    const { studio } = this, { document } = studio;
    try {
      while (this.wanted && this.active && !this.held) {
        const { clientX: x, clientY: y } = this.wanted, now = this.wanted;
        this.wanted = null;
        const hit = await studio.stage.call('pick', { id: document.id, ray: this.ray(now), side: this.side(now) });
        if (studio.document !== document) break;
        this.hover = { x, y, hit };
        if (!this.held) this.showRing(hit);
      }
    } catch { this.showRing(null); } finally { this.asking = false; }
  }
  showRing(hit) {
    const { ring } = this, { viewport } = this.studio;
    if (!hit && !ring.visible) return;
    ring.visible = !!hit && this.active;
    if (ring.visible) {
      ring.position.fromArray(hit.point).addScaledVector(new Vector3(...hit.normal), 0.002 * viewport.radius);
      ring.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), new Vector3(...hit.normal)));
      ring.scale.setScalar(this.worldRadius);
    }
    $('canvas').classList.toggle('brushing', ring.visible);
    viewport.invalidate();
  }
  /** The joint that moves the place under the pointer most. */
  async choose(event) {
    const { studio } = this, hit = await studio.stage.call('pick', { id: studio.document.id, ray: this.ray(event), side: this.side(event) }).catch(() => null);
    if (hit?.node >= 0) studio.pickMarker(studio.joints.indexOf(hit.node));
  }

  // Settings --------------------------------------------------------------------------------------
  async setOn(on) {
    const { studio } = this;
    if (on && (studio.state.influences || studio.state.optimised)) await studio.keepReduced();
    this.on = on;
    if (!on) { this.cancel(); this.showRing(null); }
    studio.panels.show();
    studio.frames.changed();
  }
  async setKind(kind) {
    this.kind = kind;
    if (TOWARD[kind] && !(await this.prepare(kind))) this.kind = 'add';
    this.show();
  }
  /** Weights to go to, made by a verb of the model as it is now. @returns whether they are there */
  async prepare(kind) {
    const { studio } = this, { document } = studio, { strokes } = studio.state, [doing, verb, words] = TOWARD[kind], influences = this.limit || 4, there = this.sources[kind];
    if (there?.from === document && (kind === 'fill' || (there.strokes === strokes && there.influences === influences))) return true;
    await studio.panels.busy({ doing, failed: 'There are no weights to go to' }, async () => {
      const made = await studio.derive({ from: document, strokes }, verb, words(influences));
      if (studio.document !== document) { studio.discard(made); return; }
      this.sources[kind] = { document: made, from: document, strokes, influences };
      studio.documents.set(made.id, made);
    });
    return this.sources[kind]?.from === document;
  }
  /** Another document: what belonged to the one before goes. */
  documentChanged() {
    this.hover = this.held = null;
    this.locked.clear();
    this.ring.visible = false;
    this.shownJoint = null;
    this.sources = {};
    if (TOWARD[this.kind]) this.kind = 'add';
    this.fillJoints();
  }
  /** Strokes of a work that was kept. @returns their ids */
  async restore(strokes) {
    const list = strokes.map((arrays) => [++this.made, arrays]);
    for (const [id, arrays] of list) this.strokes.set(id, arrays);
    if (list.length) await this.studio.stage.call('keepStrokes', { list });
    return Object.freeze(list.map(([id]) => id));
  }
  /** Strokes that no state holds are forgotten. */
  release(states) {
    const used = new Set(states.flatMap(({ strokes }) => strokes)), ids = [...this.strokes.keys()].filter((id) => !used.has(id));
    for (const id of ids) this.strokes.delete(id);
    if (ids.length && this.studio.stage.worker) this.studio.stage.call('dropStrokes', { ids }).catch(() => {});
  }
  wire() {
    $('brush-on').addEventListener('change', ({ target }) => this.setOn(target.checked));
    $('brush-kind').addEventListener('change', ({ target }) => this.setKind(target.value));
    $('brush-radius').addEventListener('input', ({ target }) => { this.radius = Number(target.value) / 100; this.show(); });
    $('brush-strength').addEventListener('input', ({ target }) => { this.strength = Number(target.value) / 100; this.show(); });
    $('brush-mirror').addEventListener('change', ({ target }) => { this.mirror = target.checked; });
    $('brush-pressure').addEventListener('change', ({ target }) => { this.pressure = target.checked; });
    $('brush-limit').addEventListener('change', ({ target }) => { this.limit = Number(target.value); if (this.kind === 'reduce') this.setKind('reduce'); });
    $('brush-unlock').addEventListener('click', () => { this.locked.clear(); this.show(); });
    $('brush-joints').addEventListener('change', ({ target }) => {
      const node = Number(target.value);
      if (target.type === 'radio') this.studio.pickMarker(this.studio.joints.indexOf(node));
      else { if (target.checked) this.locked.add(node); else this.locked.delete(node); this.show(); }
    });
  }
  fillJoints() {
    const { studio } = this, { nodes } = studio.info.description;
    $('brush-joints').replaceChildren(...studio.joints.map((node) => {
      const name = nodes[node].name ?? `joint ${node}`, radio = make('input', { type: 'radio', name: 'brush-joint', value: node }), lock = make('input', { type: 'checkbox', value: node });
      lock.setAttribute('aria-label', `Lock ${name}`);
      const icon = document.createElementNS('http://www.w3.org/2000/svg', 'svg'), use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
      use.setAttribute('href', '#i-lock');
      icon.append(use);
      return make('div', { className: 'brush-joint' }, make('label', {}, radio, make('span', { textContent: name })), make('label', { className: 'lock', title: `Lock ${name}` }, lock, icon));
    }));
  }
  show() {
    const { studio } = this, { joint } = studio, name = studio.info?.description.nodes[joint]?.name ?? 'joint';
    $('brush-section').hidden = !studio.skinned;
    $('brush-on').checked = this.on;
    $('brush-controls').hidden = !this.on;
    checkRadio('brush-kind', this.kind);
    $('brush-about').textContent = ABOUT[this.kind];
    setSlider($('brush-radius'), 100 * this.radius);
    $('brush-radius').nextElementSibling.textContent = `${(100 * this.radius).toFixed(1)} %`;
    setSlider($('brush-strength'), 100 * this.strength);
    $('brush-strength').nextElementSibling.textContent = `${Math.round(100 * this.strength)} %`;
    $('brush-mirror').checked = this.mirror;
    $('brush-limit').value = String(this.limit);
    $('brush-unlock').hidden = !this.locked.size;
    $('brush-joint-name').textContent = ['add', 'subtract'].includes(this.kind) ? `Joint: ${name}` : 'Joints';
    for (const input of $('brush-joints').querySelectorAll('input')) input.checked = input.type === 'radio' ? Number(input.value) === joint : this.locked.has(Number(input.value));
    if (this.active && this.shownJoint !== joint) { // the list alone scrolls
      const list = $('brush-joints'), row = list.querySelector('[type="radio"]:checked')?.closest('.brush-joint');
      if (row) list.scrollTop = row.offsetTop - list.offsetTop - (list.clientHeight - row.offsetHeight) / 2;
      this.shownJoint = joint;
    }
    if (!this.active) this.showRing(null);
  }
  key(key) {
    if (!this.active || !['[', ']'].includes(key)) return false;
    this.radius = Math.min(0.3, Math.max(0.005, this.radius * (key === '[' ? 1 / 1.15 : 1.15)));
    this.show();
    if (this.hover?.hit) this.showRing(this.hover.hit);
    return true;
  }
}
