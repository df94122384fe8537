// A worker seen from the page: calls are promises. Cancelling ends the worker; the next call starts another.

export class Cancelled extends Error {}

export class Remote {
  /** @param module promise of the compiled engine; @param stage whether it holds models; @param progress (stage, fraction) */
  constructor(module, stage, progress) {
    Object.assign(this, { module, stage, progress, waiting: new Map(), next: 1, worker: null, calls: 0 });
  }
  start() {
    this.worker = new Worker('worker.js', { type: 'module' });
    this.worker.addEventListener('message', ({ data }) => {
      const asked = this.waiting.get(data.id);
      if (!asked) return;
      if (data.stage !== undefined) { this.progress?.(data.stage, data.fraction); return; }
      this.waiting.delete(data.id);
      if (data.error !== undefined) asked.reject(new Error(data.error));
      else asked.resolve(data.result);
    });
    this.worker.addEventListener('error', (event) => this.end(new Error(event.message || 'the page’s worker did not start')));
    this.started = this.module.then(async (module) => {
      const about = await this.post('start', { module, stage: this.stage });
      for (const [call, data] of this.prepare?.() ?? []) await this.post(call, data); // what the worker before this one knew
      return about;
    });
    this.started.catch(() => {});
    return this.started;
  }
  post(call, data, transfer = []) {
    const id = this.next++;
    this.worker.postMessage({ id, call, data }, transfer);
    return new Promise((resolve, reject) => { this.waiting.set(id, { resolve, reject }); });
  }
  async call(name, data = {}, transfer = []) {
    if (!this.worker) this.start();
    const { worker } = this;
    this.calls++;
    try {
      await this.started;
      if (worker !== this.worker) throw this.ended; // while it waited for its turn
      return await this.post(name, data, transfer);
    } finally {
      this.calls--;
    }
  }
  get busy() { return this.calls > 0; }
  end(reason) {
    this.worker?.terminate();
    this.worker = null;
    this.ended = reason;
    for (const asked of this.waiting.values()) asked.reject(reason);
    this.waiting.clear();
  }
  cancel() { this.end(new Cancelled('cancelled')); }
}

/** The engine compiled once for all workers, whatever type the host serves it as. */
export async function compileEngine(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the server says ${response.status}`);
  const copy = response.clone();
  try {
    return await WebAssembly.compileStreaming(response);
  } catch {
    return WebAssembly.compile(await copy.arrayBuffer());
  }
}
