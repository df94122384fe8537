// What is in the model: an outline of meshes, joints and clips, the figures of what is chosen, and its morph targets.
import { $, make } from './dom.js';

const MOST = 300; // rows of a group that are listed
const count = (n, one, many = `${one}s`) => `${n.toLocaleString('en').replaceAll(',', ' ')} ${n === 1 ? one : many}`;

export class Scene {
  constructor(studio) {
    this.studio = studio;
    this.chosen = { kind: 'model' };
    $('morphs-reset').addEventListener('click', () => studio.edit({ morphs: null }));
  }
  groups() {
    const { description } = this.studio.info, { meshes, nodes, clips } = description, named = (name, kind, i) => name ?? `${kind} ${i + 1}`;
    return [
      { kind: 'mesh', title: count(meshes.length, 'mesh', 'meshes'), rows: meshes.map((mesh, i) => [i, named(mesh.name, 'mesh', i)]) },
      { kind: 'joint', title: count(this.studio.skinned ? this.studio.joints.length : 0, 'joint'), rows: this.studio.skinned ? this.studio.joints.map((node) => [node, named(nodes[node].name, 'joint', node), this.depth(node)]) : [] },
      { kind: 'clip', title: count(clips.length, 'clip'), rows: clips.map((clip, i) => [i, named(clip.name, 'clip', i)]) },
    ];
  }
  depth(node) { let depth = 0; for (let n = this.studio.info.description.nodes[node].parent; n >= 0 && depth < 9; n = this.studio.info.description.nodes[n].parent) if (this.studio.joints.includes(n)) depth++; return depth; }
  choose(kind, index) {
    const { studio } = this;
    this.chosen = { kind, index };
    if (kind === 'joint') studio.pickMarker(studio.joints.indexOf(index));
    else if (kind === 'clip') studio.setClip(index);
    else this.show();
  }
  documentChanged() {
    this.chosen = { kind: 'model' };
    $('outline').replaceChildren(...this.groups().map(({ kind, title, rows }) => make('li', {}, make('details', { open: kind !== 'joint' || rows.length < 60 }, make('summary', { textContent: title }), make('ul', {}, ...rows.slice(0, MOST).map(([index, name, depth = 0]) => {
      const button = make('button', { type: 'button', className: 'row', textContent: name });
      Object.assign(button.dataset, { kind, index });
      button.style.paddingLeft = `${10 + 10 * depth}px`;
      button.addEventListener('click', () => this.choose(kind, index));
      return make('li', {}, button);
    }), ...(rows.length > MOST ? [make('li', { className: 'hint', textContent: `and ${rows.length - MOST} more` })] : []))))));
    this.fillMorphs();
  }
  figures() {
    const { studio } = this, { info } = studio, { nodes, clips, meshes, materialCount, driverCount } = info.description, { kind, index } = this.chosen;
    const place = (node) => (studio.frames.shown ? [3, 7, 11].map((k) => studio.frames.shown.world[12 * node + k].toFixed(3)).join(', ').replaceAll('-', '−') : '–');
    if (kind === 'joint') return [nodes[index].name ?? `joint ${index}`, [['Above it', nodes[nodes[index].parent]?.name ?? '–'], ['Below it', nodes.filter(({ parent }) => parent === index).length], ['Place now', place(index)], ['By hand', studio.state.pose[index] ? 'yes' : 'no']]];
    if (kind === 'clip') return [clips[index].name ?? `clip ${index + 1}`, [['Duration', `${clips[index].duration.toFixed(2)} s`], ['Frames at 30', Math.round(30 * clips[index].duration) + 1]]];
    if (kind === 'mesh') { const { primitives, targetCount } = meshes[index]; return [meshes[index].name ?? `mesh ${index + 1}`, [['Vertices', primitives.reduce((sum, { vertexCount }) => sum + vertexCount, 0)], ['Triangles', Math.round(primitives.reduce((sum, { indexCount, topology }) => sum + (topology ? 0 : indexCount / 3), 0))], ['Parts', primitives.length], ['Morph targets', targetCount]]]; }
    return [studio.source.name, [['Vertices', info.vertexCount], ['Triangles', info.triangleCount], ['Influences a vertex', info.maxInfluences || '–'], ['Materials', materialCount], ['Size', info.bounds.max.map((x, c) => (x - info.bounds.min[c]).toFixed(2)).join(' × ')], ...(driverCount ? [['Driven joints', driverCount]] : [])]];
  }
  fillMorphs() {
    const { studio } = this, { meshes } = studio.info.description, names = studio.info.instances.flatMap(({ mesh }) => Array.from({ length: meshes[mesh].targetCount }, (_, k) => meshes[mesh].targetNames[k] ?? `target ${k + 1}`));
    $('morphs-section').hidden = !names.length;
    $('morphs').replaceChildren(...names.slice(0, MOST).map((name, i) => {
      const slider = make('input', { type: 'range', min: 0, max: 1, step: 0.01, value: 0 });
      slider.addEventListener('input', () => studio.edit({ morphs: Object.freeze({ ...studio.state.morphs, [i]: Number(slider.value) }) }, `morph ${i}`));
      slider.addEventListener('change', () => studio.history.seal());
      return make('label', { title: name }, make('span', { textContent: name }), slider, make('output', { textContent: '–' }));
    }));
  }
  show() {
    const { studio } = this;
    if (studio.tab !== 'scene' || !studio.info) return;
    if (this.chosen.kind === 'joint' && this.chosen.index !== studio.joint) this.chosen = { kind: 'joint', index: studio.joint };
    const [title, rows] = this.figures(), { kind, index } = this.chosen;
    for (const row of $('outline').querySelectorAll('.row')) row.setAttribute('aria-current', String(row.dataset.kind === kind && Number(row.dataset.index) === index));
    $('inspector-title').textContent = title;
    $('inspector').tBodies[0].replaceChildren(...rows.map(([name, value]) => make('tr', {}, make('th', { scope: 'row', textContent: name }), make('td', { textContent: typeof value === 'number' ? value.toLocaleString('en').replaceAll(',', ' ') : value }))));
    $('morphs').querySelectorAll('label').forEach((label, i) => {
      const value = studio.state.morphs?.[i];
      label.querySelector('output').textContent = value === undefined ? '–' : value.toFixed(2);
      if (value === undefined) label.querySelector('input').value = 0;
    });
  }
}
