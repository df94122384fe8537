// The stage: one scene with a mesh a side (they share topology), a key light with a soft shadow, a skeleton or handles drawn
// on top, and a gizmo. Draws only when something changed; shadows only when the shape did, and seldom where frames are slow.
//
// Low quality has a canvas of its own over the other: whether edges are smoothed is settled when a canvas is made, and smoothing is
// half of a frame where no GPU draws. Pointers and keys stay with the first.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { TransformControls } from 'three/examples/jsm/controls/TransformControls.js';

const CLAY = new THREE.Color().setRGB(0.56, 0.5, 0.44);
const LOOKS = {
  light: { centre: '#f1f2f4', middle: '#dddfe2', edge: '#bfc2c6', line: '#a9adb3', shadow: 0.26, contact: 0.55, sky: 0xf2f6ff, bounce: 0xa39c94, fill: 1.55 },
  dark: { centre: '#41464e', middle: '#2b2f35', edge: '#16181b', line: '#4a5058', shadow: 0.5, contact: 0.9, sky: 0xdfe8f8, bounce: 0x7d7974, fill: 1.9 },
};
const MOST_SIDES = 4; // bodies that are compared
const LOW_PIXELS = [0.75, 0.5]; // of the stage's, in low quality and where that is slow too
const PICK_PIXELS = 14, SLOW_SHADOWS = 300; // milliseconds between shadows where frames are slow
const SWAY = 0.12, JUMP = 0.6; // radii a body may leave its place, along the ground and up, before the view follows

/** A square picture drawn once. */
function drawn(size, draw) {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = size;
  draw(canvas.getContext('2d'));
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}
function gradient(size, middle, radius, stops) {
  return drawn(size, (context) => {
    const fill = context.createRadialGradient(size / 2, middle, radius / 20, size / 2, size / 2, radius);
    stops.forEach(([at, color]) => fill.addColorStop(at, color));
    context.fillStyle = fill;
    context.fillRect(0, 0, size, size);
  });
}
const backdrop = (look) => gradient(512, 190, 420, [[0, look.centre], [0.5, look.middle], [1, look.edge]]);
const softSpot = () => gradient(128, 64, 64, [[0, 'rgba(0,0,0,0.34)'], [0.45, 'rgba(0,0,0,0.14)'], [1, 'rgba(0,0,0,0)']]);
const dotTexture = () => drawn(64, (context) => {
  for (const [radius, style] of [[30, 'rgba(20,24,30,0.55)'], [26, '#fff']]) { context.beginPath(); context.arc(32, 32, radius, 0, 7); context.fillStyle = style; context.fill(); }
});

const dynamic = (array) => new THREE.BufferAttribute(array, 3).setUsage(THREE.DynamicDrawUsage);

/** Numbers of runs [start, end) of vertices in place of what an attribute has there. */
function putRuns(attribute, runs, values) {
  let at = 0;
  for (const [start, end] of runs) {
    attribute.array.set(values.subarray(at, at + 3 * (end - start)), 3 * start);
    attribute.addUpdateRange(3 * start, 3 * (end - start));
    at += 3 * (end - start);
  }
  attribute.needsUpdate = true;
}

/** One side: a mesh over the shared topology with its own positions and normals, once there are any. */
class Side {
  constructor(shared) {
    this.geometry = new THREE.BufferGeometry();
    this.positions = this.normals = null;
    if (shared.uv) this.geometry.setAttribute('uv', shared.uv);
    this.geometry.setIndex(shared.index);
    for (const group of shared.groups) this.geometry.addGroup(group.start, group.count, group.material);
    this.geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity); // moves every frame; never culled
    this.shared = shared;
    this.mesh = new THREE.Mesh(this.geometry, shared.materials);
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    this.wire = new THREE.Mesh(this.geometry, shared.wireMaterial);
    Object.assign(this.wire, { frustumCulled: false, visible: shared.wired });
    this.mesh.add(this.wire);
    this.setPainted(false);
  }
  setPainted(painted) {
    this.painted = painted;
    const { materials, plain, paintMaterial, paintPlain, low } = this.shared;
    this.mesh.material = painted ? materials.map(() => (low ? paintPlain : paintMaterial)) : low ? plain : materials;
    if (painted) this.geometry.setAttribute('color', this.shared.paint);
    else if (this.shared.colors) this.geometry.setAttribute('color', this.shared.colors);
    else this.geometry.deleteAttribute('color');
  }
  /** New arrays, which it keeps. @returns the buffers it had, to be filled again */
  update({ positions, normals }) {
    if (!this.positions) {
      this.geometry.setAttribute('position', this.positions = dynamic(positions));
      this.geometry.setAttribute('normal', this.normals = dynamic(normals));
      return [];
    }
    const old = [this.positions.array.buffer, this.normals.array.buffer];
    for (const attribute of [this.positions, this.normals]) attribute.clearUpdateRanges();
    Object.assign(this.positions, { array: positions, needsUpdate: true });
    Object.assign(this.normals, { array: normals, needsUpdate: true });
    return old;
  }
  dispose() { this.geometry.dispose(); }
}

