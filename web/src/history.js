// States of the work, one after the other. A state is never changed, so going back is choosing another one.

const LIMIT = 200;
export class History {
  /** @param dropped called with the states that are left, when others can no longer be reached */
  constructor(dropped) { this.dropped = dropped; }
  /** What the states before held stays until the new one is shown (seal). */
  begin(state) {
    this.states = [Object.freeze(state)];
    this.cut = []; // what the gesture in progress cut off
    this.at = 0;
    this.gesture = null;
  }
  get state() { return this.states[this.at]; }
  get canUndo() { return this.at > 0; }
  get canRedo() { return this.at + 1 < this.states.length; }
  /** A further state. Those with the same gesture (a slider held, a ring dragged) are one step. */
  push(state, gesture = null) {
    const merges = gesture !== null && gesture === this.gesture && this.at > 0 && !this.canRedo;
    if (merges) this.states.pop();
    else this.cut = this.states.splice(this.at + 1);
    this.states.push(Object.freeze(state));
    if (this.states.length > LIMIT) this.states.shift();
    this.at = this.states.length - 1;
    this.gesture = gesture;
    if (gesture === null) this.seal();
  }
  /** The present state, put right: no step of its own. */
  amend(state) { this.states[this.at] = Object.freeze(state); }
  /** The oldest state can no longer be reached. */
  forget() { if (this.at > 0) { this.at--; this.states.shift(); this.dropped([...this.states, ...this.cut]); } }
  /** What can no longer be reached is let go; a gesture in progress goes on. */
  sweep() { this.dropped([...this.states, ...this.cut]); }
  /** The gesture is over: the next change is a step of its own. */
  seal() { this.gesture = null; this.cut = []; this.dropped(this.states); }
  go(by) {
    const to = this.at + by;
    if (to < 0 || to >= this.states.length) return false;
    this.at = to;
    this.seal();
    return true;
  }
  /** The gesture in progress never happened. */
  abandon() {
    if (this.gesture === null || this.at === 0) return false;
    this.states.splice(this.at--, 1, ...this.cut);
    this.seal();
    return true;
  }
}
