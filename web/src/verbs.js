// The tools: verbs of the command on the open model. Names, options and help come from the command's own table
// (`cutis help --json`), so a new verb or option is here as soon as it is there.
import { $, make, options, quoted } from './dom.js';

const NOT_MODELS = new Set(['deform', 'render', 'synth', 'bench', 'demo', 'reproduce']); // what they write is no model made of the open one
const HIDDEN = new Set(['output', 'force', 'json', 'quiet', 'help', 'device', 'threads', 'isa', 'memory', 'scale', 'up', 'units', 'to', 'fps', 'compress', 'bits', 'ascii']);
const COMMON = 6; // options shown at once; the others are folded
const FIRST = ['kind', 'influences', 'motion', 'method', 'parts', 'helpers', 'handles', 'skeleton', 'max-error', 'joints', 'weights', 'map', 'cage', 'shapes', 'poses', 'fix', 'clip'];
const NAMES_FILE = /FILE|MAP/; // texts that may name one

export class Verbs {
  constructor(studio) {
    this.studio = studio;
    this.files = new Map();
    $('verb').addEventListener('change', () => this.show());
    $('verb-form').addEventListener('input', () => this.showLine());
    $('verb-form').addEventListener('submit', (event) => event.preventDefault());
    $('verb-run').addEventListener('click', () => this.run());
  }
  /** The table, when it is first looked at. */
  begin() {
    this.table ??= this.studio.jobs.call('command', { words: ['help', '--json'], files: [] }).then(({ stdout }) => {
      this.list = JSON.parse(stdout).verbs.filter(({ name, operands, options: given }) => /^(MODEL|BODY|RIG)\b/.test(operands) && !NOT_MODELS.has(name) && given.some((option) => option.name === 'output'));
      options($('verb'), this.list.map(({ name, summary }) => [name, `${name} – ${summary}`]), 'rig');
      this.show();
    }).catch((error) => { this.table = null; this.studio.panels.fail('The tools are not there', error.message); });
    return this.table;
  }
  /** Its form is shown. */
  async choose(name) {
    this.studio.panels.selectTab('tools');
    await this.begin();
    $('verb').value = name;
    this.show();
  }
  get verb() { return this.list?.find((verb) => verb.name === $('verb').value); }
  /** A form of the chosen verb's options. */
  show() {
    const { verb } = this;
    if (!verb || (verb === this.shown && this.of === this.studio.document)) return;
    if (verb !== this.shown) this.makeForm(verb);
    this.of = this.studio.document;
    this.showLine();
  }
  makeForm(verb) {
    this.shown = verb;
    this.files.clear();
    const sentence = `${verb.summary[0].toUpperCase()}${verb.summary.slice(1)}.`;
    $('verb-about').textContent = sentence;
    $('verb-more').lastElementChild.textContent = verb.details.split('\n\n')[0].replaceAll('\n', ' ');
    const rank = ({ name }) => { const at = FIRST.indexOf(name); return at < 0 ? FIRST.length : at; };
    const given = verb.options.filter(({ name, value }) => !HIDDEN.has(name) && !/^OUT/.test(value ?? '') && !name.startsWith('write-')).sort((a, b) => rank(a) - rank(b));
    const fields = given.map((option) => this.field(option)), rest = fields.splice(COMMON);
    $('verb-form').replaceChildren(...fields, ...(rest.length ? [make('details', {}, make('summary', { textContent: `${rest.length} more` }), ...rest)] : []));
  }
  field({ name, kind, value, choices, help }) {
    if (kind === 'flag') return make('label', { className: 'switch row', title: help }, make('input', { type: 'checkbox', name }), make('span', { ariaHidden: 'true' }), name);
    if (kind === 'choice') {
      const select = make('select', { name, className: 'select' });
      options(select, [['', 'default'], ...choices.map((choice) => [choice, choice])], '');
      return make('label', { title: help }, name, select);
    }
    const input = make('input', { name, className: 'select field', type: 'text', inputMode: kind === 'count' || kind === 'number' ? 'decimal' : 'text', placeholder: value, spellcheck: false, autocomplete: 'off' });
    input.dataset.kind = kind;
    if ((!['path', 'paths', 'each'].includes(kind) && !NAMES_FILE.test(value)) || /^(NAME|OLD)/.test(value)) return make('label', { title: help }, name, input);
    const choose = make('input', { type: 'file', hidden: true, multiple: kind === 'paths' || kind === 'each', ariaLabel: `${name}: choose files` }), button = make('button', { type: 'button', className: 'button', textContent: '…', ariaLabel: `${name}: choose files` });
    button.addEventListener('click', () => choose.click());
    choose.addEventListener('change', () => {
      input.value = '';
      const taken = this.words(), twice = [...choose.files].find(({ name: other, size, lastModified }) => taken.includes(other) && (this.files.get(other)?.size !== size || this.files.get(other).lastModified !== lastModified));
      if (twice) { this.studio.panels.fail(`${twice.name} is chosen already`, 'two files of one name cannot be told apart: give one another name'); return; }
      for (const file of choose.files) this.files.set(file.name, file);
      input.value = [...choose.files].map((file) => file.name).join('; ');
      this.showLine();
    });
    return make('label', { title: help }, name, make('span', { className: 'file' }, input, button, choose));
  }
  /** The options as the command takes them. */
  words() {
    return [...$('verb-form').querySelectorAll('[name]')].flatMap(({ name, type, checked, value, dataset: { kind } }) => {
      const option = `--${name}`, parts = value.split(';').map((part) => part.trim()).filter(Boolean);
      if (type === 'checkbox') return checked ? [option] : [];
      if (!parts.length) return [];
      return kind === 'each' ? parts.flatMap((part) => [option, part]) : kind === 'paths' ? [option, ...parts] : [option, value.trim()];
    });
  }
  showLine() {
    const { document } = this.studio;
    $('verb-line').textContent = document && this.verb ? ['cutis', this.verb.name, document.file ?? `${document.name}.glb`, ...this.words(), ...(this.looks ? [] : ['-o', `${document.name}-${this.verb.name}.glb`])].map(quoted).join(' ') : '';
    $('verb-run').disabled = !document || !this.verb;
  }
  /** It looks at the model and writes none. */
  get looks() { return this.verb?.name === 'check' && !this.words().includes('--fix'); }
  run() {
    const words = this.words();
    if (this.looks) return this.look(words);
    return this.studio.runVerb(this.verb.name, words, [...this.files.values()].filter((file) => words.includes(file.name)));
  }
  /** What the verb says of the model as it is now. */
  async look(words) {
    const { studio } = this, { verb: { name } } = this, { from, influences, strokes } = studio.reduced;
    await studio.panels.busy({ doing: `cutis ${name}`, failed: `cutis ${name} did not work` }, async () => {
      const input = { name: `${from.name.replace(/[^\w.-]/g, '_').replace(/^-/, '_')}.glb`, blob: await studio.glb(from, influences, strokes) };
      this.ran(name, await studio.jobs.call('command', { words: [name, input.name, ...words], files: [input] }));
      $('verb-said').scrollIntoView({ block: 'nearest' });
    });
  }
  /** What a verb said, whoever asked for it. */
  ran(verb, { stdout = '', stderr = '', milliseconds = 0 }) {
    const text = [`cutis ${verb}, ${(milliseconds / 1000).toFixed(1)} s`, stdout.trim(), stderr.trim()].filter(Boolean).join('\n\n');
    $('verb-said').hidden = !milliseconds;
    $('verb-text').textContent = text;
  }
}
