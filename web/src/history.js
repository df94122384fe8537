// States of the work, one after the other. A state is never changed, so going back is choosing another one.

const LIMIT = 200;
export class History {
  /** @param dropped called with states that can no longer be reached */
  constructor(dropped = () => {}) { this.dropped = dropped; this.begin(Object.freeze({})); }
  begin(state) {
    const old = this.states ?? [];
    this.states = [Object.freeze(state)];
    this.at = 0;
    this.gesture = null;
    this.dropped(old, this.states);
  }
  get state() { return this.states[this.at]; }
  get canUndo() { return this.at > 0; }
  get canRedo() { return this.at + 1 < this.states.length; }
  /** A further state. Those with the same gesture (a slider held, a ring dragged) are one step. */
  push(state, gesture = null) {
    const merges = gesture !== null && gesture === this.gesture && this.at > 0 && !this.canRedo, keep = this.at + (merges ? 0 : 1);
    const gone = this.states.splice(keep);
    this.states.push(Object.freeze(state));
    if (this.states.length > LIMIT) gone.push(this.states.shift());
    this.at = this.states.length - 1;
    this.gesture = gesture;
    if (gone.length) this.dropped(gone, this.states);
  }
  /** The oldest state can no longer be reached. */
  forget() { if (this.at > 0) { this.at--; this.dropped([this.states.shift()], this.states); } }
  /** The gesture is over: the next change is a step of its own. */
  seal() { this.gesture = null; }
  go(by) {
    const to = this.at + by;
    if (to < 0 || to >= this.states.length) return false;
    this.at = to;
    this.gesture = null;
    return true;
  }
  /** The gesture in progress never happened. */
  abandon() {
    if (this.gesture === null || this.at === 0) return false;
    const gone = this.states.splice(this.at--);
    this.gesture = null;
    this.dropped(gone, this.states);
    return true;
  }
}
