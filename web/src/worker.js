// Long work beside the page: making characters, reducing weights, weights for handles. One job at a time, in order; a job that
// a newer one of its kind replaces is answered { stale: true } without being done.
import { Engine } from './engine.js';

let engine = null, current = null;
const newest = new Map();

const ready = Engine.create(fetch('engine.wasm'), (stage, fraction) => {
  if (current !== null) postMessage({ job: current, stage, fraction });
  return true;
}).then((made) => { engine = made; });

const JOBS = {
  synth({ options, poseSpace }) {
    let model = engine.synth(options);
    if (poseSpace) {
      const fitted = engine.armPoseSpace(model);
      engine.destroyModel(model);
      model = fitted;
    }
    return finish(model);
  },
  reduce({ words, influences, method }) {
    return withModel(words, (model) => finish(engine.reduce(model, influences, method)));
  },
  handles({ words, points, voxels }) {
    return withModel(words, (model) => {
      const session = engine.openHandles(model, voxels);
      try {
        const { model: made, domain, error } = engine.setHandles(session, points);
        return { ...finish(made), domain, error };
      } finally {
        engine.closeHandles(session);
      }
    });
  },
};

function finish(model) {
  const words = engine.packed(model);
  engine.destroyModel(model);
  return { words };
}

function withModel(words, use) {
  const model = engine.createModel(words);
  try { return use(model); } finally { engine.destroyModel(model); }
}

addEventListener('message', async ({ data }) => {
  newest.set(data.kind, data.job);
  await ready;
  await new Promise((done) => { setTimeout(done); }); // let newer messages in first
  if (newest.get(data.kind) !== data.job) { postMessage({ job: data.job, stale: true }); return; }
  current = data.job;
  const start = performance.now();
  try {
    const result = JOBS[data.kind](data);
    postMessage({ job: data.job, result, milliseconds: performance.now() - start }, [result.words.buffer]);
  } catch (error) {
    postMessage({ job: data.job, error: error.message });
  }
  current = null;
});
