// The journey: from a bare mesh to a walking character that is saved, as steps of one page. Every step is one or a few commands of
// `cutis` on what is open, and one step of the history; none needs another one but those it says.
//
// Invariant: what a step makes is what the command makes with the words that `words` gives for it.
import { EXAMPLES } from './characters.js';
import { Cancelled } from './client.js';
import { $, make, options, quoted } from './dom.js';
import * as turn from './turn.js';

const CASTS = { two: 'models/motions-two.glb', four: 'models/motions-four.glb' };
const MOTIONS = [['walk', 'Walk'], ['run', 'Run'], ['idle', 'Idle'], ['wave', 'Wave']];
const KINDS = ['auto', 'human', 'quadruped', 'bird', 'octopus', 'insect', 'bear', 'hand', 'fish', 'any'];
const KIND_NAMES = { auto: 'any kind', any: 'odd shape', bear: 'toy bear', quadruped: 'four legs' };
const LEGLESS = new Set(['insect', 'octopus', 'hand', 'fish']); // kinds that no built-in motion is for
const ON_FOUR = /hind|hock|fore(paw|leg|foot)|carpus/i;
const AXELESS = /\.(obj|ply|off|stl)$/i; // formats that say neither what is up nor their unit
const UNIT_NAMES = { m: 'metres', cm: 'centimetres', mm: 'millimetres', in: 'inches' };
const FOUR = 4, HELPERS = 8; // influences that every player reads; joints a bake adds
const SURE = 0.8; // how far limbs lie from their kind's where it is the right one: up to 0.64 of our family and spot; 0.99 where a bear was taken for a fish
const HEIGHTS = { leg: 0.05, foot: 0.02, arm: 0.72, hand: 0.6, wing: 0.7, head: 0.95, ear: 0.98, neck: 0.85, fin: 0.5, tail: 0.4 }; // of the body, where a limb would be
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;
/** A kind in a sentence. */
const called = (kind) => ({ quadruped: 'a beast on four legs', any: 'an odd shape' })[kind] ?? `${/^[aeio]/.test(kind) ? 'an' : 'a'} ${KIND_NAMES[kind] ?? kind}`;

