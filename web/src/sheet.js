// The export sheet: what a saved file will hold and what changes, in words, before anything is written. And the guard that asks
// before unsaved work is closed.
import { $, make, options } from './dom.js';

export class Sheet {
  constructor(studio) {
    this.studio = studio;
    for (const id of ['export-influences', 'export-weights', 'export-handles', 'export-pose', 'export-name']) $(id).addEventListener('input', () => this.showChanges());
    $('export-save').addEventListener('click', () => this.save());
    $('export-name').addEventListener('keydown', (event) => { if (event.key === 'Enter') this.save(); });
    const leave = (answer) => () => { this.answer = answer; $('guard').close(); };
    for (const name of ['cancel', 'discard', 'save']) $(`guard-${name}`).addEventListener('click', leave(name));
  }
  /** @returns whether what is open may be closed */
  askToLeave() {
    this.answer = 'cancel';
    $('guard').showModal();
    return new Promise((resolve) => {
      $('guard').addEventListener('close', () => { if (this.answer === 'save') this.open(); resolve(this.answer === 'discard'); }, { once: true });
    });
  }
  open() {
    const { studio } = this, { influences } = studio.state, most = studio.info.maxInfluences;
    const counts = [...new Set([influences, 8, 4, 2, 1])].filter((count) => count && count < most).sort((a, b) => b - a);
    options($('export-influences'), [[0, most ? `all (${most})` : 'none'], ...counts.map((count) => [count, count === 4 ? '4, as every player reads' : `at most ${count}`])], influences);
    $('export-influences').disabled = most <= 1;
    $('export-weights').value = 'float';
    $('export-weights').disabled = !most;
    $('export-handles').value = '';
    $('export-handles-row').hidden = !studio.state.handles;
    for (const option of $('export-handles').options) option.hidden = option.value === 'beside' && !studio.skinned;
    $('export-pose').checked = this.posed;
    this.named = false;
    $('export-name').value = this.proposal();
    this.showChanges();
    $('export').showModal();
    $('export-name').focus();
    $('export-name').setSelectionRange(0, $('export-name').value.length - 4);
  }
  get posed() { return Object.keys(this.studio.state.pose).length > 0; }
  get choice() {
    return {
      influences: Number($('export-influences').value), weights: $('export-weights').value, pose: $('export-pose').checked && !$('export-pose-row').hidden,
      handles: $('export-handles-row').hidden ? '' : $('export-handles').value,
    };
  }
  /** Another name than the file's own, so that nothing is written over. */
  proposal() {
    const { document } = this.studio, { influences, handles } = this.choice;
    const last = handles ? 'handles' : influences ? `${influences}-influences` : document.made.at(-1) ?? (document.file ? 'copy' : '');
    return `${document.name}${last ? `-${last}` : ''}.glb`;
  }
  showChanges() {
    $('export-pose-row').hidden = !this.posed || this.choice.handles === 'place';
    const { studio } = this, { influences, weights, pose, handles } = this.choice, { document } = studio.state, { description } = document.info, lines = [];
    const place = handles === 'place', most = studio.mostInfluences(handles), others = description.clips.length ? `; the other ${description.clips.length} stay` : '';
    if (window.document.activeElement?.id === 'export-name') this.named = true;
    if (document.made.length) lines.push(`The model is what ${document.made.map((verb) => (verb === 'pose' ? 'keying a pose' : `cutis ${verb}`)).join(', then ')} made of it.`);
    const strokes = studio.state.strokes.length;
    if (strokes && !place) lines.push(`Weights as painted by hand: ${strokes} ${strokes === 1 ? 'stroke' : 'strokes'}.`);
    if (place) lines.push(`${studio.handles.length} handles move the body in the skeleton’s place; the clips move nothing.`);
    if (place && studio.handles.some(({ move }) => move.some(Boolean))) lines.push(`A clip “${studio.clipName()}” is added with the handles as they were moved${others}.`);
    if (handles === 'beside') lines.push('The shape that the handles made becomes the morph target “handles”; skeleton, weights and clips stay.');
    if (!handles && studio.state.handles) lines.push('The handles are left out: they are not bound.');
    if (influences && influences < most) lines.push(studio.savesOptimised(influences, handles) ? `At most ${influences} influences per vertex, chosen to deform as all ${most} did.` : `At most ${influences} of ${most} influences per vertex: the largest, renormalised.`);
    if (weights !== 'float') lines.push(`Weights rounded to ${weights === 'u16' ? 16 : 8} bits; they still sum to one.`);
    if (pose) lines.push(`A clip “${studio.clipName()}” is added with the pose that is shown${others}.`);
    if (this.posed && !pose) lines.push('The pose made by hand is left out.');
    if (document.file && !/\.(glb|gltf)$/i.test(document.file)) lines.push(`${document.file} becomes a GLB.`);
    lines.push('Everything else comes out as it was: materials, pictures, cameras, extras, extensions.');
    $('export-changes').replaceChildren(...lines.map((textContent) => make('li', { textContent })));
    if (!this.named && window.document.activeElement !== $('export-name')) $('export-name').value = this.proposal();
  }
  async save() {
    const name = $('export-name').value.trim().replace(/[\\/:*?"<>|]/g, '_') || this.proposal();
    $('export').close();
    await this.studio.save({ ...this.choice, name: /\.glb$/i.test(name) ? name : `${name}.glb` });
  }
}
