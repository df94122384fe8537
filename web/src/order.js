// The order in which triangles are drawn: such that a vertex is needed again soon, while what was made of it is still at hand. A GPU
// keeps some tens of vertices; where none draws, making them is most of a frame.
//
// Invariant: the same triangles with the same corners in the same sense; their order alone changes, and within a group alone.

const KEPT = 24; // vertices that are taken to be at hand, fewer than any device has

/** Triangles around each vertex: [first of vertex ..., triangles]. */
function around(indices, vertexCount) {
  const first = new Uint32Array(vertexCount + 1), list = new Uint32Array(indices.length);
  for (const v of indices) first[v + 1]++;
  for (let v = 0; v < vertexCount; v++) first[v + 1] += first[v];
  const at = first.slice(0, vertexCount);
  for (let i = 0; i < indices.length; i++) list[at[indices[i]]++] = Math.floor(i / 3);
  return { first, list };
}

/** @param indices of triangles; they are written anew. After Sander, Nehab and Barczak 2007: fans around one vertex after another, the
 * next one where most is still at hand. */
function drawOrder(indices, vertexCount) {
  const { first, list } = around(indices, vertexCount), left = new Uint32Array(vertexCount), seen = new Uint32Array(vertexCount), drawn = new Uint8Array(indices.length / 3), old = indices.slice(), dead = new Uint32Array(indices.length);
  for (let v = 0; v < vertexCount; v++) left[v] = first[v + 1] - first[v];
  let now = KEPT + 1, out = 0, ends = 0, cursor = 0, fan = vertexCount ? 0 : -1;
  while (fan >= 0) {
    const near = [];
    for (let k = first[fan]; k < first[fan + 1]; k++) {
      const triangle = list[k];
      if (drawn[triangle]) continue;
      drawn[triangle] = 1;
      for (let c = 0; c < 3; c++) {
        const v = old[3 * triangle + c];
        indices[out++] = v;
        near.push(v);
        dead[ends++] = v;
        left[v]--;
        if (now - seen[v] > KEPT) seen[v] = now++;
      }
    }
    fan = -1;
    let best = -1;
    for (const v of near) { // the oldest that will still be at hand when its fan is drawn
      if (!left[v]) continue;
      const age = now - seen[v], worth = age + 2 * left[v] <= KEPT ? age : 0;
      if (worth > best) { best = worth; fan = v; }
    }
    while (fan < 0 && ends) { const v = dead[--ends]; if (left[v]) fan = v; }
    while (fan < 0 && cursor < vertexCount) { if (left[cursor]) fan = cursor; cursor++; }
  }
  return indices;
}

/** The same of every part of a model: each has vertices of its own. @param counts of indices, part after part */
export function orderParts(indices, counts) {
  let start = 0;
  for (const count of counts) {
    const part = indices.subarray(start, start + count);
    let low = Infinity, high = -1;
    for (const v of part) { if (v < low) low = v; if (v > high) high = v; }
    for (let i = 0; i < part.length; i++) part[i] -= low;
    drawOrder(part, Math.max(0, high - low + 1));
    for (let i = 0; i < part.length; i++) part[i] += low;
    start += count;
  }
  return indices;
}
