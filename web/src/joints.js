// Joints at rest: dragged, added, removed, renamed, mirrored. While a joint is dragged its place is the page's own; where the pointer
// rests, and when it lets go, `cutis joints` makes the model of it, weights and all. A whole drag is one step of the history.
import { $, axes, options, setSlider } from './dom.js';
import * as turn from './turn.js';

const REST = 180; // milliseconds the pointer stands still before weights follow
const OTHER_SIDE = [[/_l\b/, '_r'], [/_r\b/, '_l'], [/\.l\b/, '.r'], [/\.r\b/, '.l'], [/\.L\b/, '.R'], [/\.R\b/, '.L'], [/Left/, 'Right'], [/Right/, 'Left'], [/left/, 'right'], [/right/, 'left']];
const add = (a, b, by = 1) => a.map((x, c) => x + by * b[c]), dot = (a, b) => a.reduce((sum, x, c) => sum + x * b[c], 0);
const unit = (a) => { const length = Math.hypot(...a) || 1; return a.map((x) => x / length); };
const number = (x) => String(Math.fround(x));

export class Joints {
  constructor(studio) {
    this.studio = studio;
    this.drag = null; // { base: what it began with, places: Map(name → place) }
    axes($('joints-place'), { min: -1, max: 1, step: 0.002, value: 0 });
    $('joints-list').addEventListener('change', ({ target }) => studio.pickMarker(studio.joints.indexOf(Number(target.value))));
    $('joints-add').addEventListener('click', () => this.add());
    $('joints-remove').addEventListener('click', () => this.remove());
    $('joints-flip').addEventListener('click', () => this.flip());
    $('joints-name').addEventListener('change', ({ target }) => this.rename(target.value.trim()));
    $('joints-name').addEventListener('keydown', (event) => { if (event.key === 'Enter') event.target.blur(); });
    $('joints-place').querySelectorAll('input').forEach((slider, axis) => {
      slider.addEventListener('input', () => {
        this.slid ??= this.place(studio.joint);
        this.pull(this.slid.map((x, c) => (c === axis ? x + (Number(slider.value) * studio.info.diagonal) / 4 : this.place(studio.joint)[c])));
      });
      slider.addEventListener('change', () => { this.slid = null; this.drop(); });
    });
  }
  get both() { return $('joints-mirror').checked; }
  get nodes() { return this.studio.info.description.nodes; }
  name(node) { return this.nodes[node]?.name; }
  /** Where a joint is at rest, or is being put. */
  place(node) {
    if (this.of !== this.studio.document) { this.of = this.studio.document; this.places = turn.places(this.nodes); }
    return this.drag?.places.get(this.name(node)) ?? this.places[node] ?? [0, 0, 0];
  }
  /** The joint on the other side, by its name; −1: none. */
  partner(node) {
    const name = this.name(node) ?? '', rule = OTHER_SIDE.find(([from]) => from.test(name));
    return rule ? this.studio.joints.find((each) => this.name(each) === name.replace(...rule)) ?? -1 : -1;
  }
  otherName(name) { const rule = OTHER_SIDE.find(([from]) => from.test(name)); return rule ? name.replace(...rule) : null; }
  /** The plane between the sides, from the pairs on the trunk; null: there are none. */
  plane() {
    const all = this.studio.joints.filter((node) => this.partner(node) > node), trunk = all.filter((node) => this.partner(this.nodes[node].parent) < 0); // limbs may be anywhere
    const pairs = (trunk.length ? trunk : all).map((node) => [this.place(node), this.place(this.partner(node))]);
    if (!pairs.length) return null;
    const first = add(pairs[0][0], pairs[0][1], -1);
    const normal = unit(pairs.map(([a, b]) => { const d = add(a, b, -1); return dot(d, first) < 0 ? d.map((x) => -x) : d; }).reduce((a, b) => add(a, b)));
    return { normal, centre: pairs.map(([a, b]) => add(a, b).map((x) => x / 2)).reduce((a, b) => add(a, b)).map((x) => x / pairs.length) };
  }
  mirrored(point) { const { normal, centre } = this.plane() ?? { normal: [1, 0, 0], centre: [0, 0, 0] }; return add(point, normal, -2 * dot(add(point, centre, -1), normal)); }