export class Viewport {
  constructor(canvas, events) {
    this.canvas = canvas;
    this.events = events;
    this.renderer = this.fine = this.makeRenderer(canvas, true);
    this.cheap = null;
    this.low = 0; // 0: high quality; 1, 2: low and lower
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(30, 1, 0.01, 100);
    this.sides = [];
    this.split = null; // where side B begins, a part of the width
    this.bodies = 0; // whole bodies side by side; 0: one stage
    this.gap = 1; // pixels between them
    Object.assign(this, { dirty: true, shapeMoved: true, slow: false, shadowsAt: 0 });
    this.offset = new THREE.Vector3(); // where the body has gone from its rest
    this.azimuth = -0.602; // of the light: a little from the left
    this.makeLights();
    this.makeOverlay();
    this.makeControls();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.resize();
  }
  makeRenderer(canvas, smooth) {
    const context = canvas.getContext('webgl2', { alpha: false, antialias: smooth, powerPreference: 'high-performance' }); // three.js would ask for one that is seen through, and the page blend it
    const renderer = new THREE.WebGLRenderer({ canvas, context });
    renderer.debug.checkShaderErrors = false; // asking for a shader's log waits for its compiler
    Object.assign(renderer.shadowMap, { enabled: smooth, type: THREE.PCFShadowMap, autoUpdate: false });
    return renderer;
  }
  makeLights() {
    this.sky = new THREE.HemisphereLight(0xffffff, 0x888888, 1.5);
    this.key = new THREE.DirectionalLight(0xfff1de, 2.5);
    this.key.castShadow = true;
    this.key.shadow.mapSize.set(2048, 2048);
    Object.assign(this.key.shadow, { radius: 3.5, bias: -0.0004 });
    this.rim = new THREE.DirectionalLight(0xd6e4ff, 0.9);
    this.ground = new THREE.Mesh(new THREE.CircleGeometry(1, 64), new THREE.ShadowMaterial({ opacity: 0.25, depthWrite: false })); // the dark spot lies on it
    this.ground.receiveShadow = true;
    // A soft dark spot under the body: the sky's own shadow.
    this.contact = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.MeshBasicMaterial({ map: softSpot(), transparent: true, depthWrite: false, opacity: 0.5 }));
    this.ground.rotation.x = this.contact.rotation.x = -Math.PI / 2;
    this.scene.add(this.sky, this.key, this.key.target, this.rim, this.rim.target, this.ground, this.contact);
  }
  makeOverlay() {
    const overlay = { depthTest: false, depthWrite: false, transparent: true };
    const bone = new THREE.OctahedronGeometry(1, 0); // from y = 0 to 1, widest at 0.15
    const at = bone.attributes.position;
    for (let i = 0; i < at.count; i++) at.setXYZ(i, at.getX(i) * 0.07, at.getY(i) > 0.5 ? 1 : at.getY(i) < -0.5 ? 0 : 0.15, at.getZ(i) * 0.07);
    this.boneGeometry = bone;
    this.boneMaterial = new THREE.MeshBasicMaterial({ color: 0xffffff, opacity: 0.5, ...overlay });
    this.bones = null;
    this.pointMaterial = new THREE.PointsMaterial({ map: dotTexture(), size: 9, sizeAttenuation: false, vertexColors: true, alphaTest: 0.05, ...overlay });
    this.points = new THREE.Points(new THREE.BufferGeometry(), this.pointMaterial);
    this.points.renderOrder = 12;
    this.points.frustumCulled = false;
    this.scene.add(this.points);
    this.markers = [];
  }
  makeControls() {
    this.orbit = new OrbitControls(this.camera, this.canvas);
    this.orbit.enableDamping = false;
    this.orbit.listenToKeyEvents(this.canvas);
    this.orbit.addEventListener('change', () => this.invalidate());
    this.grip = new THREE.Object3D();
    this.scene.add(this.grip);
    this.gizmo = new TransformControls(this.camera, this.canvas);
    this.gizmo.setSize(0.7);
    this.gizmo.addEventListener('change', () => this.invalidate());
    this.gizmo.addEventListener('dragging-changed', (event) => { this.orbit.enabled = !event.value; this.events.grip?.(event.value ? 'start' : 'end', this.grip); });
    this.gizmo.addEventListener('objectChange', () => this.events.grip?.('move', this.grip));
    this.scene.add(this.gizmo.getHelper());
    const soft = { ff0000: 0xd9483b, '00ff00': 0x3f9e4d, '0000ff': 0x3a6fd8, ffff00: 0x9aa3ad };
    this.gizmo.getHelper().traverse(({ material }) => { // pure red, green and blue shout
      const color = material?.color && soft[material.color.getHexString()];
      if (color !== undefined) material.color.set(color);
    });
    let down = null;
    this.canvas.parentElement.addEventListener('pointerdown', (event) => this.takeDot(event), true); // before the camera does
    this.canvas.addEventListener('pointerdown', (event) => { down = [event.clientX, event.clientY]; });
    this.canvas.addEventListener('pointerup', (event) => {
      if (down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 4 && !this.gizmo.dragging && !this.dot?.moved) this.click(event);
      down = null;
      this.dropDot();
    });
    this.canvas.addEventListener('pointercancel', () => this.dropDot());
    this.canvas.addEventListener('pointermove', (event) => {
      if (this.dot) this.moveDot(event);
      if (event.buttons) return;
      const marker = this.pick(event);
      this.canvas.style.cursor = marker >= 0 ? 'pointer' : '';
      if (marker !== this.hovered) { this.hovered = marker; this.events.hover?.(marker, event); }
    });
    this.canvas.addEventListener('pointerleave', () => { this.hovered = -1; this.events.hover?.(-1); });
  }
  /** Dots that can be dragged are, in the plane that faces the camera. */
  takeDot(event) {
    if (event.target !== this.canvas || event.button !== 0 || this.gizmo.axis || !this.events.draggable?.()) return;
    const marker = this.pick(event);
    if (marker < 0) return;
    this.events.pick?.(marker);
    const position = new THREE.Vector3().fromArray(this.markers[marker].position), plane = new THREE.Plane().setFromNormalAndCoplanarPoint(this.camera.getWorldDirection(new THREE.Vector3()), position);
    const start = this.ray(event).ray.intersectPlane(plane, new THREE.Vector3());
    if (!start) return;
    this.dot = { plane, shift: position.clone().sub(start), moved: false };
    this.orbit.enabled = this.gizmo.enabled = false;
    this.canvas.setPointerCapture(event.pointerId);
  }
  moveDot(event) {
    const to = this.ray(event).ray.intersectPlane(this.dot.plane, new THREE.Vector3());
    if (!to) return;
    if (!this.dot.moved) { this.dot.moved = true; this.events.grip?.('start', this.grip); }
    this.grip.position.copy(to.add(this.dot.shift));
    this.grip.updateMatrixWorld();
    this.events.grip?.('move', this.grip);
  }
  dropDot() {
    if (!this.dot) return;
    const { moved } = this.dot;
    this.dot = null;
    this.orbit.enabled = this.gizmo.enabled = true;
    if (moved) this.events.grip?.('end', this.grip);
  }
  get dragging() { return this.gizmo.dragging || !!this.dot?.moved; }
  /** Let go of whatever is being dragged. */
  release() { if (this.dot) this.dropDot(); else if (this.gizmo.dragging) this.gizmo.pointerUp(null); }
  click(event) {
    const marker = this.pick(event);
    if (marker >= 0) this.events.pick?.(marker); else this.events.clickSurface?.(this.surfacePoint(event), this.ray(event));
  }
  setWire(wired) {
    this.wired = wired;
    for (const side of this.sides) side.wire.visible = wired;
    if (this.own) this.own.children[0].visible = wired;
    if (this.shared) this.shared.wired = wired;
    this.invalidate();
  }
  /** Where the light comes from, degrees from the front. */
  setLight(degrees) { this.azimuth = (degrees * Math.PI) / 180; this.placeLight(); }
  placeLight() {
    if (!this.centre) return;
    this.key.position.copy(this.centre).add(this.offset).add(new THREE.Vector3(1.94 * Math.sin(this.azimuth), 2.2, 1.94 * Math.cos(this.azimuth)).normalize().multiplyScalar(4 * this.radius));
    this.shapeMoved = true;
    this.invalidate();
  }
  setBackground(kind) { this.back = kind; if (this.look) this.setLook(this.look === LOOKS.dark); }
  /** Cheap to draw: no shadows, plain materials, a plain background, hard edges, fewer pixels. @param low 0: not; 1, 2: how few */
  setLow(low) {
    if (this.low === low) return;
    const turned = !this.low !== !low;
    this.low = low;
    if (turned) {
      this.cheap ??= this.makeRenderer(this.canvas.parentElement.insertBefore(Object.assign(document.createElement('canvas'), { className: 'low' }), this.canvas.nextSibling), false);
      this.renderer = low ? this.cheap : this.fine;
      this.cheap.domElement.hidden = !low;
      this.cheap.domElement.setAttribute('aria-hidden', 'true');
      document.documentElement.toggleAttribute('data-low', !!low);
      this.key.castShadow = this.ground.visible = !low;
      if (this.shared) { this.shared.low = low; for (const side of this.sides) side.setPainted(side.painted); }
      if (this.own) this.own.material = low ? this.shared.paintPlain : this.shared.paintMaterial;
      if (this.look) this.setLook(this.look === LOOKS.dark);
      this.shapeMoved = true;
    }
    this.resize();
  }
  /** Draws as well as it can, whatever the quality of the stage is. */
  finely(draw) {
    const { low, slow } = this;
    Object.assign(this, { slow: false, shapeMoved: true }); // its shadows are of this shape
    this.setLow(0);
    try { return draw(); } finally { this.slow = slow; this.setLow(low); }
  }
  setLook(dark) {
    const look = this.look = dark ? LOOKS.dark : LOOKS.light;
    if (this.scene.background?.isTexture) this.scene.background.dispose();
    this.scene.background = this.back === 'dark' ? new THREE.Color('#0b0c0e') : this.back === 'plain' || this.low ? new THREE.Color(look.middle) : backdrop(look);
    [this.ground.material.opacity, this.contact.material.opacity, this.sky.intensity] = [look.shadow, look.contact, look.fill];
    this.sky.color.set(look.sky);
    this.sky.groundColor.set(look.bounce);
    this.invalidate();
  }

  // Characters ------------------------------------------------------------------------------------
  /** @param info what the stage worker says of a document; @param look its materials */
  setCharacter(info, look) {
    this.clear();
    this.shared = this.makeShared(info, look.materials);
    this.sides = Array.from({ length: MOST_SIDES }, () => new Side(this.shared));
    this.scene.add(...this.sides.map((side) => side.mesh));
  }
  /** Compiles what a document's look needs, without blocking the page. @returns what holds the programs until it is drawn */
  async warm({ description, instances, transfer }, look) {
    const three = (array, width) => (array ? new Float32Array(3 * width) : null), { texcoords, colors } = transfer;
    const shared = this.makeShared({ description, instances, vertexCount: 3, transfer: { indices: Uint32Array.of(0, 1, 2), texcoords: three(texcoords, 2), colors: three(colors, 4) } }, look.materials);
    const side = new Side(shared);
    side.update({ positions: new Float32Array(9), normals: new Float32Array(9) });
    if (this.renderer.extensions.has('KHR_parallel_shader_compile')) await this.renderer.compileAsync(side.mesh, this.camera, this.scene);
    return { side, dispose() { side.dispose(); shared.dispose(); } };
  }
  /** Draws what every scene has and a body as the built-in ones are, so that shaders are compiled while the engine reads. */
  async rehearse() {
    const body = { description: { meshes: [{ primitives: [{ topology: 0, indexCount: 3, material: 0 }] }] }, instances: [{ mesh: 0 }], transfer: { colors: true } };
    const { side: { mesh } } = this.rehearsal = await this.warm(body, { materials: [new THREE.MeshStandardMaterial()] });
    this.scene.add(mesh);
    this.render();
    this.scene.remove(mesh);
  }
  clear() {
    this.setOwn(null);
    for (const side of this.sides) { this.scene.remove(side.mesh); side.dispose(); }
    this.sides = [];
    this.shared?.dispose();
  }
  makeShared({ description, instances, vertexCount, transfer }, loaded) {
    const groups = [], used = new Map(), list = [];
    let start = 0;
    for (const instance of instances) {
      for (const part of description.meshes[instance.mesh].primitives) {
        if (part.topology !== 0 || !part.indexCount) continue; // lines and points are not drawn
        if (!used.has(part.material)) { used.set(part.material, list.length); list.push(this.makeMaterial(loaded[part.material], !!transfer.colors)); }
        groups.push({ start, count: part.indexCount, material: used.get(part.material) });
        start += part.indexCount;
      }
    }
    if (!list.length) list.push(this.makeMaterial(null, false));
    const paintMaterial = new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.85, metalness: 0, side: THREE.DoubleSide });
    const wireMaterial = new THREE.MeshBasicMaterial({ color: 0x10151c, wireframe: true, transparent: true, opacity: 0.28, depthWrite: false });
    const plain = list.map(({ color, map, vertexColors, alphaTest, side }) => new THREE.MeshLambertMaterial({ color, map, vertexColors, alphaTest, side })), paintPlain = new THREE.MeshLambertMaterial({ vertexColors: true, side: THREE.DoubleSide });
    return {
      groups, materials: list, plain, paintMaterial, paintPlain, wireMaterial, wired: !!this.wired, low: this.low, paint: null,
      index: new THREE.BufferAttribute(transfer.indices, 1),
      uv: transfer.texcoords ? new THREE.BufferAttribute(transfer.texcoords, 2) : null,
      colors: transfer.colors ? new THREE.BufferAttribute(transfer.colors, transfer.colors.length / vertexCount) : null,
      dispose() { for (const material of [...list, ...plain, paintMaterial, paintPlain, wireMaterial]) material.dispose(); }, // pictures belong to the look
    };
  }
  makeMaterial(loaded, colored) {
    const material = loaded ? loaded.clone() : new THREE.MeshStandardMaterial({ color: colored ? 0xffffff : CLAY, roughness: 0.72, metalness: 0, side: THREE.DoubleSide });
    material.vertexColors = colored;
    if (!colored && !material.map && material.color?.getHex() === 0xffffff) material.color.copy(CLAY); // white all over is no colour at all: nobody chose one, and light would hide the shape
    material.shadowSide = THREE.DoubleSide;
    if (material.metalness > 0.2) material.metalness = material.metalnessMap ? 0.5 : 0.2; // there is nothing around to mirror
    if (material.roughness < 0.35) material.roughness = 0.35;
    return material;
  }
  update(index, arrays) {
    this.shapeMoved = true;
    this.invalidate();
    return this.sides[index].update(arrays);
  }
  /** @param colors of the painted vertices, or null: the skin */
  setPaint(colors, sides) {
    this.shared.paint?.clearUpdateRanges();
    if (colors && this.shared.paint) Object.assign(this.shared.paint, { array: colors, needsUpdate: true });
    else if (colors) this.shared.paint = dynamic(colors);
    this.sides.forEach((side, i) => { const painted = !!colors && sides.includes(i); if (side.painted !== painted) side.setPainted(painted); });
    this.invalidate();
  }

  /** Runs of vertices of side A that moved: only they go to the GPU. */
  updatePart({ runs, positions, normals }) {
    const [side] = this.sides;
    putRuns(side.positions, runs, positions);
    putRuns(side.normals, runs, normals);
    this.shapeMoved = true;
    this.invalidate();
  }
  paintPart({ runs, colors }) { putRuns(this.shared.paint, runs, colors); this.invalidate(); }

  /** Light, ground and camera for a box. */
  frame({ min, max, middle }) {
    this.offset.set(0, 0, 0);
    this.middle = new THREE.Vector3(...middle);
    const box = new THREE.Box3(new THREE.Vector3(...min), new THREE.Vector3(...max));
    const centre = box.getCenter(new THREE.Vector3()), radius = Math.max(box.getSize(new THREE.Vector3()).length() / 2, 1e-6);
    this.radius = radius;
    this.centre = centre;
    this.half = box.getSize(new THREE.Vector3()).multiplyScalar(0.5);
    this.key.target.position.copy(centre);
    this.placeLight();
    this.rim.target.position.copy(centre);
    this.rim.position.copy(centre).add(new THREE.Vector3(1.6, 0.9, -1.8).multiplyScalar(2 * radius));
    Object.assign(this.key.shadow.camera, { left: -1.7 * radius, right: 1.7 * radius, top: 1.7 * radius, bottom: -1.7 * radius, near: radius, far: 8 * radius });
    this.key.shadow.camera.updateProjectionMatrix();
    this.key.shadow.normalBias = 0.004 * radius;
    this.ground.position.set(centre.x, min[1], centre.z);
    this.ground.scale.setScalar(12 * radius);
    const size = box.getSize(new THREE.Vector3());
    this.contact.position.set(centre.x, min[1] + 2e-4 * radius, centre.z);
    this.contact.scale.set(Math.max(size.x, 0.6 * radius) * 1.5, Math.max(size.z, 0.6 * radius) * 2.2, 1);
    Object.assign(this.camera, { near: radius / 50, far: 40 * radius });
    Object.assign(this.orbit, { minDistance: radius / 10, maxDistance: 12 * radius });
    this.shapeMoved = true;
    this.home();
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }
  /** The ground is where the shape stands; while a clip plays it only sinks, so that a jump leaves it. */
  setGround(low, playing) {
    if (playing) low = Math.min(low, this.ground.position.y);
    this.ground.position.y = low;
    this.contact.position.y = low + 2e-4 * this.radius;
  }
  /** Camera, light and ground go where the body goes: it may sway in its place. @param snap to its middle, not its edge */
  follow(middle, snap) {
    const off = new THREE.Vector3(...middle).sub(this.middle).sub(this.offset), along = Math.hypot(off.x, off.z);
    const beyond = (by, most) => (by > most ? 1 - (snap ? 0 : most / by) : 0), flat = beyond(along, SWAY * this.radius);
    const step = new THREE.Vector3(off.x * flat, off.y * beyond(Math.abs(off.y), JUMP * this.radius), off.z * flat);
    if (step.lengthSq() === 0) return;
    this.offset.add(step);
    for (const { position } of [this.camera, this.key, this.key.target, this.rim, this.rim.target]) position.add(step);
    for (const { position } of [this.ground, this.contact]) { position.x += step.x; position.z += step.z; }
    this.orbit.target.add(step);
    this.orbit.update();
  }
  /** Everything is seen, from the front. @param box of what is shown, which may lie elsewhere than at rest: { min, max } */
  home(box = null) {
    if (!this.centre) return;
    const sphere = box && new THREE.Box3(new THREE.Vector3(...box.min), new THREE.Vector3(...box.max)).getBoundingSphere(new THREE.Sphere()), known = sphere?.radius > 0, centre = known ? sphere.center : this.centre.clone().add(this.offset), radius = known ? Math.max(sphere.radius, 0.7 * this.radius) : this.radius;
    const half = THREE.MathUtils.degToRad(this.camera.fov / 2), aspect = this.camera.aspect;
    const distance = (1.06 * radius) / Math.sin(Math.min(half, Math.atan(Math.tan(half) * aspect)));
    this.orbit.target.copy(centre);
    this.camera.position.copy(this.orbit.target).add(new THREE.Vector3(0.42, 0.22, 1).normalize().multiplyScalar(distance));
    this.camera.zoom = 1;
    this.orbit.update();
    this.invalidate();
  }
  /** As near as the whole body is seen, from where the camera is. In a narrow place by its box: bodies stand. */
  refit() {
    if (!this.centre) return;
    const half = Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2)), { x, y, z } = this.half, distance = 1.12 * Math.max(y / half, Math.hypot(x, z) / (half * this.camera.aspect)) + Math.max(x, z);
    const off = this.camera.position.clone().sub(this.orbit.target).setLength(distance);
    this.orbit.target.copy(this.centre).add(this.offset);
    this.camera.position.copy(this.orbit.target).add(off);
    this.orbit.update();
    this.invalidate();
  }
  turn(azimuth, polar) { // radians; for keys
    const offset = this.camera.position.clone().sub(this.orbit.target), { radius, theta, phi } = new THREE.Spherical().setFromVector3(offset);
    this.camera.position.copy(this.orbit.target).add(offset.setFromSphericalCoords(radius, Math.min(3.1, Math.max(0.04, phi + polar)), theta + azimuth));
    this.orbit.update();
  }
  zoom(factor) {
    this.camera.position.sub(this.orbit.target).multiplyScalar(factor).add(this.orbit.target);
    this.orbit.update();
  }

  // Markers: joints of a skeleton or handles ------------------------------------------------------
  /** @param markers [{ position: [x, y, z], parent: index or -1 }] */
  setMarkers(markers, selected, { bones = true, size = 9 } = {}) {
    this.markers = markers;
    const plain = new THREE.Color(this.shared?.groups.length ? 0xffffff : 0x7d8896), accent = new THREE.Color(getComputedStyle(document.documentElement).getPropertyValue('--accent').trim() || '#2563c9');
    const geometry = this.points.geometry;
    if (geometry.attributes.position?.count !== markers.length) {
      geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * markers.length), 3));
      geometry.setAttribute('color', new THREE.BufferAttribute(new Float32Array(3 * markers.length), 3));
    }
    markers.forEach((marker, i) => {
      geometry.attributes.position.setXYZ(i, ...marker.position);
      const color = i === selected ? accent : plain;
      geometry.attributes.color.setXYZ(i, color.r, color.g, color.b);
    });
    geometry.attributes.position.needsUpdate = geometry.attributes.color.needsUpdate = true;
    this.points.visible = markers.length > 0;
    this.pointMaterial.size = size; // in CSS pixels: three.js has the ratio
    this.setBones(bones ? markers : [], selected, accent, plain);
    this.invalidate();
  }
  setBones(markers, selected, accent, plain) {
    const links = markers.flatMap((marker, i) => (marker.parent >= 0 ? [i] : []));
    if (this.bones?.count !== links.length) {
      if (this.bones) { this.scene.remove(this.bones); this.bones.dispose(); this.bones = null; }
      if (!links.length) return;
      this.bones = new THREE.InstancedMesh(this.boneGeometry, this.boneMaterial, links.length);
      this.bones.renderOrder = 11;
      this.bones.frustumCulled = false;
      this.scene.add(this.bones);
    }
    if (!this.bones) return;
    const from = new THREE.Vector3(), to = new THREE.Vector3(), up = new THREE.Vector3(0, 1, 0), turn = new THREE.Quaternion(), matrix = new THREE.Matrix4();
    links.forEach((i, k) => {
      from.fromArray(markers[markers[i].parent].position);
      to.fromArray(markers[i].position).sub(from);
      const length = Math.max(to.length(), 1e-9);
      turn.setFromUnitVectors(up, to.divideScalar(length));
      this.bones.setMatrixAt(k, matrix.compose(from, turn, new THREE.Vector3(length, length, length)));
      this.bones.setColorAt(k, markers[i].parent === selected ? accent : plain);
    });
    this.bones.instanceMatrix.needsUpdate = true;
    if (this.bones.instanceColor) this.bones.instanceColor.needsUpdate = true;
  }
  project(position) {
    const at = new THREE.Vector3(...position).project(this.camera), [cell] = this.cells();
    return [cell.x + ((at.x + 1) / 2) * cell.width, cell.y + ((1 - at.y) / 2) * cell.height, at.z];
  }
  pick(event) {
    const rect = this.canvas.getBoundingClientRect(), x = event.clientX - rect.left, y = event.clientY - rect.top;
    let best = -1, nearest = event.pointerType === 'touch' ? 2 * PICK_PIXELS : PICK_PIXELS;
    this.markers.forEach((marker, i) => {
      if (marker.fixed) return;
      const [px, py, pz] = this.project(marker.position), distance = Math.hypot(px - x, py - y);
      if (pz < 1 && distance < nearest) { nearest = distance; best = i; }
    });
    return best;
  }
  /** The parts of the stage that show a body each, CSS pixels: as many columns as bodies, or two rows where they would be narrow. */
  cells() {
    const { clientWidth: width, clientHeight: height } = this.canvas, n = Math.max(1, this.bodies), columns = n === 4 && width / 4 < 0.36 * height ? 2 : n, rows = Math.ceil(n / columns);
    return Array.from({ length: n }, (_, i) => ({ x: ((i % columns) * width) / columns, y: (Math.floor(i / columns) * height) / rows, width: width / columns, height: height / rows }));
  }
  cellAt(x, y) { const list = this.cells(); return list.find((cell) => x >= cell.x && x < cell.x + cell.width && y >= cell.y && y < cell.y + cell.height) ?? list[0]; }
  /** The camera sees a part of the stage. */
  fit({ width, height }) {
    if (Math.abs(this.camera.aspect - width / height) < 1e-9) return;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }
  ray(event) {
    const rect = this.canvas.getBoundingClientRect(), ray = new THREE.Raycaster();
    const cell = this.cellAt(event.clientX - rect.left, event.clientY - rect.top);
    ray.setFromCamera(new THREE.Vector2(((event.clientX - rect.left - cell.x) / cell.width) * 2 - 1, 1 - ((event.clientY - rect.top - cell.y) / cell.height) * 2), this.camera);
    return ray;
  }
  surfacePoint(event) {
    if (!this.sides.length) return null;
    const hit = this.ray(event).intersectObject(this.sides[0].mesh, false)[0];
    return hit ? { point: hit.point.toArray(), normal: hit.face.normal.toArray() } : null;
  }
  /** The gizmo at a marker, or gone. @param mode 'rotate' | 'translate' | null */
  setGrip(mode, position, quaternion) {
    if (!mode) { this.gizmo.detach(); this.invalidate(); return; }
    if (this.dragging) return;
    this.grip.position.fromArray(position);
    this.grip.quaternion.fromArray(quaternion ?? [0, 0, 0, 1]);
    this.grip.updateMatrixWorld();
    this.gizmo.setMode(mode);
    this.gizmo.setSpace(mode === 'rotate' ? 'local' : 'world');
    if (this.gizmo.object !== this.grip) this.gizmo.attach(this.grip);
    this.invalidate();
  }

  // Drawing ---------------------------------------------------------------------------------------
  invalidate() { this.dirty = true; this.events.invalidate?.(); }
  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (!width || !height) return;
    this.renderer.setPixelRatio(this.low ? LOW_PIXELS[this.low - 1] : Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = 0;
    this.fit(this.cells()[0]);
    this.events.resized?.();
    this.invalidate();
  }
  /** Triangles of side A that are not the model's: { positions, normals, colors } one after the other, or null. */
  setOwn(arrays) {
    if (this.own) { this.scene.remove(this.own); this.own.geometry.dispose(); this.own = null; }
    if (!arrays) return;
    const geometry = new THREE.BufferGeometry(), { paintMaterial, paintPlain, wireMaterial } = this.shared;
    for (const [name, array] of [['position', arrays.positions], ['normal', arrays.normals], ['color', arrays.colors]]) geometry.setAttribute(name, new THREE.BufferAttribute(array, 3));
    this.own = Object.assign(new THREE.Mesh(geometry, this.low ? paintPlain : paintMaterial), { castShadow: true, receiveShadow: true, frustumCulled: false });
    this.own.add(Object.assign(new THREE.Mesh(geometry, wireMaterial), { frustumCulled: false, visible: !!this.wired }));
    this.scene.add(this.own);
  }
  show(side) {
    this.sides.forEach((each, i) => { each.mesh.visible = i === side && !!each.positions && !(i === 0 && this.own); });
    if (this.own) this.own.visible = side === 0;
  }
  render(now = performance.now()) {
    this.dirty = false;
    const { clientWidth: width, clientHeight: height } = this.canvas, renderer = this.renderer;
    const shadows = this.shapeMoved && (!this.slow || now - this.shadowsAt > SLOW_SHADOWS);
    if (shadows) { this.shapeMoved = false; this.shadowsAt = now; }
    renderer.shadowMap.needsUpdate = shadows;
    if (this.bodies) { this.renderCells(shadows); return; }
    this.fit({ width, height });
    const draw = (side) => { this.show(side); renderer.render(this.scene, this.camera); }, x = Math.round((this.split ?? 1) * width);
    renderer.setScissorTest(this.split !== null);
    renderer.setScissor(0, 0, x, height);
    draw(0);
    this.events.drawn?.();
    if (this.split === null) return;
    renderer.shadowMap.needsUpdate = shadows && !this.slow;
    renderer.setScissor(x, 0, width - x, height);
    draw(1);
    renderer.setScissorTest(false);
  }
  /** Whole bodies, each in a part of the stage, with one camera. */
  renderCells(shadows) {
    const { renderer } = this, { clientWidth: width, clientHeight: height } = this.canvas, list = this.cells();
    if (this.gap) { renderer.setClearColor(this.look.line); renderer.clear(); } // what is left between them is a line
    renderer.setScissorTest(true);
    list.forEach((cell, i) => {
      const bottom = height - cell.y - cell.height, right = cell.x + cell.width < width - 0.5 ? this.gap : 0, under = bottom > 0.5 ? this.gap : 0;
      renderer.setViewport(cell.x, bottom, cell.width, cell.height); // three.js counts from below
      renderer.setScissor(cell.x, bottom + under, cell.width - right, cell.height - under);
      this.fit(cell);
      renderer.shadowMap.needsUpdate = shadows && (!i || !this.slow);
      this.show(i);
      renderer.render(this.scene, this.camera);
    });
    renderer.setScissorTest(false);
    renderer.setViewport(0, 0, width, height);
  }
  /** All sides as one picture, a data URL. */
  sheet(bodies) {
    const { bodies: kept, split } = this, azimuth = this.camera.position.clone(), target = this.orbit.target.clone();
    Object.assign(this, { bodies, split: null, gap: 0 });
    this.fit(this.cells()[0]);
    this.refit();
    try { return this.finely(() => this.bare(() => { this.render(); return this.canvas.toDataURL('image/jpeg', 0.9); })); } finally {
      Object.assign(this, { bodies: kept, split, gap: 1 });
      this.camera.position.copy(azimuth);
      this.orbit.target.copy(target);
      this.orbit.update();
    }
  }
  /** Draws without markers and gizmo, and puts them back. */
  bare(draw) {
    const hidden = [this.points, this.bones, this.gizmo.getHelper()].filter((object) => object?.visible);
    for (const object of hidden) object.visible = false;
    try { return draw(); } finally { for (const object of hidden) object.visible = true; this.invalidate(); }
  }
  /** The stage as a PNG blob. */
  picture() {
    return this.finely(() => this.bare(() => { this.render(); return new Promise((resolve) => { this.canvas.toBlob(resolve, 'image/png'); }); }));
  }
  /** A small picture of a shape of side A as a data URL: drawn on the stage, which is drawn again before anyone sees it. */
  thumbnail(arrays, size) {
    const side = this.sides[0], kept = side.positions && { positions: side.positions.array, normals: side.normals.array }, { split, renderer: { domElement: canvas } } = this, small = document.createElement('canvas');
    const edge = Math.min(canvas.width, canvas.height), { camera } = this;
    small.width = small.height = 2 * size;
    this.update(0, arrays);
    const { bodies } = this;
    this.bodies = 0;
    this.split = null;
    camera.zoom = edge / Math.max(canvas.width, canvas.height); // a long body lies in the middle of the stage, and whole in a square
    camera.updateProjectionMatrix();
    this.bare(() => { this.render(); small.getContext('2d').drawImage(canvas, (canvas.width - edge) / 2, (canvas.height - edge) / 2, edge, edge, 0, 0, 2 * size, 2 * size); });
    Object.assign(this, { split, bodies });
    camera.zoom = 1;
    camera.updateProjectionMatrix();
    if (kept) this.update(0, kept);
    return small.toDataURL('image/png');
  }
}
