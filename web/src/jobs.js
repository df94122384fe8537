// The worker seen from the page: promises per job. A job that a newer one of its kind replaced resolves to null.

export class Jobs {
  constructor(onProgress) {
    this.onProgress = onProgress;
    this.waiting = new Map();
    this.next = 1;
  }
  start() {
    this.worker = new Worker('worker.js', { type: 'module' });
    this.worker.addEventListener('message', ({ data }) => {
      const job = this.waiting.get(data.job);
      if (!job) return;
      if (data.stage !== undefined) { this.onProgress?.(data.stage, data.fraction); return; }
      this.waiting.delete(data.job);
      if (data.error !== undefined) job.reject(new Error(data.error));
      else job.resolve(data.stale ? null : { ...data.result, milliseconds: data.milliseconds });
    });
    this.worker.addEventListener('error', () => {
      for (const job of this.waiting.values()) job.reject(new Error('the worker of the page did not start'));
      this.waiting.clear();
    });
  }
  run(kind, data) {
    if (!this.worker) this.start();
    const job = this.next++;
    this.worker.postMessage({ job, kind, ...data });
    return new Promise((resolve, reject) => { this.waiting.set(job, { resolve, reject }); });
  }
}
