// How the stage looks: wireframe, light, background, quality. Of this browser, not of the work: kept in local storage, no step of the
// history. Quality falls by itself where frames stay slow, and says so.
import { $, checkRadio, fill } from './dom.js';

const SLOW_SECONDS = 1.5, SLOW_FRAMES = 8; // for how long, and for how many frames, they are slow before quality falls
const LOWEST = 2; // steps that it can fall
const stored = (name, otherwise) => localStorage.getItem(`view-${name}`) ?? otherwise;

export class View {
  constructor(studio) {
    this.studio = studio;
    Object.assign(this, { slow: { seconds: 0, frames: 0 }, fell: 0 });
    const { viewport } = studio, keep = (name, value) => localStorage.setItem(`view-${name}`, value);
    $('tool-wire').addEventListener('click', () => { viewport.setWire(!viewport.wired); $('tool-wire').setAttribute('aria-pressed', viewport.wired); });
    $('tool-view').addEventListener('click', () => this.open($('view-menu').hidden));
    addEventListener('pointerdown', ({ target }) => { if (!target.closest?.('#view-menu, #tool-view')) this.open(false); });
    $('view-menu').addEventListener('keydown', (event) => { if (event.key === 'Escape') { this.open(false); $('tool-view').focus(); event.stopPropagation(); } });
    $('view-light').addEventListener('input', ({ target }) => { viewport.setLight(Number(target.value)); keep('light', target.value); });
    $('view-back').addEventListener('change', ({ target }) => { viewport.setBackground(target.value); keep('back', target.value); });
    $('view-quality').addEventListener('change', ({ target }) => { this.quality = target.value; keep('quality', target.value); this.apply(); });
    this.quality = stored('quality', 'auto');
    checkRadio('view-quality', this.quality);
    checkRadio('view-back', stored('back', 'studio'));
    $('view-light').value = stored('light', '-35');
    fill($('view-light'));
    viewport.setLight(Number($('view-light').value));
    viewport.setBackground(stored('back', 'studio'));
    this.apply();
  }
  open(open) {
    $('view-menu').hidden = !open;
    for (const name of ['aria-expanded', 'aria-pressed']) $('tool-view').setAttribute(name, open);
  }
  get low() { return this.quality === 'low' ? Math.max(1, this.fell) : this.quality === 'auto' ? this.fell : 0; }
  apply() {
    this.studio.viewport.setLow(this.low);
    $('view-about').textContent = !this.low ? '' : `${this.quality === 'auto' ? 'Frames were slow: drawn' : 'Drawn'} without shadows, with fewer pixels. Pictures that are saved have all of it.`;
  }
  /** A frame of a clip that plays. @param slow whether frames are; how long this one took, seconds */
  frame(slow, seconds) {
    if (!slow || this.quality === 'high' || this.fell === LOWEST) { this.slow = { seconds: 0, frames: 0 }; return; }
    this.slow.seconds += seconds;
    if (++this.slow.frames < SLOW_FRAMES || this.slow.seconds < SLOW_SECONDS) return;
    if (!this.low) this.studio.panels.announce('Frames are slow: the stage is drawn in low quality');
    this.slow = { seconds: 0, frames: 0 };
    this.fell = this.low + 1;
    this.studio.frames.begin();
    this.apply();
  }
}
