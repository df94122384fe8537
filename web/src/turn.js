// Rotations as arrays x y z w, and the angles the sliders show (x first, then y, then z).
import { Euler, MathUtils, Matrix4, Quaternion, Vector3 } from 'three';

const of = (q) => new Quaternion(...q);
export const IDENTITY = [0, 0, 0, 1];
export const multiply = (a, b) => of(a).multiply(of(b)).toArray();
/** A vector, turned. */
export const apply = (q, v) => new Vector3(...v).applyQuaternion(of(q)).toArray();
export const unit = (q) => of(q).normalize().toArray();
export const inverse = (q) => of(q).normalize().invert().toArray();
/** The rotation of a row-major 3x4 matrix with any positive scale. */
export const fromMatrix = (m, at = 0) => new Quaternion().setFromRotationMatrix(new Matrix4().extractRotation(new Matrix4().set(...m.slice(at, at + 12), 0, 0, 0, 1))).toArray();
/** Places of nodes at rest. */
export function places(nodes) {
  const worlds = [];
  return nodes.map(({ parent, rest }, i) => {
    const local = new Matrix4().compose(new Vector3(...rest.slice(0, 3)), of(rest.slice(3, 7)), new Vector3(...rest.slice(7, 10)));
    worlds[i] = parent >= 0 ? worlds[parent].clone().multiply(local) : local;
    return new Vector3().setFromMatrixPosition(worlds[i]).toArray();
  });
}
/** Turned about x, then y, then z, degrees. */
export const fromAngles = (angles) => new Quaternion().setFromEuler(new Euler(...angles.map(MathUtils.degToRad), 'ZYX')).toArray();
export function toAngles(q) {
  const { x, y, z } = new Euler().setFromQuaternion(of(q).normalize(), 'ZYX');
  return [x, y, z].map(MathUtils.radToDeg);
}
