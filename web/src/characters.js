/** Characters that come with the page; `file` is made at build time, others when asked for. */
export const BUILT_IN = [
  { id: 'biped', name: 'Biped', detail: '12 000', file: 'models/biped.pack' },
  { id: 'quadruped', name: 'Quadruped', detail: '8 000', file: 'models/quadruped.pack' },
  { id: 'arm', name: 'Arm, example poses', detail: '2 972', file: 'models/arm.pack' },
  { id: 'cylinder', name: 'Cylinder', detail: '16 450', file: 'models/cylinder.pack' },
  { id: 'biped-high', name: 'Biped, fine', detail: '46 036', file: 'models/biped-high.pack' },
  { id: 'crowd', name: 'Crowd of 8', detail: '', synth: { body: 'crowd', count: 8, seed: 7 } },
];
