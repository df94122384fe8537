// The panel's pages but for the tools: how it deforms, its pose, its weights, its handles. They show the state and ask for changes.
import { $, axes, checkRadio, figure, large, make, options, setSlider } from './dom.js';
import { SIDES } from './compare.js';
import * as turn from './turn.js';

const SHOW_ABOUT = {
  none: 'The character’s own colours.',
  parts: 'The parts that blending patches close: each moves rigidly but for its joints. With that method on side A its own triangles are drawn, those of patches white.',
  joints: 'Every joint in a colour of its own, mixed where several move a vertex.',
  weights: 'How much the selected joint moves each vertex. Select a joint on the stage or under Pose.',
  error: 'How far side A is from side B’s method, or from all weights when they are reduced.',
  count: 'How many joints have weight on each vertex.',
};
const HANDLE_ABOUT = {
  move: 'Drag a handle’s dot or its arrows: the shape follows.',
  place: 'Drag a handle over the shape: its weights are made anew as it moves.',
};
const BIND_ABOUT = {
  place: 'The handles become the joints that move the body. The skeleton and its clips stay in the file, but move nothing.',
  beside: 'The skeleton keeps moving the body, with its weights and clips. What the handles made of the shape is added as the morph target “handles”.',
  bare: 'The handles become the joints that move the body.',
};

export class Pages {
  constructor(studio) {
    this.studio = studio;
    axes($('turns'), { min: -180, max: 180, step: 1, value: 0 });
    axes($('handle-moves'), { min: -1, max: 1, step: 0.005, value: 0 });
    this.wireDeform();
    studio.compare.wire();
    this.wirePose();
    this.wireWeights();
    this.wireHandles();
    studio.brush.wire();
    studio.cages.wire();
  }
  documentChanged() { this.turned = null; this.showDrivers(); this.studio.brush.documentChanged(); this.studio.cages.documentChanged(); this.fillJoints(); this.fillExamples(); }
  show() {
    this.showDeform();
    this.showLayer();
    this.showWeights();
    this.showHandles();
    this.studio.brush.show();
    this.studio.cages.show();
    this.showTurns();
  }

  // Deform ----------------------------------------------------------------------------------------
  wireDeform() {
    const { studio } = this;
    $('paint').addEventListener('change', ({ target }) => this.setShow(target.value));
    $('exact').addEventListener('change', ({ target }) => studio.edit({ exact: target.checked }));
    $('rig-it').addEventListener('click', () => studio.panels.journey.rig());
    $('bare-handles').addEventListener('click', () => studio.panels.selectTab('handles'));
  }
  setShow(show) { if (this.studio.skinned) this.studio.edit({ show }); }
  setMethod(side, id) { if (this.studio.offers(id)) this.studio.edit({ methods: this.studio.methods.map((each, i) => (i === side ? id : each)) }); }
  makeMethods() {
    const chip = (side, method) => { // A to D; C and D where so many are compared
      const input = make('input', { type: 'radio', name: `method-${side}`, value: method.id });
      input.setAttribute('aria-label', `${method.name}, side ${SIDES[side]}`);
      input.addEventListener('change', () => this.setMethod(side, method.id));
      return make('label', { className: `chip ${SIDES[side].toLowerCase()}`, title: `Side ${SIDES[side]}` }, SIDES[side], input);
    };
    $('methods').replaceChildren(...this.studio.methodList.map((method) => {
      const name = make('span', { textContent: method.name, title: method.about });
      name.addEventListener('click', () => this.setMethod(0, method.id));
      const row = make('div', { className: 'method' }, name, ...[0, 1, 2, 3].map((side) => chip(side, method)));
      row.dataset.method = method.id;
      return row;
    }));
  }
  showDeform() {
    this.studio.compare.show();
    const { studio } = this, { methods, show, exact } = studio.state, { skinned, info } = studio;
    $('methods-section').hidden = $('paint-section').hidden = $('measures-section').hidden = !skinned;
    $('rig-it').parentElement.hidden = !info.triangleCount;
    this.showBare();
    $('bare-title').textContent = info.triangleCount ? 'A mesh without a skeleton' : 'A skeleton without a body';
    $('bare-about').textContent = info.triangleCount ? 'There is nothing to deform yet. Rig it: parts, joints and weights from the shape alone. Or put handles on it and drag them.'
      : 'Its clip plays, and its joints can be turned. To put this motion on a body: open the body, then drop this file on it.';
    for (const row of document.querySelectorAll('.method')) {
      const id = row.dataset.method;
      row.classList.toggle('on', id === methods[0]);
      row.hidden = !studio.offers(id);
      row.querySelectorAll('input').forEach((input, side) => { input.checked = id === methods[side]; });
    }
    $('method-about').textContent = studio.method(0)?.about ?? '';
    $('paint-parts').hidden = !info.description.hasParts;
    $('paint-joints').hidden = info.description.hasParts && show !== 'joints';
    checkRadio('paint', show);
    $('paint-about').textContent = SHOW_ABOUT[show];
    $('paint-error').textContent = show === 'error' ? 'Show the skin again' : 'Show the error';
    $('exact').checked = exact;
  }
  /** What a page that needs a skin has where there is none: the way to one. A mesh whose nodes move, or a skeleton, can be posed. */
  showBare() {
    const { studio } = this, { tab, skinned, info } = studio, page = ['deform', 'joints', 'weights'].includes(tab) || (tab === 'pose' && info.triangleCount && !info.description.clips.length && studio.joints.length < 2) ? tab : 'deform';
    if ($('bare').parentElement.id !== `page-${page}`) $(`page-${page}`).prepend($('bare'));
    $('bare').hidden = skinned || (tab === 'pose' && page !== 'pose');
  }
  showMeasures({ volumes, distance, error }) {
    const put = (figures) => { for (const [id, text] of Object.entries(figures)) $(id).textContent = text; }, percent = (x) => (x === undefined ? '–' : `${figure(x)} %`);
    const change = (x) => (x === null ? '–' : `${x >= 0 ? '+' : '−'}${Math.abs(x).toFixed(2)} %`), degrees = (radians) => `${figure((radians * 180) / Math.PI)}°`, { positionRms = 0, positionMax = 0, normalRms = 0, normalMax = 0 } = error ?? {};
    put({ 'volume-a': change(volumes[0]), 'volume-b': change(volumes[1]), 'distance-rms': percent(distance?.positionRms), 'distance-max': percent(distance?.positionMax) });
    put({ 'error-position-rms': figure(positionRms), 'error-position-max': figure(positionMax), 'error-normal-rms': degrees(normalRms), 'error-normal-max': degrees(normalMax) });
  }

