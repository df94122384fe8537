// The page's controls: shows the studio's state and changes it. No computing here.
import { BUILT_IN } from './characters.js';
import { drawRamp } from './colormap.js';
import { $, checkRadio, figure, fill, large, make, options, setSlider, short } from './dom.js';
import * as turn from './turn.js';

const PAINT_ABOUT = {
  none: 'The character’s own colours.',
  weights: 'How much the selected joint moves each vertex. Select a joint on the stage or under Pose.',
  error: 'How far side A is from side B’s method, or from all weights when they are reduced.',
  count: 'How many joints have weight on each vertex.',
};
const HANDLE_ABOUT = {
  move: 'Select a handle, then drag its arrows: the shape follows.',
  place: 'Drag a handle over the shape: its weights are made anew as it moves.',
};

/** Without the slowest quarter: the first frames compile, and a busy machine hiccups. */
function trimmedMean(list) {
  const kept = [...list].sort((a, b) => a - b).slice(0, Math.ceil(0.75 * list.length));
  return kept.length ? kept.reduce((a, b) => a + b, 0) / kept.length : 0;
}

export class Panels {
  constructor(studio) {
    this.studio = studio;
    this.dividerAt = 0.5;
    this.setTheme(localStorage.getItem('theme') ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'), false);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => { if (!localStorage.getItem('theme')) this.setTheme(event.matches ? 'dark' : 'light', false); });
    this.fillCharacters();
    this.makeMethods();
    this.wireBar();
    this.wireStage();
    this.wireTimeline();
    this.wireTabs();
    this.wirePages();
    this.wireKeys();
    for (const slider of document.querySelectorAll('input[type="range"]')) { fill(slider); slider.addEventListener('input', () => fill(slider)); }
    $('version').textContent = studio.engine.text(studio.engine.call.studio_version());
  }

  // Messages --------------------------------------------------------------------------------------

  fail(title, text) { this.notice(title, text, false); }
  say(title, text) { this.notice(title, text, true); }
  notice(title, text, info) {
    $('notice').hidden = false;
    $('notice').classList.toggle('info', info);
    $('notice-title').textContent = title;
    $('notice-text').textContent = text;
  }
  /** Runs work with a sign that it runs; a failure becomes a message. */
  async busy(text, work, name) {
    $('notice').hidden = true;
    const timer = setTimeout(() => { $('busy').hidden = false; $('busy-text').textContent = `${text} …`; this.busyText = text; }, 120);
    try {
      await work();
    } catch (error) {
      this.fail(`${name} cannot be opened`, error.message || String(error));
      this.fillCharacters();
    } finally {
      clearTimeout(timer);
      $('busy').hidden = true;
    }
  }
  progress(stage, fraction) {
    if (!$('busy').hidden) $('busy-text').textContent = `${this.busyText}: ${stage} ${Math.round(100 * fraction)} %`;
  }
  announce(text) { $('announce').textContent = text; }

  // Bar -------------------------------------------------------------------------------------------

  fillCharacters(opened = this.openedName) {
    this.openedName = opened;
    const current = this.studio.source?.name, isBuiltIn = BUILT_IN.some((entry) => entry.id === current);
    const groups = [make('optgroup', { label: 'Built in' }, ...BUILT_IN.map((entry) => make('option', { value: entry.id, textContent: entry.detail ? `${entry.name} · ${entry.detail}` : entry.name, selected: entry.id === current })))];
    if (opened) groups.push(make('optgroup', { label: 'Opened' }, make('option', { value: '', textContent: opened, selected: !isBuiltIn })));
    $('character').replaceChildren(...groups);
  }
  openedFile(name) { this.openedName = name; this.fillCharacters(); }
  setTheme(theme, keep = true) {
    document.documentElement.dataset.theme = theme;
    if (keep) localStorage.setItem('theme', theme);
    this.studio.viewport.setLook(theme === 'dark');
    if (this.studio.source) this.fillExamples(); // their pictures have the stage's light
    this.studio.changed();
  }
  wireBar() {
    const { studio } = this;
    $('character').addEventListener('change', (event) => { if (event.target.value) studio.openBuiltIn(event.target.value); });
    $('open').addEventListener('click', () => $('file').click());
    $('file').addEventListener('change', (event) => { if (event.target.files.length) studio.openFiles(event.target.files); event.target.value = ''; });
    $('save-glb').addEventListener('click', () => this.guard('Not saved', () => { studio.saveGlb(); this.announce('GLB saved'); }));
    $('save-picture').addEventListener('click', () => this.guard('Not saved', async () => { await studio.savePicture(); this.announce('Picture saved'); }));
    $('theme').addEventListener('click', () => this.setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
    $('help').addEventListener('click', () => $('keys').showModal());
    $('notice-close').addEventListener('click', () => { $('notice').hidden = true; });
    let inside = 0;
    const files = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');
    addEventListener('dragenter', (event) => { if (files(event)) { inside++; $('drop').hidden = false; event.preventDefault(); } });
    addEventListener('dragover', (event) => { if (files(event)) event.preventDefault(); });
    addEventListener('dragleave', () => { inside = Math.max(0, inside - 1); if (!inside) $('drop').hidden = true; });
    addEventListener('drop', (event) => {
      event.preventDefault();
      inside = 0;
      $('drop').hidden = true;
      if (event.dataTransfer?.files.length) studio.openFiles(event.dataTransfer.files);
    });
  }
  async guard(title, work) {
    try { await work(); } catch (error) { this.fail(title, error.message || String(error)); }
  }

  // Stage -----------------------------------------------------------------------------------------

  wireStage() {
    const { studio } = this, divider = $('divider'), stage = $('stage');
    const move = (at) => {
      this.dividerAt = Math.min(0.95, Math.max(0.05, at));
      this.placeDivider();
      if (studio.split) studio.viewport.split = this.dividerAt;
      studio.viewport.invalidate();
    };
    divider.addEventListener('pointerdown', (event) => { divider.setPointerCapture(event.pointerId); event.preventDefault(); divider.focus({ focusVisible: false }); });
    divider.addEventListener('pointermove', (event) => { if (divider.hasPointerCapture(event.pointerId)) { const rect = stage.getBoundingClientRect(); move((event.clientX - rect.left) / rect.width); } });
    divider.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -0.02, ArrowRight: 0.02, PageUp: -0.1, PageDown: 0.1 }[event.key];
      if (step) { move(this.dividerAt + step); event.preventDefault(); }
      if (event.key === 'Home' || event.key === 'End') { move(event.key === 'Home' ? 0 : 1); event.preventDefault(); }
    });
    $('tool-split').addEventListener('click', () => this.setSplit(!studio.split));
    $('split').addEventListener('change', (event) => this.setSplit(event.target.checked));
    $('tool-bones').addEventListener('click', () => { studio.bones = !studio.showsBones; studio.changed(); });
    $('tool-home').addEventListener('click', () => studio.viewport.home());
    $('canvas').addEventListener('keydown', (event) => {
      const action = {
        ArrowLeft: () => studio.viewport.turn(-0.12, 0), ArrowRight: () => studio.viewport.turn(0.12, 0),
        ArrowUp: () => studio.viewport.turn(0, -0.1), ArrowDown: () => studio.viewport.turn(0, 0.1),
        '+': () => studio.viewport.zoom(0.88), '=': () => studio.viewport.zoom(0.88), '-': () => studio.viewport.zoom(1.14),
      }[event.key];
      if (action) { action(); event.preventDefault(); event.stopPropagation(); }
    }, true);
  }
  setSplit(split) {
    this.studio.split = split;
    $('split').checked = split;
    $('tool-split').setAttribute('aria-pressed', split);
    this.showMethods();
    this.studio.changed();
  }
  placeDivider() {
    $('divider').style.left = `${100 * this.dividerAt}%`;
    $('divider').setAttribute('aria-valuenow', Math.round(100 * this.dividerAt));
  }
  hover(name, event) {
    $('tip').hidden = !name;
    if (!name) return;
    const rect = $('stage').getBoundingClientRect();
    $('tip').textContent = name;
    $('tip').style.left = `${event.clientX - rect.left}px`;
    $('tip').style.top = `${event.clientY - rect.top}px`;
  }
  /** Tags, divider and legend as the frame has them. */
  showStage() {
    const { studio } = this, split = studio.viewport.split !== null, { reduction } = studio;
    const few = reduction.influences && !studio.inHandles ? ` · ${reduction.influences} ${reduction.influences === 1 ? 'influence' : 'influences'}` : '';
    $('tag-a').lastElementChild.textContent = studio.inHandles ? 'Handles, linear' : studio.method(0).name + few;
    $('tag-b').lastElementChild.textContent = studio.method(1).name;
    $('tag-b').hidden = $('divider').hidden = !split;
    $('tag-a').firstElementChild.hidden = !split;
    $('tag-a').classList.toggle('alone', !split);
    $('tool-bones').setAttribute('aria-pressed', studio.showsBones);
    this.placeDivider();
    const painted = studio.painted, legend = $('legend');
    legend.hidden = !painted;
    if (!painted) return;
    const [start, middle, end] = legend.querySelectorAll('.ticks span');
    legend.firstElementChild.textContent = painted.title;
    if (this.ramp !== painted.map) { this.ramp = painted.map; drawRamp(painted.map, legend.querySelector('canvas')); }
    start.textContent = '0';
    middle.textContent = short(painted.top / 2);
    end.textContent = painted.top ? short(painted.top) : '';
  }
  showSpeed() {
    const { studio } = this, mean = trimmedMean;
    const skin = mean(studio.speed.skin), frame = mean(studio.speed.frame), now = performance.now();
    if (now - (this.spokeAt ?? 0) < 250 && studio.playing) return;
    this.spokeAt = now;
    $('speed-skin').textContent = skin ? `${skin < 10 ? skin.toFixed(2) : skin.toFixed(1)} ms` : '–';
    $('speed-rate').textContent = skin ? large((1000 * studio.character.vertexCount) / skin) : '–';
    $('speed-frame').textContent = frame ? `${frame.toFixed(1)} ms` : '–';
  }
  showMeasures({ volumes, distance, error }) {
    const percent = (value) => (value === null ? '–' : `${value >= 0 ? '+' : '−'}${Math.abs(value).toFixed(2)} %`);
    $('volume-a').textContent = percent(volumes[0]);
    $('volume-b').textContent = percent(volumes[1]);
    $('distance-rms').textContent = distance ? `${figure(distance.positionRms)} %` : '–';
    $('distance-max').textContent = distance ? `${figure(distance.positionMax)} %` : '–';
    const degrees = (radians) => `${figure((radians * 180) / Math.PI)}°`;
    $('error-position-rms').textContent = error ? figure(error.positionRms) : '0';
    $('error-position-max').textContent = error ? figure(error.positionMax) : '0';
    $('error-normal-rms').textContent = error ? degrees(error.normalRms) : '0°';
    $('error-normal-max').textContent = error ? degrees(error.normalMax) : '0°';
  }

  // Timeline --------------------------------------------------------------------------------------

  wireTimeline() {
    const { studio } = this;
    $('play').addEventListener('click', () => studio.setPlaying(!studio.playing));
    $('scrub').addEventListener('input', (event) => { studio.setPlaying(false); studio.seek(Number(event.target.value)); this.showTime(); });
    $('clip').addEventListener('change', (event) => { studio.clip = Number(event.target.value); studio.seek(0); this.showClip(); });
  }
  showPlaying() {
    const { playing } = this.studio;
    $('play').setAttribute('aria-label', playing ? 'Pause' : 'Play');
    $('play').querySelector('use').setAttribute('href', playing ? '#i-pause' : '#i-play');
  }
  showClip() {
    const clip = this.studio.character.description.clips[this.studio.clip];
    $('scrub').max = clip ? clip.duration || 1 : 1;
    for (const id of ['scrub', 'play', 'clip']) $(id).disabled = !clip;
    this.showTime();
  }
  showTime() {
    const clip = this.studio.character.description.clips[this.studio.clip];
    setSlider($('scrub'), this.studio.time);
    $('time').textContent = clip ? `${this.studio.time.toFixed(2)} s` : 'no clip';
    $('scrub').setAttribute('aria-valuetext', `${this.studio.time.toFixed(2)} seconds`);
  }

  // Panel -----------------------------------------------------------------------------------------

  wireTabs() {
    const tabs = [...document.querySelectorAll('[role="tab"]')];
    const select = (tab) => {
      for (const each of tabs) {
        const on = each === tab;
        each.setAttribute('aria-selected', on);
        each.tabIndex = on ? 0 : -1;
        $(each.getAttribute('aria-controls')).hidden = !on;
      }
      this.studio.setTab(tab.id.slice(4));
      if (tab.id === 'tab-pose') this.showTurns();
    };
    tabs.forEach((tab, i) => {
      tab.addEventListener('click', () => select(tab));
      tab.addEventListener('keydown', (event) => {
        const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
        if (to === undefined) return;
        const next = tabs[(to + tabs.length) % tabs.length];
        select(next);
        next.focus();
        event.preventDefault();
      });
    });
  }
  makeMethods() {
    const chip = (side, method) => {
      const input = make('input', { type: 'radio', name: `method-${side}`, value: method.id });
      input.setAttribute('aria-label', `${method.name}, side ${'AB'[side]}`);
      input.addEventListener('change', () => { this.studio.setMethod(side, method.id); this.showMethods(); });
      return make('label', { className: `chip ${'ab'[side]}`, title: `Side ${'AB'[side]}` }, 'AB'[side], input);
    };
    $('methods').replaceChildren(...this.studio.engine.methods.map((method) => {
      const name = make('span', { textContent: method.name, title: method.about });
      name.addEventListener('click', () => { this.studio.setMethod(0, method.id); this.showMethods(); });
      const row = make('div', { className: 'method' }, name, chip(0, method), chip(1, method));
      row.dataset.method = method.id;
      return row;
    }));
  }
  showMethods() {
    const { studio } = this;
    for (const row of document.querySelectorAll('.method')) {
      const id = row.dataset.method, offered = studio.offers(id);
      row.classList.toggle('on', id === studio.methods[0]);
      row.classList.toggle('off', !offered);
      row.hidden = !offered;
      const [a, b] = row.querySelectorAll('input');
      a.checked = id === studio.methods[0];
      b.checked = id === studio.methods[1];
    }
    $('method-about').textContent = studio.method(0).about;
  }
  wirePages() {
    const { studio } = this;
    $('paint').addEventListener('change', (event) => this.setPaint(event.target.value));
    $('exact').addEventListener('change', (event) => { studio.exact = event.target.checked; studio.speed.skin = []; studio.changed(); });
    $('joint').addEventListener('change', (event) => { studio.joint = Number(event.target.value); this.showTurns(); studio.changed(); });
    $('pose-reset').addEventListener('click', () => { studio.resetPose(); this.showTurns(); });
    for (const slider of $('turns').querySelectorAll('input')) {
      slider.addEventListener('input', () => {
        const angles = [...$('turns').querySelectorAll('input')].map((each) => Number(each.value));
        const rest = studio.character.description.nodes[studio.joint].rest.slice(3, 7);
        studio.setRotation(studio.joint, turn.unit(turn.multiply([...rest], turn.fromAngles(angles))));
        this.showTurnValues(angles);
      });
    }
    $('influences').addEventListener('input', (event) => { studio.setInfluences(Number(event.target.value)); this.showInfluences(); });
    $('reduction').addEventListener('change', (event) => { studio.setInfluences(studio.reduction.influences || 12, event.target.value); this.showInfluences(); });
    $('paint-error').addEventListener('click', () => this.setPaint(studio.paint === 'error' ? 'none' : 'error'));
    $('handle-mode').addEventListener('change', (event) => { studio.handles.mode = event.target.value; this.showHandles(); studio.changed(); });
    $('handle').addEventListener('change', (event) => studio.pickMarker(Number(event.target.value)));
    $('handle-add').addEventListener('click', (event) => {
      if (event.detail === 0) { studio.handles.addFarthest(); this.announce(`handle ${studio.handles.list.length} added`); return; } // by keyboard
      studio.adding = true; this.say('Click the surface', 'The new handle goes where you click.');
    });
    $('handle-remove').addEventListener('click', () => { studio.handles.remove(); this.showHandles(); });
    $('handle-reset').addEventListener('click', () => studio.handles.resetMoves());
    for (const slider of $('handle-moves').querySelectorAll('input')) {
      const drag = (final) => {
        const { handles } = studio, reach = studio.diagonal / 2, handle = handles.list[handles.selected], start = handles.mode === 'move' ? handle.rest : this.placeStart ?? handle.rest;
        const values = [...$('handle-moves').querySelectorAll('input')].map((each) => Number(each.value) * reach);
        handles.drag(handles.selected, start.map((x, c) => x + values[c] + (handles.mode === 'place' ? handle.move[c] : 0)), final);
      };
      slider.addEventListener('pointerdown', () => { this.placeStart = null; });
      slider.addEventListener('input', () => { if (studio.handles.mode === 'place') this.placeStart ??= [...studio.handles.list[studio.handles.selected].rest]; this.sliding = true; drag(false); this.sliding = false; });
      slider.addEventListener('change', () => { drag(true); this.placeStart = null; this.showHandles(); });
    }
  }
  setPaint(kind) {
    this.studio.paint = kind;
    this.studio.paintTop = 0;
    checkRadio('paint', kind);
    $('paint-about').textContent = PAINT_ABOUT[kind];
    $('paint-error').textContent = kind === 'error' ? 'Paint the skin again' : 'Paint the error';
    this.studio.changed();
  }
  wireKeys() {
    const { studio } = this;
    addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || $('keys').open) return;
      const target = event.target, typing = target.matches?.('input:not([type="range"]):not([type="radio"]):not([type="checkbox"]), select, textarea');
      if (typing || (event.key === ' ' && target.matches?.('button, input, [role="tab"]'))) return;
      const clip = studio.character?.description.clips[studio.clip], step = (by) => { if (clip) { studio.setPlaying(false); studio.seek(Math.min(clip.duration, Math.max(0, studio.time + by))); this.showTime(); } };
      const action = {
        ' ': () => studio.setPlaying(!studio.playing), b: () => this.setSplit(!studio.split), k: () => $('tool-bones').click(),
        e: () => this.setPaint(studio.paint === 'error' ? 'none' : 'error'), w: () => this.setPaint(studio.paint === 'weights' ? 'none' : 'weights'),
        ',': () => step(-1 / 30), '.': () => step(1 / 30), 0: () => studio.viewport.home(), o: () => $('file').click(),
        p: () => $('save-picture').click(), s: () => $('save-glb').click(), '?': () => $('keys').showModal(),
      }[event.key.toLowerCase()];
      const method = studio.engine.methods.filter((each) => studio.offers(each.id))[Number(event.key) - 1];
      if (method && !target.matches?.('input[type="range"]')) { studio.setMethod(0, method.id); this.showMethods(); event.preventDefault(); } else if (action) { action(); event.preventDefault(); }
    });
  }

  // What depends on the character -----------------------------------------------------------------

  opened() {
    const { studio } = this, { description } = studio.character;
    this.fillCharacters();
    this.showMethods();
    this.setPaint(studio.paint);
    options($('clip'), description.clips.map((clip, i) => [i, clip.name ?? `clip ${i + 1}`]), 0);
    if (!description.clips.length) options($('clip'), [['', 'no clip']], '');
    this.showClip();
    this.fillJoints();
    this.showTurns();
    this.showInfluences();
    this.showHandles();
    this.fillExamples();
    studio.setPlaying(false);
    this.announce(`${studio.source.name} is open: ${studio.character.vertexCount} vertices, ${studio.joints.length} joints, ${description.clips.length} clips`);
  }
  fillJoints() {
    const { studio } = this, { nodes } = studio.character.description, inside = new Set(studio.joints);
    const depth = []; // parents come first
    nodes.forEach((node, i) => { depth[i] = node.parent < 0 ? 0 : depth[node.parent] + (inside.has(node.parent) ? 1 : 0); });
    options($('joint'), studio.joints.map((node) => [node, `${'\u2002'.repeat(Math.min(depth[node], 9))}${nodes[node].name ?? `joint ${node}`}`]), studio.joint);
  }
  showSelection() {
    if (this.studio.tab === 'handles') { this.showHandles(); return; }
    $('joint').value = String(this.studio.joint);
    $('joint').selectedOptions[0]?.scrollIntoView({ block: 'nearest' });
    this.showTurns();
  }
  showTurns() {
    const { studio } = this;
    if (!studio.character || studio.joint < 0) return;
    const rest = [...studio.character.description.nodes[studio.joint].rest.slice(3, 7)];
    const angles = turn.toAngles(turn.multiply(turn.inverse(rest), [...studio.rotation(studio.joint)]));
    [...$('turns').querySelectorAll('input')].forEach((slider, i) => setSlider(slider, Math.round(angles[i])));
    this.showTurnValues(angles);
  }
  showTurnValues(angles) {
    [...$('turns').querySelectorAll('output')].forEach((output, i) => { output.textContent = `${Math.round(angles[i])}°`.replace('-', '−'); });
  }
  showInfluences() {
    const { reduction, character } = this.studio, most = character.maxInfluences, value = reduction.influences || 12;
    setSlider($('influences'), value);
    $('influences').disabled = most <= 1;
    $('influences-value').textContent = reduction.influences ? String(reduction.influences) : 'all';
    $('influences').setAttribute('aria-valuetext', reduction.influences ? `${reduction.influences} influences` : 'all influences');
    checkRadio('reduction', reduction.method);
    $('influences-about').textContent = most < 1 ? 'This model has no skin: nothing to reduce. Handles give it one.'
      : `This character has up to ${most} a vertex. ${reduction.method === 'poisson' ? 'Optimised: weights whose surface stays nearest to the original over the clips.' : 'Largest: what exporters do, the biggest weights renormalised.'}`;
  }
  setWorking(working) {
    $('busy').hidden = !working;
    $('busy-text').textContent = 'Optimising the weights …';
    this.busyText = 'Optimising the weights';
  }
  showHandles() {
    const { handles } = this.studio;
    if (!handles) return;
    checkRadio('handle-mode', handles.mode);
    $('handle-about').textContent = HANDLE_ABOUT[handles.mode];
    options($('handle'), handles.list.map((handle, i) => [i, `handle ${i + 1}${handle.move.some((x) => Math.abs(x) > 1e-9) ? ' · moved' : ''}`]), handles.selected);
    $('handle-remove').disabled = handles.list.length <= 1;
    $('handle-voxels').textContent = handles.domain ? large(handles.domain) : '–';
    $('handle-time').textContent = handles.milliseconds ? `${handles.milliseconds.toFixed(0)} ms` : '–';
    const handle = handles.list[handles.selected], reach = this.studio.diagonal / 2;
    if (!handle) return;
    [...$('handle-moves').querySelectorAll('input')].forEach((slider, c) => {
      if (!this.sliding) setSlider(slider, handles.mode === 'move' ? handle.move[c] / reach : 0);
      slider.nextElementSibling.textContent = (handles.mode === 'move' ? handle.move[c] : handle.rest[c]).toFixed(3).replace('-', '−');
    });
  }
  fillExamples() {
    const { studio } = this, { poseSpace, meshes } = studio.character.description;
    $('examples-section').hidden = !poseSpace;
    if (!poseSpace) return;
    const mesh = poseSpace.targets.findIndex((target) => target >= 0), names = meshes[mesh]?.targetNames;
    const name = (k) => (k === 0 ? 'rest' : names?.[poseSpace.targets[mesh] + k - 1] ?? `pose ${k}`);
    const pictures = studio.thumbnails(96);
    $('examples').replaceChildren(...pictures.map((picture, k) => {
      const button = make('button', { type: 'button', className: 'example' }, make('img', { src: picture, alt: '' }), name(k));
      button.setAttribute('aria-pressed', 'false');
      button.addEventListener('click', () => {
        studio.applyExample(k);
        for (const each of $('examples').children) each.setAttribute('aria-pressed', each === button);
        this.showTurns();
      });
      return button;
    }));
  }
}
