// The engine's side of the page: one script, two workers. The stage worker holds open models and computes frames; the jobs
// worker runs commands, each in a fresh instance. Messages are answered one after the other.
//
// Invariant: a trap is an error line. After one the stage's memory is not trusted: a new instance opens its models again.
import { EngineError, runCommand } from './engine.js';
import { Stage } from './documents.js';

let module = null, stage = null, current = null, last = Promise.resolve();
const progress = (name, fraction) => { if (current !== null) postMessage({ id: current, stage: name, fraction }); return true; };
const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());

const CALLS = {
  async start(data) {
    module = data.module;
    if (!data.stage) return {};
    stage = await Stage.create(module, progress);
    return stage.about();
  },
  /** A command over files in memory. @param data { words, files: [{ name, blob }] } */
  async command({ words, files }) {
    const memory = new Map();
    for (const { name, blob } of files) memory.set(name, await bytesOf(blob));
    const given = new Set(memory.keys()), start = performance.now(), done = await runCommand(module, words, memory, progress);
    const made = [...done.files].filter(([name]) => !given.has(name)).map(([name, bytes]) => ({ name, blob: new Blob([bytes]) }));
    return { status: done.status, stdout: done.stdout, stderr: done.stderr, files: made, milliseconds: performance.now() - start };
  },
};

/** Every buffer of an answer goes over without a copy. */
function buffersIn(value, found = new Set()) {
  if (ArrayBuffer.isView(value)) found.add(value.buffer);
  else if (value && typeof value === 'object' && !(value instanceof Blob)) for (const each of Object.values(value)) buffersIn(each, found);
  return found;
}

async function answer({ id, call, data }) {
  current = id;
  try {
    const result = CALLS[call] ? await CALLS[call](data) : await stage[call](data);
    postMessage({ id, result }, [...buffersIn(result?.transfer ?? null)]);
  } catch (error) {
    if (stage && !(error instanceof EngineError)) await stage.restart().catch(() => {});
    const trapped = error instanceof WebAssembly.RuntimeError;
    postMessage({ id, error: trapped ? `the engine stopped (${error.message}); it has been started anew` : error.message || String(error) });
  }
  current = null;
}

addEventListener('message', ({ data }) => { last = last.then(() => answer(data)); });
