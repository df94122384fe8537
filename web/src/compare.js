// Comparing methods on the stage: the wipe, whole bodies side by side, blinking, differences drawn larger, and curves of error and
// volume over the clip under the scrubber. What is measured is measured by the stage worker (`series`); here it is asked for and drawn.
import { Cancelled } from './client.js';
import { makeReport } from './report.js';
import { $, checkRadio, download, figure, setSlider } from './dom.js';

const LOW_CELL = 300; // pixels of height below which a body's tag is a letter alone
const BLINK = 700, MOST_FRAMES = 240, FPS = 30, CHUNK = 3, WAIT = 350; // milliseconds; frames of a clip, a second and a question
export const SIDES = 'ABCD';
const ABOUT = {
  wipe: 'One body, cut by the divider: drag it.', side: 'Whole bodies with one camera.', blink: 'A and B in turn, at the same place: what differs jumps.',
};

export class Compare {
  constructor(studio) { Object.assign(this, { studio, factor: 1, shows: 'error', series: null, serial: 0, phase: 0 }); }
  get on() { return this.studio.state.split && this.studio.canSplit; }
  get layout() { return this.on ? this.studio.state.layout : null; }
  get bodies() { return this.layout === 'side' ? this.studio.state.bodies : 2; }
  /** What the sides are, for the worker. */
  choices() {
    const { studio } = this;
    return Array.from({ length: this.on ? this.bodies : 2 }, (_, i) => { const { method, weighted } = studio.method(i); return { method, weighted, exact: studio.state.exact }; });
  }
  wire() {
    const { studio } = this, curve = $('curve-plot');
    $('layout').addEventListener('change', ({ target }) => studio.edit({ layout: target.value }));
    $('bodies').addEventListener('change', ({ target }) => studio.edit({ bodies: Number(target.value) }));
    $('factor').addEventListener('input', ({ target }) => { this.factor = Number(target.value); this.show(); studio.frames.changed(); });
    $('curve-shows').addEventListener('change', ({ target }) => { this.shows = target.value; this.draw(); });
    $('worst').addEventListener('click', () => this.toWorst());
    $('compare-report').addEventListener('click', () => this.report());
    const go = (event) => { const rect = curve.getBoundingClientRect(); studio.setPlaying(false); studio.seek(((event.clientX - rect.left) / rect.width) * (studio.clipInfo?.duration ?? 0)); };
    curve.addEventListener('pointerdown', (event) => { curve.setPointerCapture(event.pointerId); go(event); });
    curve.addEventListener('pointermove', (event) => { if (curve.hasPointerCapture(event.pointerId)) go(event); });
    new ResizeObserver(() => this.draw()).observe(curve);
  }
  /** Controls, and curves of what is compared now. */
  show() {
    const { studio } = this, { layout, bodies } = studio.state;
    $('compare-section').hidden = !this.on;
    $('curve').hidden = !this.on || !studio.clipInfo;
    checkRadio('layout', layout);
    checkRadio('bodies', String(bodies));
    $('bodies').hidden = layout !== 'side';
    $('layout-about').textContent = ABOUT[layout];
    setSlider($('factor'), this.factor);
    $('factor').nextElementSibling.textContent = `× ${this.factor}`;
    document.querySelectorAll('.methods').forEach((list) => { list.dataset.bodies = this.on ? this.bodies : 2; });
    this.setBlink(layout === 'blink' && this.on);
    this.measure();
  }
  setBlink(on) {
    if (!on === !this.timer) return;
    clearInterval(this.timer);
    this.timer = on ? setInterval(() => { this.phase = 1 - this.phase; this.place(); this.studio.viewport.invalidate(); }, BLINK) : 0;
    this.phase = 0;
  }
  /** How the stage is divided, and where the names of the sides stand. */
  place() {
    const { viewport, panels } = this.studio, { layout } = this, tags = [...SIDES.toLowerCase()].map((side) => $(`tag-${side}`));
    const bodies = layout === 'side' ? this.bodies : 0, other = viewport.bodies !== bodies;
    viewport.bodies = bodies;
    viewport.split = layout === 'wipe' ? panels.dividerAt : layout === 'blink' ? 1 - this.phase : null;
    $('divider').hidden = layout !== 'wipe';
    const cells = viewport.cells();
    if (other) { viewport.fit(cells[0]); viewport.refit(); }
    tags.forEach((tag, i) => {
      tag.hidden = i >= (this.on ? this.bodies : 1) || (layout === 'blink' && i !== this.phase);
      tag.classList.toggle('placed', layout === 'side' || layout === 'blink');
      tag.classList.toggle('bare', layout === 'side' && cells[0].height < LOW_CELL); // it would hide a head
      tag.style.left = layout === 'side' ? `${cells[i]?.x + 12}px` : layout === 'blink' ? '16px' : '';
      tag.style.top = layout === 'side' ? `${cells[i]?.y + 12}px` : '';
      tag.style.maxWidth = layout === 'side' ? `${(cells[i]?.width ?? 0) - 24}px` : '';
    });
    $('stage').dataset.layout = layout ?? '';
  }