  // Pose ------------------------------------------------------------------------------------------
  wirePose() {
    const { studio } = this, sliders = [...$('turns').querySelectorAll('input')];
    $('joint').addEventListener('change', ({ target }) => studio.pickMarker(studio.joints.indexOf(Number(target.value))));
    $('pose-reset').addEventListener('click', () => studio.resetPose());
    $('pose-joint').addEventListener('click', () => studio.dropJoint());
    $('pose-key').addEventListener('click', () => studio.keyPose());
    sliders.forEach((slider, axis) => {
      slider.addEventListener('input', () => {
        const angles = this.angles().map((angle, i) => (i === axis ? Number(slider.value) : angle)), { joint } = studio;
        const rotation = turn.unit(turn.multiply(this.restTurn(joint), turn.fromAngles(angles)));
        studio.setPlaying(false);
        this.turned = { joint, angles, rotation };
        studio.setRotation(joint, rotation, `turn ${joint} ${axis}`);
      });
      slider.addEventListener('change', () => studio.history.seal());
    });
  }
  restTurn(node) { return [...this.studio.info.description.nodes[node].rest.slice(3, 7)]; }
  /** Angles of the selected joint as it is now. Those just set by a slider stay as they were set: other angles mean the same turn. */
  angles() {
    const { studio, turned } = this, { joint } = studio, now = studio.state.pose[joint]?.slice(3, 7) ?? studio.rotation(joint);
    const same = turned?.joint === joint && Math.abs(turned.rotation.reduce((sum, x, i) => sum + x * now[i], 0)) > 1 - 1e-9;
    return same ? turned.angles : turn.toAngles(turn.multiply(turn.inverse(this.restTurn(joint)), [...now]));
  }
  /** Helper joints of a baked file follow the others by themselves. */
  showDrivers() {
    const { driverCount } = this.studio.info.description;
    $('driver-about').hidden = !driverCount;
    $('driver-about').textContent = `${driverCount} ${driverCount === 1 ? 'joint is a helper that follows' : 'joints are helpers that follow'} the others in any pose (drivers of a baked file).`;
  }
  fillJoints() {
    const { studio } = this, { nodes } = studio.info.description, inside = new Set(studio.joints), depth = []; // parents come first
    nodes.forEach((node, i) => { depth[i] = node.parent < 0 ? 0 : depth[node.parent] + (inside.has(node.parent) ? 1 : 0); });
    options($('joint'), studio.joints.map((node) => [node, `${'\u2002'.repeat(Math.min(depth[node], 9))}${nodes[node].name ?? `joint ${node}`}`]), studio.joint);
  }
  showTurns() {
    const { studio } = this, { joint } = studio;
    if (joint < 0 || studio.tab !== 'pose') return;
    if ($('joint').value !== String(joint)) { $('joint').value = String(joint); $('joint').selectedOptions[0]?.scrollIntoView({ block: 'nearest' }); }
    const angles = this.angles(), fixed = studio.info.description.nodes[joint].hasMatrix;
    $('turns').querySelectorAll('label').forEach((label, i) => {
      const slider = label.querySelector('input');
      slider.disabled = !!fixed;
      setSlider(slider, Math.round(angles[i]));
      label.querySelector('output').textContent = `${Math.round(angles[i])}°`.replace('-', '−');
    });
  }
  showLayer() {
    const { studio } = this, count = Object.keys(studio.state.pose).length;
    $('layer-section').hidden = !count;
    $('layer-about').textContent = `${count} ${count === 1 ? 'joint stays' : 'joints stay'} as you put ${count === 1 ? 'it' : 'them'} while the clip moves the others. Keep the whole pose as a clip of its own, or drop it.`;
    $('pose-joint').disabled = !studio.state.pose[studio.joint];
    [...$('examples').children].forEach((each, k) => each.setAttribute('aria-pressed', this.example === k && count > 0));
  }
  async fillExamples() {
    const { studio } = this, { document } = studio, { poseSpace, meshes } = studio.info.description, serial = this.filling = (this.filling ?? 0) + 1;
    $('examples-section').hidden = !poseSpace;
    this.example = null;
    const mesh = poseSpace?.targets.findIndex((target) => target >= 0), names = meshes[mesh]?.targetNames, name = (k) => (k ? names?.[poseSpace.targets[mesh] + k - 1] ?? `pose ${k}` : 'rest');
    $('examples').replaceChildren(...Array.from({ length: poseSpace?.poseCount ?? 0 }, (_, k) => {
      const button = make('button', { type: 'button', className: 'example' }, make('img', { alt: '' }), name(k));
      button.addEventListener('click', () => { this.example = k; studio.applyExample(k); });
      return button;
    }));
    if (!poseSpace) return;
    await studio.frames.thumbnails(96, (k, picture) => { if (serial === this.filling && studio.document === document) $('examples').children[k].firstElementChild.src = picture; }).catch(() => {});
  }

