// From the state to the stage: asks the stage worker for a frame, at most one at a time and always the newest, and shows the
// answer. Arrays go back and forth; none is copied on the page's thread.
import { Cancelled } from './client.js';
import * as turn from './turn.js';

const MEASURE_EVERY = 200; // milliseconds between measures while a clip plays
const SLOW_FRAME = 38; // milliseconds from frame to frame beyond which shadows are redrawn seldom, and quality falls
const TELL_EVERY = 120, TELL_FRAMES = 4; // milliseconds, and frames, between times that are told where the stage is drawn in low quality: painting them costs a tenth of a frame
const MOST_SPARE = 8;
const BARE = { cage: null, split: false, factor: 1, handles: null, brush: null, partial: false, colors: null, show: { kind: 'none', node: -1 }, measure: false, spare: [] }; // a frame that is not for the stage

/** Without the slowest quarter: the first frames compile, and a busy machine hiccups. */
function trimmedMean(list) {
  const kept = [...list].sort((a, b) => a - b).slice(0, Math.ceil(0.75 * list.length));
  return kept.length ? kept.reduce((a, b) => a + b, 0) / kept.length : 0;
}

export class Frames {
  constructor(studio) {
    this.studio = studio;
    this.spare = [];
    this.shown = null; // the last answer: { pose, world, ... }
    this.speed = { skin: [], frame: [] };
    this.stale = this.flying = this.scheduled = false;
    this.top = this.lastTick = this.measuredAt = this.toldAt = this.untold = 0;
    this.jumped = true; // another document or clip: the body may be anywhere
  }
  get busy() { return this.stale || this.flying || this.studio.viewport.dirty; }
  get means() { return { skin: trimmedMean(this.speed.skin), frame: trimmedMean(this.speed.frame) }; }
  /** What was measured of another model or method counts no more. */
  forget() { this.top = 0; this.speed.skin = []; }
  begin() { this.lastTick = 0; this.speed.frame = []; this.changed(); }
  changed() { this.stale = true; this.schedule(); }
  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame((now) => { this.scheduled = false; this.tick(now); });
  }
  tick(now) {
    const { studio } = this, { viewport } = studio;
    if (!studio.document) { this.stale = viewport.dirty = false; return; }
    if (studio.playing) this.advance(now);
    if (this.stale && !this.flying) this.ask(now);
    if (viewport.dirty) viewport.render(now);
    if (viewport.shapeMoved && !studio.playing) { viewport.slow = false; viewport.invalidate(); } // the last shadow is of the shape that stays
    if (studio.playing) this.schedule();
    studio.panels.showSpeed();
  }
  advance(now) {
    const { studio } = this, { duration } = studio.clipInfo;
    if (this.lastTick) {
      studio.time = studio.loop(studio.time + (studio.pace * (now - this.lastTick)) / 1000, duration);
      this.keep('frame', now - this.lastTick);
      studio.viewport.slow = this.speed.frame.length > 4 && this.means.frame > SLOW_FRAME;
      studio.panels.view.frame(studio.viewport.slow, (now - this.lastTick) / 1000);
    }
    this.lastTick = now;
    this.stale = true;
    if (!studio.viewport.low || (++this.untold >= TELL_FRAMES && now - this.toldAt > TELL_EVERY)) { this.toldAt = now; this.untold = 0; studio.panels.showTime(); }
  }
  keep(name, milliseconds) { if (this.speed[name].push(milliseconds) > 40) this.speed[name].shift(); }
  /** What the worker needs to know of the present state. */
  request(now) {
    const { studio } = this, { state, inHandles } = studio, inJoints = studio.inJoints || !!studio.cages.draft, measure = !studio.playing || now - this.measuredAt > MEASURE_EVERY;
    if (measure) this.measuredAt = now;
    const kind = studio.brush.active ? 'weights' : inHandles ? (studio.handleMode === 'place' || state.show === 'weights' ? 'weights' : 'none') : studio.fresh ? 'joints' : studio.skinned ? state.show : 'none';
    return {
      id: state.document.id, variant: inHandles ? null : state.optimised?.id ?? null, clip: inJoints ? -1 : state.clip, time: studio.time,
      morphs: Object.entries(state.morphs ?? {}).map(([i, value]) => [Number(i), value]), layer: Object.entries(inJoints ? {} : state.pose).map(([node, values]) => [Number(node), values]),
      sides: inHandles || !studio.skinned ? [{ method: 0, exact: state.exact }] : studio.compare.choices(), split: studio.compare.on, factor: studio.compare.factor,
      influences: inHandles || inJoints ? 0 : state.influences, handles: inHandles ? studio.handleArrays() : null,
      cage: studio.cages.bound ? studio.cages.controls : null,
      strokes: inHandles ? [] : state.strokes, brush: null, partial: false, colors: this.shown ? this.colorsKey : null,
      show: { kind, node: inHandles ? studio.handle : studio.joint }, top: this.top, measure, spare: this.spare.splice(0),
    };
  }
  async ask(now) {
    const { studio } = this, asked = this.request(now), { state } = studio;
    asked.brush = studio.brush.take();
    const posed = JSON.stringify([asked.id, asked.variant, asked.clip, asked.time, asked.layer, asked.morphs, asked.sides, asked.influences, asked.handles]);
    asked.partial = !!this.shown && posed === this.posed && !!asked.brush; // what the dabs changed is all that moved
    this.posed = posed;
    this.stale = false;
    this.flying = true;
    try {
      const answer = await studio.stage.call('frame', asked, asked.spare);
      if (studio.document === state.document) this.take(answer, asked);
    } catch (error) {
      if (!(error instanceof Cancelled) && studio.document === state.document) this.failed(error);
    } finally {
      this.flying = false;
      if (this.stale) this.schedule();
    }
  }
  failed(error) {
    const { studio } = this;
    if (studio.inHandles) { studio.panels.fail('No weights for these handles', error.message); return; }
    studio.setPlaying(false);
    const tools = [...error.message.matchAll(/cutis (\w+) --/g)].map(([, tool]) => tool);
    studio.panels.notice(`${studio.method(0).name} cannot do this model`, error.message, false, tools.map((tool) => [`To the tool “${tool}”`, () => studio.panels.verbs.choose(tool)]));
    if (studio.methods.some((id) => id !== 'lbs')) studio.amend({ methods: studio.methods.map(() => 'lbs') });
  }
  take(answer, asked) {
    const { studio } = this, { viewport, panels } = studio, { sides, colors, colorPart } = answer.transfer;
    if (answer.still && !colors) { this.takePart(answer, asked); return; }
    this.shown = answer;
    studio.document.look.warm = studio.document.look.warm?.dispose();
    if (sides.length) this.keep('skin', answer.skin);
    sides.forEach((arrays, i) => this.spare.push(...viewport.update(i, arrays)));
    this.spare.length = Math.min(this.spare.length, MOST_SPARE);
    if (sides.length) viewport.setOwn(answer.transfer.own ?? null);
    studio.compare.place();
    if (colorPart) viewport.paintPart(colorPart);
    else if (colors || !answer.paint) { if (sides.length) viewport.setPaint(colors ?? null, asked.show.kind === 'error' ? [0] : [0, 1, 2, 3]); }
    this.colorsKey = answer.paint?.key ?? null;
    this.top = answer.paint?.top ?? 0;
    viewport.setGround(answer.lie.min[1], studio.playing);
    viewport.follow(answer.lie.middle, this.jumped);
    this.jumped = false;
    this.showMarkers(answer.world);
    if (answer.brush) studio.brush.told(answer.brush, asked.brush);
    if (answer.measures) panels.pages.showMeasures(answer.measures);
    panels.showFrame(answer, asked);
  }
  /** What the brush changed in a frame that is shown already. */
  takePart({ transfer: { part, colorPart }, paint, brush }, asked) {
    const { viewport, brush: own } = this.studio;
    if (part) viewport.updatePart(part);
    if (colorPart) viewport.paintPart(colorPart);
    this.colorsKey = paint?.key ?? null;
    own.told(brush, asked.brush);
  }
  showMarkers(world) {
    const { studio } = this, { viewport, joints, joint } = studio, { nodes } = studio.info.description;
    if (studio.cages.active) {
      const { control } = studio.cages;
      studio.cages.draw();
      viewport.setMarkers(studio.cages.markers, control, { bones: false, size: studio.cages.markers.length > 60 ? 8 : 11 });
      viewport.setGrip('translate', studio.cages.place(control));
      return;
    }
    if (studio.tab === 'handles') {
      const list = studio.inHandles ? studio.handles : [], i = studio.handle;
      viewport.setMarkers(studio.handleMarkers(list), i, { bones: list.some(({ to }) => to), size: 15 });
      viewport.setGrip(list.length ? studio.handleGrip : null, list.length ? studio.handlePosition(i) : null, list[i]?.turn);
      return;
    }
    const { inJoints } = studio, at = (node) => (inJoints ? studio.panels.joints.place(node) : [world[12 * node + 3], world[12 * node + 7], world[12 * node + 11]]), place = new Map(joints.map((node, i) => [node, i]));
    const visible = studio.showsBones && (studio.info.description.skins.length > 0 || !studio.info.triangleCount);
    viewport.setMarkers(visible ? joints.map((node) => ({ position: at(node), parent: place.get(nodes[node].parent) ?? -1 })) : [], joints.indexOf(joint), inJoints ? { size: 13 } : {});
    if (inJoints) { viewport.setGrip(joint >= 0 ? 'translate' : null, joint >= 0 ? at(joint) : null); return; }
    const turning = visible && !viewport.bodies && studio.tab === 'pose' && joint >= 0 && !nodes[joint].hasMatrix;
    viewport.setGrip(turning ? 'rotate' : null, turning ? at(joint) : null, turning ? turn.fromMatrix(world, 12 * joint) : null);
  }
  /** The pose of the present state, though another one may still be shown. */
  async pose() { return (await this.studio.stage.call('frame', { ...this.request(0), ...BARE, variant: null, influences: 0, sides: [{ method: 0 }] })).pose; }
  /** All sides at a time of the clip, whole and without markers, as a data URL; the stage is drawn again before anyone sees it. */
  async sheet(time, painted) {
    const { studio } = this, { viewport } = studio, asked = { ...this.request(0), brush: null, partial: false, colors: null, factor: 1, split: true, sides: studio.compare.choices(), time, spare: [], measure: false, show: { kind: painted ? 'error' : 'none', node: -1 } };
    const { transfer: { sides, colors }, lie } = await studio.stage.call('frame', asked);
    sides.forEach((arrays, i) => viewport.update(i, arrays));
    viewport.setPaint(colors ?? null, [0]);
    viewport.follow(lie.middle, true);
    const picture = viewport.sheet(sides.length);
    this.shown = null;
    this.changed();
    return picture;
  }
  /** Small pictures of the example poses, one after the other. */
  async thumbnails(size, each) {
    const { studio } = this, { document } = studio, { poseCount } = studio.info.description.poseSpace;
    for (let k = 0; k < poseCount; k++) {
      const asked = { ...this.request(0), clip: -1, layer: Object.entries(studio.examplePose(k)).map(([node, values]) => [Number(node), values]), ...BARE };
      const answer = await studio.stage.call('frame', asked);
      if (studio.document !== document) return;
      each(k, studio.viewport.thumbnail(answer.transfer.sides[0], size));
    }
  }
}
