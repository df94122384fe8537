// The page's frame: messages, bar, stage, timeline and tabs. `show` puts every control to what the state says; no computing here.
import { BUILT_IN, EXAMPLES } from './characters.js';
import { Cancelled } from './client.js';
import { drawRamp } from './colormap.js';
import { ACCEPT, droppedFiles } from './files.js';
import { Joints } from './joints.js';
import { Journey } from './journey.js';
import { wireKeys } from './keys.js';
import { Pages } from './pages.js';
import { Recovery } from './recover.js';
import { Scene } from './scene.js';
import { Sheet } from './sheet.js';
import { Verbs } from './verbs.js';
import { View } from './view.js';
import { $, fill, large, make, options, put, setSlider, short } from './dom.js';

export class Panels {
  constructor(studio) {
    this.studio = studio;
    this.dividerAt = 0.5;
    this.working = 0; // things the user waits for
    const dark = matchMedia('(prefers-color-scheme: dark)'), system = () => (dark.matches ? 'dark' : 'light');
    this.setTheme(localStorage.getItem('theme') ?? system(), false);
    dark.addEventListener('change', () => { if (!localStorage.getItem('theme')) this.setTheme(system(), false); });
    this.fillCharacters();
    this.wireBar();
    this.wireDrop();
    this.wireStage();
    this.wireTimeline();
    this.wireTabs();
    this.sheet = new Sheet(studio);
    this.verbs = new Verbs(studio);
    this.pages = new Pages(studio);
    this.journey = new Journey(studio);
    this.joints = new Joints(studio);
    this.scene = new Scene(studio);
    this.recovery = new Recovery(studio);
    this.view = new View(studio);
    wireKeys(studio, this);
    document.addEventListener('input', ({ target }) => { if (target.type === 'range') fill(target); });
    for (const slider of document.querySelectorAll('input[type="range"]')) fill(slider);
    addEventListener('beforeunload', (event) => { if (studio.unsaved) { event.preventDefault(); event.returnValue = true; } });
  }
  begin(version) {
    $('version').textContent = version ?? '';
    this.pages.makeMethods();
    this.show();
  }

  // Messages --------------------------------------------------------------------------------------
  fail(title, text) { this.notice(title, text, false); }
  say(title, text, actions = []) { this.notice(title, text, true, actions); }
  notice(title, text, info, actions = [], closed = null) {
    this.closeNotice();
    this.closed = closed;
    $('notice').hidden = false;
    $('notice').classList.toggle('info', info);
    $('notice-title').textContent = title;
    $('notice-text').textContent = text;
    $('notice-actions').hidden = !actions.length;
    $('notice-actions').replaceChildren(...actions.map(([label, act], i) => {
      const button = make('button', { type: 'button', className: i ? 'button' : 'button primary', textContent: label });
      button.addEventListener('click', () => { this.closed = null; this.closeNotice(); act(); });
      return button;
    }));
  }
  closeNotice() { const { closed } = this; this.closed = null; $('notice').hidden = true; closed?.(); }
  announce(text) { $('announce').textContent = text; }
  /** Runs work with a sign that it runs, how far it is and a way to cancel; a failure becomes a message. */
  async busy({ doing, failed }, work, { cancel = () => this.studio.stop() } = {}) {
    this.working++;
    this.cancel = cancel;
    this.doing = doing;
    this.progress('', null);
    const timer = setTimeout(() => { $('busy').hidden = false; }, 120);
    try {
      await work();
    } catch (error) {
      if (error instanceof Cancelled) this.announce(`${doing}: cancelled`);
      else this.fail(failed, error.message || String(error));
      this.fillCharacters();
    } finally {
      clearTimeout(timer);
      this.working--;
      if (!this.working) { $('busy').hidden = true; this.cancel = null; }
    }
  }
  progress(stage, fraction) {
    if (!this.working) return;
    $('busy-text').textContent = stage ? `${this.doing}: ${stage}` : `${this.doing} …`;
    $('busy-bar').hidden = fraction === null;
    if (fraction !== null) $('busy-bar').value = fraction;
    $('busy-cancel').hidden = !this.cancel;
  }

