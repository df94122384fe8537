// Keyboard: Ctrl+Z and its kin always; keys without Ctrl unless they are turned off (speech input types letters).
import { $ } from './dom.js';

const typing = (target) => target.matches?.('input:not([type="range"]):not([type="radio"]):not([type="checkbox"]), select, textarea');

export function wireKeys(studio, panels) {
  const single = $('single-keys');
  single.checked = localStorage.getItem('single-keys') !== 'off';
  single.addEventListener('change', () => { localStorage.setItem('single-keys', single.checked ? 'on' : 'off'); });
  const step = (by) => { if (studio.canPlay) { studio.setPlaying(false); studio.seek(studio.time + by); } };
  const toggle = (show) => panels.pages.setShow(studio.state.show === show ? 'none' : show);
  const letters = {
    ' ': () => studio.setPlaying(!studio.playing), b: () => panels.setSplit(!studio.state.split), k: () => $('tool-bones').click(),
    e: () => toggle('error'), w: () => toggle('weights'), ',': () => step(-1 / 30), '.': () => step(1 / 30),
    g: () => $('tool-wire').click(), '[': () => studio.setRange(0), ']': () => studio.setRange(1), 0: () => studio.viewport.home(studio.frames.shown?.lie), o: () => $('file').click(), p: () => $('save-picture').click(), s: () => $('save-glb').click(), '?': () => $('keys').showModal(),
  };
  const escape = () => {
    if (studio.cancel()) return;
    if (panels.cancel) panels.cancel(); else panels.closeNotice();
  };
  const remove = () => { if (studio.cages.draft) studio.cages.remove(); else if (studio.tab === 'handles') studio.removeHandle(); else if (studio.inJoints) panels.joints.remove(); else if (studio.tab === 'pose') studio.dropJoint(); };
  addEventListener('keydown', (event) => {
    const key = event.key.toLowerCase(), { target } = event, open = document.querySelector('dialog[open]');
    if (open || event.altKey) return;
    if (key === 'escape') { escape(); return; }
    if (event.ctrlKey || event.metaKey) {
      if (typing(target) && target.matches('input, textarea')) return; // its own undo
      if (key === 'z' || key === 'y') { event.preventDefault(); if (key === 'y' || event.shiftKey) studio.redo(); else studio.undo(); }
      return;
    }
    if (typing(target) && !(target.matches('select') && ['delete', 'backspace'].includes(key))) return;
    if (key === 'delete' || key === 'backspace') { remove(); event.preventDefault(); return; }
    if (single.checked && studio.brush.key(key)) { event.preventDefault(); return; }
    if (!single.checked || (key === ' ' && target.matches?.('button, input, summary, [role="tab"]'))) return;
    const method = studio.methodList.filter((each) => studio.offers(each.id))[Number(key) - 1];
    if (method && !target.matches?.('input[type="range"]')) { panels.pages.setMethod(0, method.id); event.preventDefault(); } else if (letters[key]) { letters[key](); event.preventDefault(); }
  });
}