  // Over the clip ---------------------------------------------------------------------------------
  /** What a series is of: when it differs, it is measured anew. */
  get subject() {
    const { id } = this.studio.document, { strokes, clip, methods, pose, influences, optimised } = this.studio.state;
    return JSON.stringify([id, strokes, clip, methods.slice(0, this.bodies), pose, influences, optimised?.id]);
  }
  measure() {
    if (!this.on || !this.studio.clipInfo || this.series?.subject === this.subject) { this.draw(); return; }
    this.series = { subject: this.subject, done: 0, times: [], errors: [], largest: [], volumes: [] };
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.gather(this.series).catch((error) => { if (!(error instanceof Cancelled)) $('curve-about').textContent = error.message; }), WAIT);
    this.draw();
  }
  async gather(series) {
    const { studio } = this, { frames } = studio, { duration } = studio.clipInfo, count = Math.max(2, Math.min(MOST_FRAMES, Math.round(duration * FPS) + 1)), request = frames.request(0);
    Object.assign(series, { count, step: duration / (count - 1) });
    for (let first = 0; first < count && this.series === series; first += CHUNK) {
      const times = Array.from({ length: Math.min(CHUNK, count - first) }, (_, i) => (first + i) * series.step);
      const { id, variant, strokes, clip, layer, influences } = request, part = await studio.stage.call('series', { id, variant, strokes, clip, layer, influences, sides: this.choices(), times });
      if (this.series !== series) return;
      series.times.push(...times);
      for (const key of ['errors', 'largest', 'volumes']) series[key].push(...part[key]);
      series.done = series.times.length;
      this.draw();
    }
  }
  get ready() { return !!this.series && this.series.done > 0 && this.series.done === this.series.count; }
  /** The frame where some side is farthest from A. */
  get worst() {
    const { times = [], errors = [] } = this.series ?? {};
    let best = -1, most = -1;
    errors.forEach((list, f) => { const error = Math.max(...list.slice(1)); if (error > most) { most = error; best = f; } });
    return best < 0 ? null : { frame: best, time: times[best], error: most };
  }
  toWorst() {
    const { worst, studio } = this;
    if (!worst) return;
    studio.setPlaying(false);
    studio.seek(worst.time);
    studio.panels.announce(`The worst frame, at ${worst.time.toFixed(2)} seconds: ${figure(worst.error)} % apart`);
  }
  /** Curves: RMS distance of each side from A, or volume against rest of every side. */
  lines() {
    const { errors, volumes } = this.series, list = this.shows === 'error' ? errors : volumes;
    return Array.from({ length: this.bodies }, (_, i) => list.map((row) => row[i])).map((values, i) => (this.shows === 'error' && i === 0 ? [] : values));
  }
  draw() {
    const canvas = $('curve-plot'), { studio } = this;
    if ($('curve').hidden || !this.series || !canvas.clientWidth) return;
    this.align();
    const ratio = Math.min(devicePixelRatio, 2), width = canvas.clientWidth, height = canvas.clientHeight, context = canvas.getContext('2d'), style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name).trim();
    if (!width) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const lines = this.lines(), all = lines.flat().filter(Number.isFinite), high = Math.max(0, ...all), low = Math.min(0, ...all), span = high - low || 1, { count = 2, times } = this.series;
    const x = (f) => (f / (count - 1)) * width, y = (value) => height - 3 - ((value - low) / span) * (height - 8);
    context.strokeStyle = color('--line');
    context.beginPath();
    context.moveTo(0, y(0));
    context.lineTo(width, y(0));
    context.stroke();
    lines.forEach((values, i) => {
      context.strokeStyle = color(['--accent', '--curve-b', '--curve-c', '--curve-d'][i]);
      context.lineWidth = 1.6;
      context.beginPath();
      values.forEach((value, f) => { if (f) context.lineTo(x(f), y(value)); else context.moveTo(x(f), y(value)); });
      context.stroke();
    });
    const { worst } = this;
    if (worst && this.ready && this.shows === 'error') {
      context.fillStyle = color('--danger');
      context.beginPath();
      context.arc(x(worst.frame), y(worst.error), 3.2, 0, 7);
      context.fill();
    }
    context.fillStyle = color('--muted');
    context.fillRect((studio.time / (studio.clipInfo?.duration || 1)) * width - 0.5, 0, 1, height);
    this.tell(all, high, low, times.length);
  }
  /** The curve lies below the scrubber, so that its times are the scrubber's. */
  align() {
    const scrub = $('scrub').getBoundingClientRect(), { left } = $('curve').getBoundingClientRect(), key = `${scrub.left - left} ${scrub.width}`;
    if (key === this.aligned) return;
    this.aligned = key;
    $('curve').style.setProperty('--plot-left', `${scrub.left - left + 8}px`); // half a thumb: where its track's ends are
    $('curve').style.setProperty('--plot-width', `${scrub.width - 16}px`);
  }
  tell(all, high, low) {
    const { ready, worst } = this, range = this.shows === 'error' ? `${figure(worst?.error ?? 0)} % RMS` : `${low.toFixed(1).replace('-', '−')} … ${high.toFixed(1)} %`;
    $('curve-about').textContent = ready ? range : `${Math.round((100 * (this.series.done ?? 0)) / (this.series.count || 1))} %`;
    $('worst').disabled = !ready || !worst?.error;
    $('curve-plot').setAttribute('aria-label', `${this.shows === 'error' ? 'Distance from A' : 'Volume against rest'} over the clip: ${ready ? range : 'being measured'}`);
    const shown = this.shows === 'error' ? 1 : 0;
    [...$('curve-keys').children].forEach((key, i) => { key.hidden = i < shown || i >= this.bodies; });
  }
  /** The page of `cutis compare`: its figures by the command, curves and pictures by the page. */
  async report() {
    const { studio } = this;
    studio.setPlaying(false);
    await studio.panels.busy({ doing: 'The report', failed: 'The report was not made' }, async () => { download(await makeReport(studio, this), `${studio.source.name}-compare.html`); studio.panels.announce('The report is saved'); });
  }
}