  // Weights ---------------------------------------------------------------------------------------
  wireWeights() {
    const { studio } = this, slider = $('influences');
    slider.addEventListener('input', () => {
      const most = studio.info.maxInfluences, influences = Number(slider.value) >= most ? 0 : Number(slider.value);
      if (influences !== studio.state.influences || studio.state.optimised) studio.edit({ influences, optimised: null }, 'influences');
    });
    slider.addEventListener('change', () => { studio.history.seal(); if (this.wantsOptimised && studio.state.influences) studio.optimise(); });
    $('reduction').addEventListener('change', ({ target }) => {
      this.wantsOptimised = target.value === 'optimised';
      if (!this.wantsOptimised && studio.state.optimised) studio.edit({ optimised: null });
      else if (this.wantsOptimised && studio.state.influences) studio.optimise();
      this.showWeights();
    });
    $('paint-error').addEventListener('click', () => this.setShow(studio.state.show === 'error' ? 'none' : 'error'));
  }
  showWeights() {
    const { studio } = this, { influences, optimised } = studio.state, most = studio.info.maxInfluences, slider = $('influences');
    slider.max = String(Math.max(most, 2));
    slider.disabled = most <= 1;
    setSlider(slider, influences || Math.max(most, 2));
    const ticks = [...new Set([1, ...[4, 8, 12, 16, 24, 32].filter((tick) => tick < most - 1), Math.max(most, 2)])];
    $('influences-scale').replaceChildren(...ticks.map((tick) => { const span = make('span', { textContent: tick }); span.style.left = `calc(8px + (100% - 16px) * ${(tick - 1) / (Number(slider.max) - 1)})`; return span; }));
    $('influences-value').textContent = influences ? String(influences) : most ? 'all' : '–';
    slider.setAttribute('aria-valuetext', influences ? `${influences} influences` : 'all influences');
    if (optimised || (influences && !studio.panels.working && studio.history.gesture === null)) this.wantsOptimised = !!optimised; // else it is on its way, or wanted
    checkRadio('reduction', this.wantsOptimised ? 'optimised' : 'klargest');
    for (const input of $('reduction').querySelectorAll('input')) input.disabled = most <= 1;
    $('paint-error').disabled = !studio.skinned;
    $('influences-about').textContent = most < 1 ? 'This model has no skin: nothing to reduce. Rig it under Deform, or put handles on it.'
      : `This character has up to ${most} a vertex. ${this.wantsOptimised ? 'Optimised: weights chosen so that the surface stays nearest to the original (cutis reduce), when you let go of the slider.' : 'Largest: what exporters do, the biggest weights renormalised.'}`;
  }