  // Dragging --------------------------------------------------------------------------------------
  /** The selected joint is at a point, its partner at the mirror image of the way it went. */
  pull(point) {
    const { studio } = this, node = studio.joint, other = this.both ? this.partner(node) : -1;
    if (!this.name(node)) { studio.panels.fail('This joint cannot be moved', 'it has no name; `cutis convert` gives joints names'); return; }
    if (!this.drag) {
      const start = new Map([node, other].filter((each) => each >= 0).map((each) => [this.name(each), this.place(each)]));
      this.drag = { base: studio.reduced, start, axis: other >= 0 ? unit(add(this.place(node), this.place(other), -1)) : null, places: new Map(), bind: $('joints-bind').checked };
    }
    const by = add(point, this.drag.start.get(this.name(node)), -1);
    this.drag.places.set(this.name(node), point);
    if (other >= 0 && this.drag.axis) this.drag.places.set(this.name(other), add(this.drag.start.get(this.name(other)), add(by, this.drag.axis, -2 * dot(by, this.drag.axis))));
    this.drag.stale = true;
    studio.frames.showMarkers(null);
    this.show();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.follow(), REST);
  }
  /** The model as the joints are now; while it is made they may go on. */
  async follow() {
    const { studio, drag } = this;
    if (!drag?.stale || drag.busy) return;
    drag.stale = false;
    drag.busy = true;
    try { await this.run([...drag.places].flatMap(([name, place]) => ['--move', `${name}=${place.map(number)}`]), drag.base, 'joint'); } finally { drag.busy = false; }
    if (this.drag !== drag) return;
    if (drag.stale) this.follow(); else if (drag.over) this.finish();
  }
  /** The pointer lets go. */
  drop() {
    const { drag } = this;
    if (!drag) return;
    clearTimeout(this.timer);
    drag.over = true;
    if (drag.stale) this.follow(); else if (!drag.busy) this.finish();
  }
  finish() { this.drag = null; this.studio.history.seal(); this.studio.frames.changed(); this.studio.panels.show(); }
  /** Esc: as if it had not begun. */
  letGo() { if (this.drag) { clearTimeout(this.timer); this.drag = null; this.studio.jobs.cancel(); } }

  // Other edits -----------------------------------------------------------------------------------
  async run(words, base = this.studio.reduced, gesture = null) {
    const { studio } = this, before = studio.state;
    await studio.panels.busy({ doing: 'Joints', failed: 'The joints stay as they were' }, async () => {
      const document = await studio.derive(base, 'joints', [...words, ...((this.drag?.bind ?? $('joints-bind').checked) ? [] : ['--keep-weights'])]);
      if (gesture && !this.drag) { studio.discard(document); return; }
      studio.replace(before, document, null, {}, gesture);
    });
  }
  add() {
    const { studio } = this, node = studio.joint, child = this.nodes.findIndex((each, i) => each.parent === node && studio.joints.includes(i)), { parent } = this.nodes[node], here = this.place(node);
    const at = child >= 0 ? add(here, this.place(child)).map((x) => x / 2) : parent >= 0 ? add(here, add(here, this.place(parent), -1), 0.4) : add(here, [0, 0.1 * studio.info.diagonal, 0]);
    const other = this.both ? this.partner(node) : -1, name = this.fresh(this.name(node)), words = ['--add', `${name}=${this.name(node)},${at.map(number)}`];
    if (other >= 0) words.push('--add', `${this.fresh(this.name(other))}=${this.name(other)},${this.mirrored(at).map(number)}`);
    return this.run(words).then(() => this.select(name));
  }
  fresh(name) {
    const [, stem, side] = /^(.*?)((?:_[lr]|\.[LRlr])?)$/.exec(name), taken = new Set(this.nodes.map((each) => each.name));
    for (let i = 2; ; i++) if (!taken.has(`${stem}_${i}${side}`)) return `${stem}_${i}${side}`;
  }
  select(name) { const node = this.studio.joints.find((each) => this.name(each) === name); if (node !== undefined) this.studio.pickMarker(this.studio.joints.indexOf(node)); }
  remove() {
    const node = this.studio.joint, other = this.both ? this.partner(node) : -1, { parent } = this.nodes[node], above = this.name(parent);
    return this.run([node, other].filter((each) => each >= 0).flatMap((each) => ['--remove', this.name(each)])).then(() => { if (above) this.select(above); });
  }
  rename(name) {
    const old = this.name(this.studio.joint);
    if (!name || name === old) { this.show(); return null; }
    return this.run(['--rename', `${old}=${name}`]).then(() => this.select(name));
  }
  /** The other side as this one is. */
  flip() {
    const other = this.partner(this.studio.joint);
    return other < 0 ? null : this.run(['--move', `${this.name(other)}=${this.mirrored(this.place(this.studio.joint)).map(number)}`]);
  }

  show() {
    const { studio } = this, { joint, joints, skinned } = studio, list = $('joints-list');
    $('joints-one').hidden = !skinned || joint < 0;
    list.hidden = !skinned;
    for (const id of ['joints-add', 'joints-remove', 'joints-flip']) $(id).disabled = !skinned || joint < 0;
    $('joints-about').textContent = skinned ? 'The body is at rest here. Drag a joint’s dot, or its arrows; the weights follow.' : 'There are no joints yet. Rig the body first, under Start.';
    if (!skinned || studio.tab !== 'joints') return;
    const depth = new Map(), key = `${studio.document.id}`;
    if (this.listed !== key) {
      this.listed = key;
      for (const node of joints) depth.set(node, (depth.get(this.nodes[node].parent) ?? -1) + 1);
      options(list, joints.map((node) => [node, `${'\u2002'.repeat(Math.min(9, depth.get(node)))}${this.name(node) ?? `joint ${node}`}`]), joint);
    }
    list.value = String(joint);
    const other = this.partner(joint);
    $('joints-flip').disabled = other < 0;
    $('joints-flip').title = other < 0 ? 'It has no partner by its name' : `Put ${this.name(other)} at its mirror image`;
    if (document.activeElement !== $('joints-name')) $('joints-name').value = this.name(joint) ?? '';
    const place = this.place(joint), from = this.slid ?? place;
    $('joints-place').querySelectorAll('label').forEach((label, c) => {
      setSlider(label.querySelector('input'), (4 * (place[c] - from[c])) / studio.info.diagonal);
      label.querySelector('output').textContent = place[c].toFixed(3).replace('-', '−');
    });
  }
}
