// A cage around the body: made as a coarse hull (hull.js), drawn by hand (draft.js) or taken from a file, bound by `cutis cage`, its
// controls dragged on the stage. The moved controls are part of the state; the shape they make can be kept as a morph target.
import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments } from 'three';
import * as drawn from './draft.js';
import { $, checkRadio, setSlider } from './dom.js';

const DRAW_ABOUT = { drag: 'Drag corners to where they belong; the body stays as it is.', split: 'Click the cage: a new corner is there, in the edge that is near or in the middle of a face.', pull: 'Click a face of the cage: it is pulled out, for a limb.' };

export class Cages {
  constructor(studio) {
    Object.assign(this, { studio, on: false, control: 0, cells: 8, coordinates: 'mvc', draws: 'drag' });
    this.lines = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color: 0x3a6fd8, transparent: true, opacity: 0.55, depthTest: false }));
    Object.assign(this.lines, { renderOrder: 10, frustumCulled: false, visible: false });
    studio.viewport.scene.add(this.lines);
  }
  get cage() { return this.studio.info?.description.cage ?? null; }
  /** A cage that is being drawn, which moves nothing yet. */
  get draft() { return this.studio.tab === 'handles' ? this.studio.state.draft : null; }
  /** Whether the cage moves the body. */
  get bound() { return this.on && this.studio.tab === 'handles' && !!this.cage && !this.draft; }
  get active() { return !!this.draft || this.bound; }
  /** Places of all controls, as they were dragged. */
  get controls() { return this.draft?.places.flat() ?? this.studio.state.cage ?? this.cage?.controls ?? []; }
  get triangles() { return this.draft?.triangles.flat() ?? this.cage?.triangles ?? []; }
  place(i) { return this.controls.slice(3 * i, 3 * i + 3); }
  get markers() { return Array.from({ length: this.controls.length / 3 }, (_, i) => ({ position: this.place(i), parent: -1 })); }
  move(i, to, gesture) {
    if (this.draft) { this.studio.edit({ draft: drawn.moved(this.draft, i, to) }, gesture); return; }
    const next = [...this.controls];
    next.splice(3 * i, 3, ...to);
    this.studio.edit({ cage: Object.freeze(next) }, gesture);
  }
  /** Edges of the cage where its controls are. */
  draw() {
    const { lines } = this;
    lines.visible = this.active;
    if (!this.active) return;
    const { triangles, controls: places } = this, ends = [];
    for (let t = 0; t < triangles.length; t += 3) for (let k = 0; k < 3; k++) { const a = triangles[t + k], b = triangles[t + ((k + 1) % 3)]; if (a < b) ends.push(...places.slice(3 * a, 3 * a + 3), ...places.slice(3 * b, 3 * b + 3)); }
    lines.geometry.dispose();
    lines.geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(ends), 3));
  }

  // Drawing ---------------------------------------------------------------------------------------
  /** Begins with a box around the body, or with the cage that is there. */
  begin() {
    const { min, max } = this.studio.info.bounds;
    this.control = 0;
    this.draws = 'drag';
    this.studio.edit({ draft: this.cage ? drawn.of(this.cage.controls, this.cage.triangles) : drawn.box(min, max) });
  }
  change(draft, control) {
    if (!draft) { this.studio.panels.announce('That would leave the cage open'); return; }
    this.control = control;
    this.studio.edit({ draft });
  }
  /** A click on the stage, as a ray, while a cage is drawn. */
  click({ origin, direction }) {
    const { draft, draws } = this, hit = draws === 'drag' ? null : drawn.pick(draft, origin.toArray(), direction.toArray());
    if (!hit) return;
    const next = drawn[draws](draft, hit);
    this.change(next, (next?.places.length ?? 1) - 1);
  }
  remove() { this.change(drawn.without(this.draft, this.control), 0); }
  bindDrawn() { return this.bind(new File([drawn.text(this.draft)], 'cage.obj')); }

  /** A new document with a cage: of a file, drawn, or made. */
  async bind(file = null) {
    const { studio } = this, before = studio.state, { from, influences, strokes } = studio.reduced;
    await studio.panels.busy({ doing: 'The cage', failed: 'There is no cage' }, async () => {
      const given = file ?? new File([(await studio.stage.call('hull', { id: from.id, cells: this.cells })).text], 'cage.obj');
      const document = await studio.derive({ from, influences, strokes }, 'cage', ['--cage', given.name, '--coordinates', this.coordinates], [given]);
      if (studio.replace(before, document, null, { cage: null, draft: null, handles: null })) { this.on = true; this.control = 0; studio.panels.show(); studio.frames.changed(); }
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
    $('cage-draw').addEventListener('click', () => this.begin());
    $('cage-draws').addEventListener('change', ({ target }) => { this.draws = target.value; this.show(); });
    $('cage-remove').addEventListener('click', () => this.remove());
    $('cage-bind').addEventListener('click', () => this.bindDrawn());
    $('cage-leave').addEventListener('click', () => studio.edit({ draft: null }));
  }
  show() {
    const { studio, cage, draft } = this;
    $('cage-section').hidden = !studio.info?.triangleCount;
    $('cage-drag').hidden = !cage || !!draft;
    $('cage-make-section').hidden = !!draft;
    $('cage-drawing').hidden = !draft;
    $('cage-draw').textContent = cage ? 'Reshape it …' : 'Draw one …';
    checkRadio('cage-draws', this.draws);
    $('canvas').classList.toggle('adding', !!studio.adding || (!!draft && this.draws !== 'drag'));
    $('cage-on').checked = this.on;
    setSlider($('cage-cells'), this.cells);
    $('cage-cells').nextElementSibling.textContent = String(this.cells);
    $('cage-about').textContent = draft ? `${draft.places.length} corners. ${DRAW_ABOUT[this.draws]}` : cage ? `A cage of ${cage.controls.length / 3} controls. Drag its corners: the body follows.` : 'A coarse closed mesh whose corners move the body. Make one around it, draw one by hand, or take one from a file.';
    for (const id of ['cage-reset', 'cage-keep']) $(id).disabled = !studio.state.cage;
    this.draw();
  }
}