export class Journey {
  constructor(studio) {
    this.studio = studio;
    this.pins = [];
    this.casts = new Map();
    const chooser = $('motion-file');
    chooser.addEventListener('change', () => { const files = [...chooser.files]; chooser.value = ''; if (files.length) this.motionFile(files); });
    this.kind = make('select', { className: 'select', id: 'rig-kind', ariaLabel: 'What it is' });
    options(this.kind, KINDS.map((kind) => [kind, KIND_NAMES[kind] ?? kind]), 'auto');
    this.up = make('select', { className: 'select', id: 'body-up', ariaLabel: 'Which axis is up' });
    options(this.up, ['y', 'z', 'x'].map((axis) => [axis, `${axis} is up`]), 'y');
    this.units = make('select', { className: 'select', id: 'body-units', ariaLabel: 'What a unit of the file is' });
    options(this.units, Object.entries(UNIT_NAMES).map(([unit, name]) => [unit, `in ${name}`]), 'm');
    for (const select of [this.up, this.units]) select.addEventListener('change', () => this.readAs({ up: this.up.value, units: this.units.value }));
    $('journey').append(...this.steps().map((step) => this.make(step)));
  }
  /** { id, title, text(), done(), ready(), actions: [[id, label, act]], more } */
  steps() {
    const { studio } = this, bodied = () => !!studio.info?.triangleCount, skinned = () => studio.skinned, plural = (n, word) => `${n.toLocaleString('en').replaceAll(',', ' ')} ${word}${n === 1 ? '' : 's'}`;
    return [
      { id: 'body', title: 'Body', ready: () => true, done: bodied, text: () => (bodied() ? `${studio.source.name}, ${plural(studio.info.vertexCount, 'vertex').replace('vertexs', 'vertices')}` : 'A mesh without a skeleton will do.'), actions: [['open', 'Open …', () => $('open').click()], ...EXAMPLES.map(({ id, name }) => [id, name, () => studio.openBuiltIn(id)])], more: [this.up, this.units] },
      { id: 'rig', title: 'Rig it', ready: () => bodied() && (!skinned() || !!studio.document.bare), done: skinned, text: () => this.rigText(), actions: [['it', 'Rig it', () => this.rig(this.kind.value)], ['joints', 'Adjust joints', () => studio.panels.selectTab('joints'), skinned]], more: [this.kind] },
      { id: 'move', title: 'Move it', ready: () => bodied() && skinned(), done: () => skinned() && !!studio.clipInfo, text: () => (studio.clipInfo ? `It plays “${studio.clipInfo.name ?? 'a clip'}”. More motions become more clips.` : this.legless ? `Built-in motions are for two legs or four, and this is ${called(studio.document.rig.kind)}: pose it by hand, or take the motion of a file.` : 'Made for any body on two legs or four; or from a BVH or another model.'), first: () => (this.legless ? MOTIONS.length : 0), actions: [...MOTIONS.map(([id, name]) => [id, name, () => this.move(id)]), ['pose', 'Pose it', () => studio.panels.selectTab('pose'), () => this.legless], ['file', 'From a file …', () => $('motion-file').click()]] },
      { id: 'compare', title: 'Compare methods', ready: skinned, done: () => skinned() && studio.state.split, text: () => 'Where linear blending loses volume, others keep it.', actions: [['it', 'Compare', () => { if (!studio.state.split) studio.panels.setSplit(true); studio.panels.selectTab('deform'); }]] },
      { id: 'reduce', title: 'Four influences', ready: () => skinned() && studio.info.maxInfluences > FOUR, done: () => skinned() && (studio.info.maxInfluences <= FOUR || (studio.state.influences > 0 && studio.state.influences <= FOUR)), text: () => (!skinned() ? 'As every player reads.' : studio.info.maxInfluences <= FOUR ? `At most ${studio.info.maxInfluences} a vertex: every player reads that.` : `Up to ${studio.info.maxInfluences} a vertex; four that deform as all did.`), actions: [['it', 'Reduce to four', () => this.reduce()]] },
      { id: 'bake', title: 'Bake', ready: () => skinned() && studio.info.description.clips.length > 0, done: () => !!studio.document?.made.includes('bake'), text: () => (skinned() && studio.info.description.clips.length ? `What “${(studio.methodList.find(({ id }) => id === this.bakedId) ?? studio.method(0)).name.toLowerCase()}” does, in ${HELPERS} helper joints that any engine plays.` : 'Puts a better method into plain joints. Needs a motion.'), actions: [['it', 'Bake', () => this.bake()]] },
      { id: 'save', title: 'Save', ready: () => !!studio.document, done: () => !!studio.document && studio.history.states.length > 1 && !studio.unsaved, text: () => 'A GLB for any engine; the sheet says what changes.', actions: [['it', 'Save …', () => studio.panels.sheet.open()]] },
    ];
  }
  make(step) {
    const text = make('p', { className: 'hint' }), buttons = make('div', { className: 'row-buttons wrap' }), item = make('li', { className: 'step' }, make('span', { className: 'dot', ariaHidden: 'true' }), make('div', {}, make('h3', { textContent: step.title }), text, buttons));
    item.dataset.step = step.id;
    step.buttons = step.actions.map(([id, label, act, when]) => {
      const button = make('button', { type: 'button', className: 'button', id: id === 'it' ? `journey-${step.id}` : `${step.id}-${id}`, textContent: label });
      button.addEventListener('click', act);
      buttons.append(button);
      return { button, when };
    });
    buttons.append(...(step.more ?? []));
    this.list = [...(this.list ?? []), Object.assign(step, { item, text: step.text, place: text })];
    return item;
  }
  /** Side whose method a bake is of: the better one of the two. */
  get baked() { return this.studio.methods[0] === 'lbs' && this.studio.offers(this.studio.methods[1]) ? 1 : 0; }
  get bakedId() { return this.studio.method(this.baked).id.replace('-weighted', ''); } // which bake has not
  /** Of a kind that the built-in motions are not for. */
  get legless() { return this.studio.skinned && LEGLESS.has(this.studio.document.rig?.kind); }
  rigText() {
    const { document, skinned, joints } = this.studio, made = document?.rig;
    if (!skinned) return 'Parts, joints and weights, from the shape alone.';
    return made ? `${sentence(KIND_NAMES[made.kind] ?? made.kind).slice(0, -1)}, ${joints.length} joints, ${made.seconds.toFixed(1)} s.` : `It has ${joints.length} joints.`;
  }
  show() {
    const { studio } = this, next = this.list.find((step) => !step.done() && step.ready());
    this.list.forEach((step, i) => {
      const done = step.done(), ready = step.ready() && !!(studio.document || step.id === 'body');
      step.item.classList.toggle('done', done);
      step.item.classList.toggle('next', step === next);
      step.item.querySelector('.dot').textContent = done ? '✓' : String(i + 1);
      const text = step.text();
      if (step.place.textContent !== text) step.place.textContent = text;
      step.buttons.forEach(({ button, when }, k) => {
        button.disabled = !ready && !when?.();
        if (when) button.hidden = !when();
        button.classList.toggle('primary', step === next && k === (step.first?.() ?? 0));
      });
    });
    if (next !== this.next) { // on a small screen it may lie below
      this.next = next;
      if (studio.tab === 'start' && studio.history.states.length > 1) next?.item.scrollIntoView({ block: 'nearest' });
    }
    this.list[1].buttons[0].button.textContent = studio.skinned ? 'Rig again' : 'Rig it';
    const bare = studio.document?.bare ?? studio.document;
    this.up.hidden = this.units.hidden = !AXELESS.test(bare?.main ?? '');
    this.up.value = bare?.options?.up ?? 'y';
    this.units.value = bare?.options?.units ?? 'm';
    this.kind.hidden = this.list[1].buttons[0].button.disabled;
    const commands = this.commands();
    $('journey-commands').parentElement.hidden = !commands;
    $('journey-commands').textContent = commands;
  }