  // Bar -------------------------------------------------------------------------------------------
  fillCharacters() {
    const { document, recent } = this.studio, file = document?.file ?? null, option = (value, textContent, selected) => make('option', { value, textContent, selected });
    const listed = (list) => list.map(({ id, name, detail }) => option(id, detail ? `${name} · ${detail}` : name, !file && id === document?.name));
    const groups = [make('optgroup', { label: 'Built in' }, ...listed(BUILT_IN)), make('optgroup', { label: 'To be rigged' }, ...listed(EXAMPLES))];
    if (recent.length) groups.push(make('optgroup', { label: 'Opened' }, ...recent.map(({ name }, i) => option(`file ${i}`, name, name === file))));
    $('character').replaceChildren(...(document ? [] : [option('', 'Nothing is open', true)]), ...groups);
  }
  setTheme(theme, keep = true) {
    document.documentElement.dataset.theme = theme;
    if (keep) localStorage.setItem('theme', theme);
    this.studio.viewport.setLook(theme === 'dark');
    if (this.studio.document) this.pages.fillExamples(); // their pictures have the stage's light
    this.studio.compare.draw(); // in the theme's colours
    this.studio.frames.changed();
  }
  wireBar() {
    const { studio } = this, open = $('file');
    open.accept = ACCEPT;
    $('character').addEventListener('change', ({ target }) => {
      const [, index] = /^file (\d+)$/.exec(target.value) ?? [];
      if (index) studio.openFiles(studio.recent[index].files); else if (target.value) studio.openBuiltIn(target.value);
    });
    $('open').addEventListener('click', () => open.click());
    open.addEventListener('change', () => { const files = [...open.files]; open.value = ''; if (files.length) studio.openFiles(files); });
    $('undo').addEventListener('click', () => studio.undo());
    $('redo').addEventListener('click', () => studio.redo());
    $('save-glb').addEventListener('click', () => this.sheet.open());
    $('save-picture').addEventListener('click', () => studio.savePicture().then(() => this.announce('Picture saved'), (error) => this.fail('The picture was not saved', error.message)));
    $('theme').addEventListener('click', () => this.setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
    $('help').addEventListener('click', () => $('keys').showModal());
    $('notice-close').addEventListener('click', () => this.closeNotice());
    $('busy-cancel').addEventListener('click', () => this.cancel?.());
  }
  wireDrop() {
    let inside = 0;
    const files = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');
    addEventListener('dragenter', (event) => { if (files(event)) { inside++; $('drop').hidden = false; event.preventDefault(); } });
    addEventListener('dragover', (event) => { if (files(event)) event.preventDefault(); });
    addEventListener('dragleave', () => { inside = Math.max(0, inside - 1); if (!inside) $('drop').hidden = true; });
    addEventListener('drop', async (event) => {
      event.preventDefault();
      inside = 0;
      $('drop').hidden = true;
      const dropped = await droppedFiles(event.dataTransfer);
      if (!dropped.length) return;
      if (event.target.closest?.('[data-step="move"]') && this.studio.skinned) this.studio.panels.journey.motionFile(dropped);
      else this.studio.openFiles(dropped);
    });
  }

  // Stage -----------------------------------------------------------------------------------------
  wireStage() {
    const { studio } = this, { viewport } = studio, divider = $('divider'), stage = $('stage');
    const move = (at) => {
      this.dividerAt = Math.min(0.95, Math.max(0.05, at));
      divider.style.left = `${100 * this.dividerAt}%`;
      divider.setAttribute('aria-valuenow', Math.round(100 * this.dividerAt));
      if (studio.compare?.layout === 'wipe') viewport.split = this.dividerAt;
      viewport.invalidate();
    };
    move(0.5);
    divider.addEventListener('pointerdown', (event) => { divider.setPointerCapture(event.pointerId); event.preventDefault(); divider.focus({ focusVisible: false }); });
    divider.addEventListener('pointermove', (event) => { if (divider.hasPointerCapture(event.pointerId)) { const rect = stage.getBoundingClientRect(); move((event.clientX - rect.left) / rect.width); } });
    divider.addEventListener('keydown', (event) => {
      const to = { ArrowLeft: this.dividerAt - 0.02, ArrowRight: this.dividerAt + 0.02, PageUp: this.dividerAt - 0.1, PageDown: this.dividerAt + 0.1, Home: 0, End: 1 }[event.key];
      if (to !== undefined) { move(to); event.preventDefault(); }
    });
    $('tool-split').addEventListener('click', () => this.setSplit(!studio.state.split));
    $('split').addEventListener('change', ({ target }) => this.setSplit(target.checked));
    $('tool-bones').addEventListener('click', () => studio.edit({ bones: !studio.showsBones }));
    $('tool-home').addEventListener('click', () => viewport.home(studio.frames.shown?.lie));
    $('canvas').addEventListener('keydown', (event) => {
      const action = {
        ArrowLeft: () => viewport.turn(-0.12, 0), ArrowRight: () => viewport.turn(0.12, 0), ArrowUp: () => viewport.turn(0, -0.1), ArrowDown: () => viewport.turn(0, 0.1),
        '+': () => viewport.zoom(0.88), '=': () => viewport.zoom(0.88), '-': () => viewport.zoom(1.14),
      }[event.key];
      if (action && !event.ctrlKey && !event.metaKey) { action(); event.preventDefault(); event.stopPropagation(); }
    }, true);
  }
  setSplit(split) { if (this.studio.canSplit) this.studio.edit({ split }); }
  hover(name, event) {
    $('tip').hidden = !name;
    if (!name) return;
    const rect = $('stage').getBoundingClientRect();
    $('tip').textContent = name;
    $('tip').style.left = `${event.clientX - rect.left}px`;
    $('tip').style.top = `${event.clientY - rect.top}px`;
  }
  /** Tags, divider and legend as the frame has them, and sliders of what moves with it. */
  showFrame(answer, asked) {
    const { studio } = this, { state } = studio, { split } = asked, count = state.optimised || state.influences ? state.influences : 0;
    const few = count && !asked.handles ? ` · ${count} ${count === 1 ? 'influence' : 'influences'}` : '';
    put($('tag-a').lastElementChild, asked.cage ? 'Cage' : studio.cages.draft ? 'A cage is drawn' : asked.handles ? `Handles, ${asked.handles.rigid ? 'rigid' : 'linear'}` : studio.skinned ? studio.method(0).name + few : studio.info.triangleCount ? 'Not rigged' : 'Skeleton');
    ['b', 'c', 'd'].forEach((side, i) => { put($(`tag-${side}`).lastElementChild, studio.method(i + 1).name); });
    $('tag-a').firstElementChild.hidden = !split;
    $('tag-a').classList.toggle('alone', !split);
    this.showLegend(answer.paint, asked);
    this.pages.showTurns();
    if (studio.tab === 'joints' && !this.joints.drag) this.joints.show();
    if (studio.tab === 'scene' && !studio.playing) this.scene.show();
    if (answer.handles) this.pages.showHandleFigures(answer.handles);
  }
  showLegend(painted, asked) {
    const { studio } = this, legend = $('legend');
    legend.hidden = !painted?.map;
    if (!painted?.map) return;
    const name = asked.handles ? `handle ${studio.handle + 1}` : studio.info.description.nodes[studio.joint]?.name ?? 'joint';
    const title = { weights: `Weight of ${name}`, count: 'Influences of a vertex', error: `Distance to ${painted.reduced ? 'all weights' : studio.method(1).name.toLowerCase()}, %` }[asked.show.kind];
    put(legend.firstElementChild, title);
    if (this.ramp !== painted.map) { this.ramp = painted.map; drawRamp(painted.map, legend.querySelector('canvas')); }
    ['0', short(painted.top / 2), painted.top ? short(painted.top) : ''].forEach((text, i) => { put(legend.querySelectorAll('.ticks span')[i], text); });
  }
  showSpeed() {
    const { studio } = this, now = performance.now();
    if (now - (this.spokeAt ?? 0) < 250 && (studio.playing || studio.brush.held)) return;
    this.spokeAt = now;
    const { skin, frame } = studio.frames.means;
    $('speed-skin').textContent = skin ? `${skin < 10 ? skin.toFixed(2) : skin.toFixed(1)} ms` : '–';
    $('speed-rate').textContent = skin ? large((1000 * studio.info.vertexCount) / skin) : '–';
    $('speed-frame').textContent = frame ? `${frame.toFixed(1)} ms` : '–';
  }

  // Timeline --------------------------------------------------------------------------------------
  wireTimeline() {
    const { studio } = this;
    $('play').addEventListener('click', () => studio.setPlaying(!studio.playing));
    $('scrub').addEventListener('input', ({ target }) => { studio.setPlaying(false); studio.seek(Number(target.value)); });
    $('pace').addEventListener('change', ({ target }) => { studio.pace = Number(target.value); });
    $('range-in').addEventListener('click', () => studio.setRange(0));
    $('range-out').addEventListener('click', () => studio.setRange(1));
    $('clip').addEventListener('change', ({ target }) => studio.setClip(Number(target.value)));
  }
  showPlaying() {
    const { playing, canPlay } = this.studio;
    $('play').disabled = !canPlay;
    $('play').setAttribute('aria-label', playing ? 'Pause' : 'Play');
    $('play').querySelector('use').setAttribute('href', playing ? '#i-pause' : '#i-play');
  }
  showTime() {
    this.studio.compare.draw();
    const { time, clipInfo, range } = this.studio, duration = clipInfo?.duration ?? 0;
    $('scrub').max = clipInfo?.duration || 1;
    setSlider($('scrub'), clipInfo ? time : 0);
    put($('time').firstElementChild, clipInfo ? time.toFixed(2) : 'at rest');
    put($('time').lastElementChild, clipInfo ? ` / ${duration.toFixed(2)} s · frame ${Math.round(30 * time)}` : '');
    $('time').title = clipInfo ? `${time.toFixed(2)} of ${duration.toFixed(2)} seconds, frame ${Math.round(30 * time)} of ${Math.round(30 * duration)} at 30 a second` : '';
    $('range').hidden = !range;
    if (range) Object.assign($('range').style, { left: `${(100 * range[0]) / duration}%`, right: `${100 - (100 * range[1]) / duration}%` });
    $('scrub').setAttribute('aria-valuetext', clipInfo ? `${time.toFixed(2)} seconds` : 'at rest');
  }

  // Panel -----------------------------------------------------------------------------------------
  wireTabs() {
    const tabs = [...document.querySelectorAll('[role="tab"]')];
    tabs.forEach((tab, i) => {
      tab.addEventListener('click', () => this.selectTab(tab.id.slice(4)));
      tab.addEventListener('keydown', (event) => {
        const to = { ArrowRight: i + 1, ArrowDown: i + 1, ArrowLeft: i - 1, ArrowUp: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
        if (to === undefined) return;
        const next = tabs[(to + tabs.length) % tabs.length];
        this.selectTab(next.id.slice(4));
        next.focus();
        event.preventDefault();
      });
    });
  }
  selectTab(name) {
    for (const tab of document.querySelectorAll('[role="tab"]')) {
      const on = tab.id === `tab-${name}`;
      tab.setAttribute('aria-selected', on);
      tab.tabIndex = on ? 0 : -1;
      $(tab.getAttribute('aria-controls')).hidden = !on;
    }
    if (name === 'tools') this.verbs.begin();
    this.studio.setTab(name);
  }
  /** What depends on the document alone. */
  documentChanged() {
    const { clips } = this.studio.info.description;
    options($('clip'), [[-1, clips.length ? 'rest pose' : 'no clip'], ...clips.map((clip, i) => [i, clip.name ?? `clip ${i + 1}`])], this.studio.clip);
    this.pages.documentChanged();
    this.scene.documentChanged();
    this.joints.listed = null;
    this.verbs.show();
  }
  opened() {
    const { info, source, joints } = this.studio;
    this.fillCharacters();
    this.announce(`${source.name} is open: ${info.vertexCount} vertices, ${joints.length} joints, ${info.description.clips.length} clips`);
  }
  /** Every control as the state has it. */
  show() {
    const { studio } = this, { state, history } = studio;
    $('undo').disabled = !history.canUndo;
    $('redo').disabled = !history.canRedo;
    for (const id of ['save-glb', 'save-picture', 'tool-home', 'tool-bones']) $(id).disabled = !studio.document;
    $('panel').inert = $('tag-a').hidden = !studio.document;
    document.title = `${studio.unsaved ? '• ' : ''}${studio.source ? `${studio.source.name} – ` : ''}Cutis Studio`;
    for (const id of ['tool-split', 'split']) $(id).disabled = !studio.canSplit;
    $('split').checked = state.split && studio.canSplit;
    $('tool-split').setAttribute('aria-pressed', $('split').checked);
    $('tool-bones').setAttribute('aria-pressed', studio.showsBones);
    $('clip').value = String(state.clip);
    $('clip').disabled = !studio.info?.description.clips.length || studio.tab === 'handles';
    $('scrub').disabled = !studio.canPlay;
    this.showPlaying();
    this.showTime();
    for (const id of ['range-in', 'range-out', 'pace']) $(id).disabled = !studio.canPlay;
    this.journey.show();
    if (!studio.document) return;
    this.pages.show();
    this.joints.show();
    this.scene.show();
  }
}