  // Handles ---------------------------------------------------------------------------------------
  wireHandles() {
    const { studio } = this, sliders = [...$('handle-moves').querySelectorAll('input')];
    $('handle-mode').addEventListener('change', ({ target }) => { studio.handleMode = target.value; this.showHandles(); studio.frames.changed(); });
    $('handle').addEventListener('change', ({ target }) => studio.pickMarker(Number(target.value)));
    $('handle-add').addEventListener('click', (event) => { if (event.detail === 0) studio.addFarthest(); else studio.setAdding(!studio.adding); }); // 0: by keyboard
    $('handle-grip').addEventListener('change', ({ target }) => { studio.handleGrip = target.value; studio.frames.changed(); });
    $('handle-rigid').addEventListener('change', ({ target }) => studio.edit({ rigid: target.checked }));
    $('handle-bar').addEventListener('click', () => { if (studio.handles[studio.handle]?.to) studio.setBar(null); else studio.setAdding(studio.adding === 'end' ? false : 'end'); });
    $('handle-bones').addEventListener('click', () => studio.handlesFromBones());
    $('handle-remove').addEventListener('click', () => studio.removeHandle());
    $('handle-reset').addEventListener('click', () => studio.resetHandles());
    $('bind').addEventListener('change', () => this.showHandles());
    $('handle-bind').addEventListener('click', () => studio.bindHandles(this.bindsBeside));
    sliders.forEach((slider, axis) => {
      const start = () => { this.slid ??= [...studio.handles[studio.handle].rest]; };
      slider.addEventListener('input', () => {
        start();
        const { rest, move } = studio.handles[studio.handle], by = (Number(slider.value) * studio.info.diagonal) / 2, moving = studio.handleMode === 'move';
        const point = rest.map((x, c) => (moving ? x + (c === axis ? by : move[c]) : (c === axis ? this.slid[c] + by : x) + move[c]));
        studio.dragHandle(studio.handle, point, `slide ${axis}`);
      });
      slider.addEventListener('change', () => { this.slid = null; studio.history.seal(); this.showHandles(); });
    });
  }
  get bindsBeside() { return this.studio.skinned && document.querySelector('input[name="bind"]:checked').value === 'beside'; }
  showHandles() {
    const { studio } = this, { handles, handle, skinned } = studio, list = $('handle'), chosen = handles[handle];
    checkRadio('handle-mode', studio.handleMode);
    $('handle-about').textContent = studio.adding ? (studio.adding === 'end' ? 'Click the surface where the bar shall end. Esc cancels.' : 'Click the surface: the new handle goes there. Esc cancels.') : HANDLE_ABOUT[studio.handleMode];
    $('handle-add').setAttribute('aria-pressed', studio.adding === true);
    $('handle-bar').setAttribute('aria-pressed', studio.adding === 'end');
    $('handle-bar').textContent = chosen?.to ? 'Point again' : 'Make it a bar …';
    $('handle-bones').hidden = !skinned;
    checkRadio('handle-grip', studio.handleGrip);
    $('handle-rigid').checked = studio.state.rigid;
    const moved = ({ move, turn: turned }) => !!turned || move.some((x) => Math.abs(x) > 1e-9), names = handles.map((each, i) => `${each.to ? 'bar' : 'handle'} ${i + 1}${moved(each) ? ' · moved' : ''}`);
    if (names.join() !== [...list.options].map((option) => option.textContent).join()) options(list, names.map((name, i) => [i, name]), handle);
    list.value = String(handle);
    $('handle-remove').disabled = handles.length <= 1;
    $('handle-reset').disabled = !handles.some(moved);
    for (const id of ['handle-add', 'handle-bind']) $(id).disabled = !handles.length;
    $('bind').hidden = !skinned;
    $('bind-about').textContent = skinned ? BIND_ABOUT[this.bindsBeside ? 'beside' : 'place'] : BIND_ABOUT.bare;
    $('handle-moves').querySelectorAll('input').forEach((slider, c) => {
      slider.disabled = !chosen;
      if (!chosen) return;
      const moving = studio.handleMode === 'move', from = this.slid ?? chosen.rest;
      setSlider(slider, (2 * (moving ? chosen.move[c] : chosen.rest[c] - from[c])) / studio.info.diagonal);
      slider.nextElementSibling.textContent = (moving ? chosen.move[c] : chosen.rest[c]).toFixed(3).replace('-', '−');
    });
  }
  showHandleFigures({ domain, milliseconds }) {
    $('handle-voxels').textContent = domain ? large(domain) : '–';
    $('handle-time').textContent = milliseconds ? `${milliseconds.toFixed(0)} ms` : '–';
  }
}