  /** What was done to the file so far, for a terminal. */
  commands() {
    const { optimised, document } = this.studio.state, steps = (optimised ?? document)?.steps ?? [], named = (i) => (i ? `${document.name}-${i}.glb` : document.file ?? `${document.name}.glb`);
    return steps.map(([verb, ...words], i) => (words.length || verb === 'rig' ? ['cutis', verb, named(i), ...words.filter((word) => !['--keep', '--json'].includes(word)), '-o', named(i + 1)].map(quoted).join(' ') : `# ${named(i + 1)}: ${named(i)}, ${verb} in the studio`)).join('\n');
  }

  readAs(how) { return this.studio.readAs(how).then(() => this.show()); }
  /** A mesh that lies or is a hundred times as large, as the library thinks of it. */
  offerReading({ up, units, why }, notes = []) {
    const { panels, source } = this.studio, lies = up !== 'y', large = units !== 'm';
    panels.say(`${source.name} ${lies ? 'seems to lie' : ''}${lies && large ? ' and ' : ''}${large ? `seems to be in ${UNIT_NAMES[units]}` : ''}`, [`${sentence(why)} Files of its format do not say it.`, ...notes].join(' '), [[lies ? `Stand it up: ${up} is up` : `Read it in ${UNIT_NAMES[units]}`, () => this.readAs({ up, units })], ['Leave it', () => {}]]);
  }

