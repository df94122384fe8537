/** Characters that come with the page; `file` is made at build time, others by a command when asked for. */
export const BUILT_IN = [
  { id: 'biped', name: 'Biped', detail: '12 000', file: 'models/biped.glb' },
  { id: 'quadruped', name: 'Quadruped', detail: '8 000', file: 'models/quadruped.glb' },
  { id: 'arm', name: 'Arm, example poses', detail: '2 972', file: 'models/arm.glb' },
  { id: 'cylinder', name: 'Cylinder', detail: '16 450', file: 'models/cylinder.glb' },
  { id: 'biped-high', name: 'Biped, fine', detail: '46 036', file: 'models/biped-high.glb' },
  { id: 'crowd', name: 'Crowd of 8', detail: '', words: ['synth', 'crowd', '--count', '8', '--seed', '7'] },
];
/** Bodies to begin the journey with: bare, as scans are. */
export const EXAMPLES = [
  { id: 'scan', name: 'A person', words: ['synth', 'family', '--kind', 'human', '--seed', '7', '--scan', 'off', '--unrigged'] },
  { id: 'beast', name: 'A beast', words: ['synth', 'family', '--kind', 'quadruped', '--seed', '3', '--scan', 'off', '--unrigged'] },
  { id: 'bear', name: 'A bear', words: ['synth', 'family', '--kind', 'bear', '--seed', '2', '--scan', 'off', '--unrigged'] },
];
