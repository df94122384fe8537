// How the stage looks: wireframe, light, background, quality. Of this browser, not of the work: kept in local storage, no step of the
// history. Quality falls by itself where frames stay slow, and says so.
import { $, checkRadio, fill } from './dom.js';

const SLOW_FRAMES = 60; // frames in a row that are slow before quality falls
const stored = (name, otherwise) => localStorage.getItem(`view-${name}`) ?? otherwise;

export class View {
  constructor(studio) {
    this.studio = studio;
    this.slow = 0;
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
  apply() {
    this.studio.viewport.setLow(this.quality === 'low' || (this.quality === 'auto' && !!this.fell));
    $('view-about').textContent = this.quality === 'auto' && this.fell ? 'Frames were slow: drawn without shadows, with fewer pixels.' : this.quality === 'low' ? 'Without shadows, with fewer pixels.' : '';
  }
  /** A frame of a clip that plays took long, or not. */
  frame(slow) {
    this.slow = slow ? this.slow + 1 : 0;
    if (this.slow < SLOW_FRAMES || this.fell || this.quality !== 'auto') return;
    this.fell = true;
    this.apply();
    this.studio.panels.announce('Frames are slow: the stage is drawn in low quality');
  }
}