  // Rigging ---------------------------------------------------------------------------------------
  /** The bare body gets parts, joints and weights. What fails its own check is offered, not taken. */
  async rig(kind = 'auto') {
    const { studio } = this, { panels } = studio, before = studio.state, from = before.document.bare ?? before.document, said = {};
    panels.closeNotice();
    this.point([]);
    await panels.busy({ doing: 'Rigging', failed: `${from.name} cannot be rigged` }, async () => {
      const document = await studio.derive({ from }, 'rig', ['--keep', '--json', ...(kind === 'auto' ? [] : ['--kind', kind])], [], said), report = JSON.parse(said.stdout);
      Object.assign(document, { rig: report, bare: from });
      if (report.problems.length) this.refuse(before, document, report, kind);
      else this.take(before, document, report);
    });
    panels.verbs.ran('rig', said);
  }
  take(before, document, { kind, joints, deviation, second }) {
    const { panels } = this.studio;
    if (!this.studio.replace(before, document)) return;
    panels.announce(`Rigged: ${kind}, ${joints} joints`);
    if (second && deviation > SURE && kind !== 'any') panels.say(`Taken for ${called(kind)}`, 'Its limbs lie unlike those of most. If it is something else, say what.', [...this.otherwise(), ['It is right', () => {}]]);
  }
  /** Ways to say that a body is another one than it was taken for. */
  otherwise() {
    const { document: { rig: made, bare } } = this.studio; // what was opened again after a reload has no bare body
    return bare && made?.second && made.second !== 'any' ? [[`Rig it as ${called(made.second)}`, () => this.rig(made.second)]] : [];
  }
  /** In words what is missing, and where on the body. */
  refuse(before, document, { kind, problems }, asked) {
    const { studio } = this, { panels } = studio, nodes = turn.places(document.info.description.nodes), { bounds } = document.info;
    this.point(problems.map((text) => ({ text, at: this.placeOf(text, document.info.description.nodes, nodes, bounds) })));
    const other = asked === 'any' || kind === 'any' ? [] : [['Rig it as any shape', () => { studio.discard(document); this.rig('any'); }]];
    panels.notice(`It could not be rigged${kind === 'any' ? '' : ` as ${called(kind)}`}`, `${problems.map(sentence).join(' ')} Say what it is and rig it again, mend the mesh there, or go on:`, false, [...other, ['Take it as it is', () => { this.point([]); this.take(before, document, document.rig); }]], () => { this.point([]); studio.discard(document); });
  }
  placeOf(text, nodes, places, { min, max, middle }) {
    const told = /\baround (\S+), (\S+), (\S+)$/.exec(text);
    if (told) return told.slice(1).map(Number);
    const [, joint] = /joint (\S+) moves/.exec(text) ?? [], at = nodes.findIndex(({ name }) => name === joint), limb = Object.keys(HEIGHTS).find((each) => new RegExp(`\\b${each}s?\\b`).test(text));
    if (at >= 0) return places[at];
    if (!limb) return middle;
    const found = nodes.findIndex(({ name }) => name && new RegExp(`^${limb === 'leg' ? 'thigh|leg' : limb === 'arm' ? 'upperarm|arm' : limb}.*_[lr]$`).test(name)), [x, , z] = middle;
    return found >= 0 ? [2 * x - places[found][0], places[found][1], places[found][2]] : [x, min[1] + HEIGHTS[limb] * (max[1] - min[1]), z];
  }
  /** Pins on the body: [{ at, text }]. */
  point(pins) {
    this.pins = pins.map((pin) => ({ ...pin, element: make('div', { className: 'pin' }, make('b', { textContent: '!' }), make('span', { textContent: sentence(pin.text) })) }));
    $('pins').replaceChildren(...this.pins.map(({ element }) => element));
    this.studio.viewport.invalidate();
  }
  placePins() {
    for (const { at, element } of this.pins) {
      const [x, y] = this.studio.viewport.project(at);
      element.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
  }

  // Motions ---------------------------------------------------------------------------------------
  async cast(legs) {
    if (!this.casts.has(legs)) {
      const response = await fetch(CASTS[legs]);
      if (!response.ok) throw new Error(`${CASTS[legs]}: the server says ${response.status}`);
      this.casts.set(legs, new File([await response.blob()], CASTS[legs].split('/').at(-1)));
    }
    return this.casts.get(legs);
  }
  /** A built-in motion: played where the model has it, else put on it; of two legs or four, as the body takes it. */
  async move(name) {
    const { studio } = this, have = studio.info.description.clips.findIndex((clip) => clip.name === name);
    if (have >= 0) { studio.setClip(have); studio.setPlaying(true); return; }
    const four = studio.document.rig?.kind === 'quadruped' || studio.info.description.nodes.some((node) => ON_FOUR.test(node.name ?? ''));
    await this.put(`Putting ${name} on it`, async (from) => {
      let reason = new Error(`its body has neither two legs nor four`);
      for (const legs of four ? ['four', 'two'] : ['two', 'four']) {
        if (legs === 'four' && name === 'wave') continue;
        const file = await this.cast(legs);
        try { return await studio.derive(from, 'retarget', ['--motion', file.name, '--clip', name], [file]); } catch (error) { if (error instanceof Cancelled) throw error; if (legs === (four ? 'four' : 'two')) reason = error; }
      }
      throw Object.assign(reason, { unfit: true });
    }, studio.document.rig && (() => {
      const { rig: { kind } } = studio.document;
      studio.panels.notice(`It cannot ${name}`, `It was rigged as ${called(kind)}; ${name === 'wave' ? 'waving needs two legs' : 'built-in motions need two legs or four'}. If it is something else, say what and rig it again; or pose it by hand, or take the motion of a file.`, false, [...(LEGLESS.has(studio.document.rig.second) ? [] : this.otherwise()), ['Pose it', () => studio.panels.selectTab('pose')], ['From a file …', () => $('motion-file').click()]]);
    }));
  }
  /** The motion of a file: a BVH, or the first clip of any model. */
  async motionFile(files) {
    const [file] = files;
    await this.put(`Putting ${file.name} on it`, (from) => this.studio.derive(from, 'retarget', ['--motion', file.name], files));
  }
  /** @param unfit says it in other words, where it does not fit */
  async put(doing, work, unfit = null) {
    const { studio } = this, before = studio.state;
    studio.panels.closeNotice();
    await studio.panels.busy({ doing, failed: 'The motion does not fit' }, async () => {
      let document;
      try { document = await work(studio.reduced); } catch (error) { if (!error.unfit || !unfit) throw error; unfit(); return; }
      if (studio.replace(before, document, document.info.description.clips.length - 1)) studio.setPlaying(true);
    });
  }

  // The rest --------------------------------------------------------------------------------------
  async reduce() {
    const { studio } = this;
    if (studio.state.influences !== FOUR) studio.edit({ influences: FOUR, optimised: null });
    await studio.optimise();
  }
  bake() {
    return this.studio.runVerb('bake', ['--method', this.bakedId, '--helpers', String(HELPERS), '--influences', String(FOUR)]);
  }
}
