// A cage around the body: made as a coarse hull (hull.js) or taken from a file, bound by `cutis cage`, its controls dragged on the
// stage. The moved controls are part of the state; the shape they make can be kept as a morph target.
import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments } from 'three';
import { $, setSlider } from './dom.js';

export class Cages {
  constructor(studio) {
    Object.assign(this, { studio, on: false, control: 0, cells: 8, coordinates: 'mvc' });
    this.lines = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color: 0x3a6fd8, transparent: true, opacity: 0.55, depthTest: false }));
    Object.assign(this.lines, { renderOrder: 10, frustumCulled: false, visible: false });
    studio.viewport.scene.add(this.lines);
  }
  get cage() { return this.studio.info?.description.cage ?? null; }
  get active() { return this.on && this.studio.tab === 'handles' && !!this.cage; }
  /** Places of all controls, as they were dragged. */
  get controls() { return this.studio.state.cage ?? this.cage?.controls ?? []; }
  place(i) { return this.controls.slice(3 * i, 3 * i + 3); }
  get markers() { return Array.from({ length: this.controls.length / 3 }, (_, i) => ({ position: this.place(i), parent: -1 })); }
  move(i, to, gesture) {
    const next = [...this.controls];
    next.splice(3 * i, 3, ...to);
    this.studio.edit({ cage: Object.freeze(next) }, gesture);
  }
  /** Edges of the cage where its controls are. */
  draw() {
    const { lines, cage } = this;
    lines.visible = this.active;
    if (!this.active) return;
    const { triangles } = cage, places = this.controls, ends = [];
    for (let t = 0; t < triangles.length; t += 3) for (let k = 0; k < 3; k++) { const a = triangles[t + k], b = triangles[t + ((k + 1) % 3)]; if (a < b) ends.push(...places.slice(3 * a, 3 * a + 3), ...places.slice(3 * b, 3 * b + 3)); }
    lines.geometry.dispose();
    lines.geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(ends), 3));
  }
  /** A new document with a cage: of a file, or made. */
  async bind(file = null) {
    const { studio } = this, before = studio.state, { from, influences, strokes } = studio.reduced;
    await studio.panels.busy({ doing: 'The cage', failed: 'There is no cage' }, async () => {
      const given = file ?? new File([(await studio.stage.call('hull', { id: from.id, cells: this.cells })).text], 'cage.obj');
      const document = await studio.derive({ from, influences, strokes }, 'cage', ['--cage', given.name, '--coordinates', this.coordinates], [given]);
      if (studio.replace(before, document, null, { cage: null, handles: null })) { this.on = true; this.control = 0; studio.panels.show(); studio.frames.changed(); }
    });
  }
  /** The shape that is shown becomes a morph target. */
  async keep() {
    const { studio } = this, before = studio.state, { from, influences, strokes } = studio.reduced;
    await studio.panels.busy({ doing: 'Keeping the shape', failed: 'The shape was not kept' }, async () => {
      const { blob } = await studio.stage.call('shape', { id: from.id, strokes, cage: this.controls, name: 'cage' });
      studio.replace(before, await studio.makeChild(from, blob, 'cage'), null, { cage: null, influences });
    });
  }
  documentChanged() { this.control = 0; if (!this.cage) this.on = false; this.draw(); }
  wire() {
    const { studio } = this;
    $('cage-make').addEventListener('click', () => this.bind());
    $('cage-file').addEventListener('change', ({ target }) => { const [file] = target.files; if (file) this.bind(file); target.value = ''; });
    $('cage-open').addEventListener('click', () => $('cage-file').click());
    $('cage-cells').addEventListener('input', ({ target }) => { this.cells = Number(target.value); this.show(); });
    $('cage-coordinates').addEventListener('change', ({ target }) => { this.coordinates = target.value; });
    $('cage-on').addEventListener('change', ({ target }) => { this.on = target.checked; studio.panels.show(); studio.frames.changed(); });
    $('cage-reset').addEventListener('click', () => studio.edit({ cage: null }));
    $('cage-keep').addEventListener('click', () => this.keep());
  }
  show() {
    const { studio, cage } = this;
    $('cage-section').hidden = !studio.info?.triangleCount;
    $('cage-drag').hidden = !cage;
    $('cage-on').checked = this.on;
    setSlider($('cage-cells'), this.cells);
    $('cage-cells').nextElementSibling.textContent = String(this.cells);
    $('cage-about').textContent = cage ? `A cage of ${cage.controls.length / 3} controls. Drag its corners: the body follows.` : 'A coarse closed mesh whose corners move the body. Make one around it, or take one from a file.';
    for (const id of ['cage-reset', 'cage-keep']) $(id).disabled = !studio.state.cage;
    this.draw();
  }
}
