/// The one table of the command: verbs, their options, their examples. Parsing (args.c), --help,
/// the man page, the completion and docs/cli.md (help.c) all come from it, so none of them can say
/// something the others do not.
#ifndef CUTIS_CLI_VERBS_H
#define CUTIS_CLI_VERBS_H

#include <stdbool.h>
#include <stdint.h>

#include <cutis/deform.h>
#include <cutis/device.h>

typedef enum option_kind {
    KIND_FLAG,   ///< no value
    KIND_TEXT,   ///< any text
    KIND_PATH,   ///< a file or folder
    KIND_PATHS,  ///< one or more files: all words up to the next option
    KIND_EACH,   ///< a file; the option may be given again for another
    KIND_COUNT,  ///< an integer in [min, max]
    KIND_NUMBER, ///< a finite number in [min, max]
    KIND_CHOICE, ///< one of `choices`, separated by spaces
} option_kind;

/// The names of the methods, a space before each.
#define CLI_METHOD_WORD(id, number, name, title, needs, abilities, help) " " name
#define CLI_METHOD_WORDS                                                 CUTIS_METHODS(CLI_METHOD_WORD)

/// The kinds of devices, likewise.
#define CLI_DEVICE_WORD(id, name, number) " " #name
#define CLI_DEVICE_WORDS                  CUTIS_DEVICES(CLI_DEVICE_WORD)

/// Every option: identifier, name, letter, kind, name of its value, choices, least, most, help.
#define CLI_OPTIONS(X)                                                                             \
    X(OUTPUT, "output", 'o', PATH, "FILE", 0, 0, 0, "where the result goes")                       \
    X(FORCE, "force", 0, FLAG, 0, 0, 0, 0, "replace files that are read-only too")                 \
    X(CLIP, "clip", 0, TEXT, "CLIP", 0, 0, 0,                                                      \
      "animation: its name, its index, or a file (.caf .xaf .bvh .gltf .glb)")                     \
    X(CLIPS, "clips", 0, FLAG, 0, 0, 0, 0,                                                         \
      "print only the clips, a line each: the name, or the index where there is none")             \
    X(POSE, "pose", 0, PATH, "FILE", 0, 0, 0, "pose file (JSON) in place of a clip")               \
    X(METHOD, "method", 0, CHOICE, "METHOD", &CLI_METHOD_WORDS[1], 0, 0,                           \
      "how the body is deformed (default lbs; `cutis help methods` has a line for each)")          \
    X(REMOVE, "remove", 0, CHOICE, "HOW", "cut box", 0, 0,                                         \
      "patches: take away what lies beyond a plane, or in the other part's box (default cut)")     \
    X(FILL, "fill", 0, CHOICE, "HOW", "keep mean intersection reduced between", 0, 0,              \
      "patches: keep the volume, or one of the paper's (default keep; box: reduced)")              \
    X(BAND, "band", 0, CHOICE, "HOW", "girth none", 0, 0,                                          \
      "patches: bend softly in a band of a limb's girth, or keep parts rigid to their borders "    \
      "(default girth)")                                                                           \
    X(TRIANGULATE, "triangulate", 0, CHOICE, "HOW", "strips local", 0, 0,                          \
      "patches: strips, which are closed, or the paper's local Delaunay, which may have holes")    \
    X(FIXED, "fixed", 0, FLAG, 0, 0, 0, 0, "patches: the model's own vertices and triangles")      \
    X(HELPERS, "helpers", 0, COUNT, "H", 0, 0, 1024,                                               \
      "joints to add to a model's own (default 16)")                                               \
    X(MORPHS, "morphs", 0, COUNT, "K", 0, 1, 32,                                                   \
      "morph targets, with tracks, for what joints leave over (--helpers 0: the weights stay)")    \
    X(BAKE_DRIVERS, "drivers", 0, FLAG, 0, 0, 0, 0,                                                \
      "helpers and morph targets follow joints in any pose, not in the clips alone "               \
      "(CUTIS_drivers)")                                                                           \
    X(DRIVERS, "drivers", 0, CHOICE, "WHICH", "auto all off", 0, 0,                                \
      "joints with drivers: follow them where a clip has no tracks (auto, default), always or "    \
      "never")                                                                                     \
    X(CONVERT_DRIVERS, "drivers", 0, CHOICE, "HOW", "keep tracks drop", 0, 0,                      \
      "drivers: also as tracks in clips that lack them, or as tracks alone (default keep)")        \
    X(BONES, "bones", 0, COUNT, "N", 0, 1, 1024, "a sequence: joints to find")                     \
    X(BAKE_CLIPS, "clips", 0, TEXT, "all|A,B", 0, 0, 0,                                            \
      "clips that weights are learned from; joints get tracks in all (default all)")               \
    X(BAKE_ERROR, "max-error", 0, NUMBER, "MM", 0, 1e-6, 1e9,                                      \
      "as few joints as keep every vertex within MM thousandths of a unit (glTF: mm)")             \
    X(LIMITS, "limits", 0, TEXT, "FILE|gltf|three", 0, 0, 0,                                       \
      "what the player can play: joints a skin, influences, morph targets, weights")               \
    X(BAKE_REST, "rest", 0, PATH, "MESH", 0, 0, 0,                                                 \
      "a sequence: the mesh that it moves, at rest (default: the first frame)")                    \
    X(RIG, "rig", 0, PATH, "MODEL", 0, 0, 0,                                                       \
      "a sequence: keep this model's skeleton and clip, and add joints to it")                     \
    X(PLOT, "plot", 0, PATH, "OUT.svg|png", 0, 0, 0,                                               \
      "volume and curvature of a joint against its bend: five fills of patches and lbs")           \
    X(JOINT, "joint", 0, TEXT, "PART", 0, 0, 0,                                                    \
      "--plot: the part it leads to (default: the first)")                                         \
    X(WEIGHTED, "weighted", 0, FLAG, 0, 0, 0, 0,                                                   \
      "sbs: a rotation centre per vertex, which leaves no creases")                                \
    X(BLEND, "blend", 0, PATH, "FILE.npy", 0, 0, 0,                                                \
      "one number per vertex: 0 = lbs, 1 = the method")                                            \
    X(FRAMES, "frames", 0, TEXT, "A:B", 0, 0, 0,                                                   \
      "frames A to B - 1; A: to the clip's end; a single number is one frame (default: all)")      \
    X(FPS, "fps", 0, NUMBER, "F", 0, 1e-3, 1e6, "frames per second (default 30)")                  \
    X(DEVICE, "device", 0, TEXT, "D", &CLI_DEVICE_WORDS[1], 0, 0,                                  \
      "one of" CLI_DEVICE_WORDS ", with :N for the N-th (default cpu)")                            \
    X(THREADS, "threads", 0, COUNT, "N", 0, 1, 1024, "CPU threads (default: one per core)")        \
    X(ISA, "isa", 0, CHOICE, "ISA", "auto scalar sse2 neon avx2 avx512", 0, 0,                     \
      "instruction set of the CPU device (default auto)")                                          \
    X(INSTANCES, "instances", 0, COUNT, "N", 0, 1, 1 << 20,                                        \
      "characters in one dispatch; deform: that many frames at once, with the same result")        \
    X(NORMALS, "normals", 0, PATH, "FILE", 0, 0, 0,                                                \
      "write unit normals too (.npy or .pc2, shaped like the positions)")                          \
    X(INFLUENCES, "influences", 0, COUNT, "K", 0, 1, 64,                                           \
      "weights per vertex: the K largest, renormalised (reduce: K that deform as all did)")        \
    X(WEIGHTS, "weights", 0, CHOICE, "FORMAT", "float u16 u8", 0, 0,                               \
      "how weights are stored in glTF (default float; bake: as few bits as cost nothing)")         \
    X(COMPRESS, "compress", 0, CHOICE, "HOW", "none meshopt draco", 0, 0,                          \
      "glTF: EXT_meshopt_compression or KHR_draco_mesh_compression (default none)")                \
    X(BITS, "bits", 0, COUNT, "N", 0, 0, 22,                                                       \
      "--compress: bits of positions, 8 or more (default meshopt 17, draco 14); 0: nothing is "    \
      "rounded")                                                                                   \
    X(SCALE, "scale", 0, NUMBER, "S", 0, 1e-12, 1e12,                                              \
      "file units to metres, for formats without units (OBJ, PLY, OFF, STL, BVH, Cal3D)")          \
    X(UP, "up", 0, CHOICE, "AXIS", "x y z auto", 0, 0,                                             \
      "the axis that is up in such a file; auto: guessed, and said why (default y)")               \
    X(UNITS, "units", 0, CHOICE, "UNIT", "m cm mm in auto", 0, 0,                                  \
      "the unit of such a file, in place of --scale; auto: guessed, and said why (default m)")     \
    X(ASCII, "ascii", 0, FLAG, 0, 0, 0, 0, "PLY, STL: text in place of binary")                    \
    X(FIX, "fix", 0, FLAG, 0, 0, 0, 0, "repair what changes what a file says, too, and say so")    \
    X(VERTICES, "vertices", 0, COUNT, "N", 0, 1, 64000000,                                         \
      "exactly N vertices (each body says what it can have)")                                      \
    X(SIZE, "size", 0, CHOICE, "SIZE", "low mid high", 0, 0, "a standard number of vertices")      \
    X(SEED, "seed", 0, COUNT, "S", 0, 0, 9007199254740992.0,                                       \
      "random numbers (crowd, family, poses)")                                                     \
    X(KIND, "kind", 0, CHOICE, "KIND",                                                             \
      "auto human quadruped bird octopus insect bear hand fish any", 0, 0,                         \
      "what kind of body (family: default human; rig: default auto, as its limbs tell)")           \
    X(REST_POSE, "pose", 0, CHOICE, "POSE", "auto a t sitting bent", 0, 0,                         \
      "family: the rest pose (default: as the seed says)")                                         \
    X(SCAN, "scan", 0, CHOICE, "WHEN", "auto on off", 0, 0,                                        \
      "family: noise and holes as scans have them (default: as the seed says)")                    \
    X(UNRIGGED, "unrigged", 0, FLAG, 0, 0, 0, 0,                                                   \
      "family: the bare mesh, without parts, joints and weights")                                  \
    X(TRUTH, "truth", 0, PATH, "FILE.glb|seg", 0, 0, 0,                                            \
      "family: a second file with the truth: the rigged body, or the part of each triangle")       \
    X(COUNT, "count", 0, COUNT, "N", 0, 1, 100000, "characters of a crowd (default 16)")           \
    X(EXAMPLES, "examples", 0, PATH, "DIR", 0, 0, 0,                                               \
      "arm: also write its eight example poses as shapes into DIR and as the clip `examples`")     \
    X(REST, "rest", 0, PATH, "MODEL", 0, 0, 0,                                                     \
      "model whose triangles and rest shape measure the arrays")                                   \
    X(QUICK, "quick", 0, FLAG, 0, 0, 0, 0, "shorter timings, fewer rows")                          \
    X(PREPARE, "prepare", 0, FLAG, 0, 0, 0, 0,                                                     \
      "compile what GPUs run, into the cache: the first real call does not wait")                  \
    X(LARGE, "large", 0, FLAG, 0, 0, 0, 0, "also 10 million vertices")                             \
    X(TIME, "time", 0, NUMBER, "T", 0, 0, 1e9,                                                     \
      "seconds into the clip (default: where it deforms most)")                                    \
    X(METHODS, "methods", 0, TEXT, "A,B,...", 0, 0, 0,                                             \
      "several methods side by side: those of --method (`cutis help methods`), and sbs-weighted")  \
    X(PICTURE_SIZE, "size", 0, TEXT, "WxH", 0, 0, 0,                                               \
      "pixels of the picture, or of each tile of a sheet (default 1280x720; tiles 420x560)")       \
    X(CAMERA, "camera", 0, TEXT, "auto|YAW,PITCH[,DIST]", 0, 0, 0,                                 \
      "degrees to the right of the front and up; distance in radii of the body (default fitted)")  \
    X(FOCUS, "focus", 0, TEXT, "JOINT", 0, 0, 0, "look at a joint, close up")                      \
    X(SHOW, "show", 0, TEXT, "WHAT,...", 0, 0, 0,                                                  \
      "skeleton, wire, handles, cage, and one of weights:JOINT, error:METHOD|FILE.npy, "           \
      "curvature, parts")                                                                          \
    X(TURNTABLE, "turntable", 0, COUNT, "N", 0, 1, 3600, "N pictures around the body, numbered")   \
    X(DARK, "dark", 0, FLAG, 0, 0, 0, 0, "dark background")                                        \
    X(REFERENCE, "reference", 0, PATH, "FILE", 0, 0, 0,                                            \
      "what errors are measured against: frames (.npy, .pc2); default: the first method")          \
    X(REPORT, "report", 0, PATH, "OUT.html", 0, 0, 0, "one self-contained page")                   \
    X(TO, "to", 0, CHOICE, "FORMAT", "glb gltf obj ply stl bvh", 0, 0,                             \
      "convert many: each file to this format, below the folder of -o")                            \
    X(REDUCE_METHOD, "method", 0, CHOICE, "METHOD",                                                \
      "default geometric smooth klargest poisson moments", 0, 0,                                   \
      "how weights are reduced (default: moments; cages: the better of poisson and smooth)")       \
    X(MAX_ERROR, "max-error", 0, NUMBER, "MM", 0, 1e-6, 1e9,                                       \
      "as few influences per vertex as keep it within MM thousandths of a unit (glTF: mm) in "     \
      "unseen poses")                                                                              \
    X(MAX_NORMAL, "max-normal", 0, NUMBER, "DEG", 0, 1e-6, 180,                                    \
      "the same for the angle of vertex normals, in degrees")                                      \
    X(JOINTS, "joints", 0, COUNT, "N", 0, 1, 1000000,                                              \
      "joints that stay: the others are merged into those above them")                             \
    X(EFFORT, "effort", 0, CHOICE, "EFFORT", "normal fast best", 0, 0,                             \
      "how long moments search for weights, and on how many poses (default normal)")               \
    X(MIX, "mix", 0, NUMBER, "R", 0, 0, 1000,                                                      \
      "what random poses count beside clips (default 1; 0: nothing)")                              \
    X(MEMORY, "memory", 0, NUMBER, "GB", 0, 0.001, 100000,                                         \
      "what the form of moments may take (default 4), bake's frames, fit --weights-only's shapes " \
      "(default 2)")                                                                               \
    X(ENERGY, "energy", 0, CHOICE, "ENERGY", "normals gradient laplace", 0, 0,                     \
      "what poisson makes small: what the error does to normals (default; cages: gradient), its "  \
      "gradient, or its Laplacian as in the paper")                                                \
    X(SETS, "sets", 0, CHOICE, "SETS", "auto largest fitted", 0, 0,                                \
      "influences kept: the largest, those that explain the poses, or the better of both")         \
    X(POSES, "poses", 0, TEXT, "CLIP,...|auto", 0, 0, 0,                                           \
      "clips to learn from, or random poses of the rig (default: all clips and random poses)")     \
    X(HELD_OUT, "held-out", 0, TEXT, "CLIP,...", 0, 0, 0,                                          \
      "clips to judge by (default: frames of the others that were not learned from)")              \
    X(COMPARE, "compare", 0, FLAG, 0, 0, 0, 0, "report all four methods")                          \
    X(CAGE, "cage", 0, PATH, "CAGE.obj", 0, 0, 0, "the closed mesh around the model")              \
    X(COORDINATES, "coordinates", 0, CHOICE, "KIND", "mvc harmonic", 0, 0,                         \
      "mean value (signed, any cage) or harmonic (not negative, solved inside; default mvc)")      \
    X(RESOLUTION, "resolution", 0, COUNT, "N", 0, 8, 512,                                          \
      "harmonic: grid nodes along the longest side (default 64)")                                  \
    X(CAGE_POSES, "cage-poses", 0, TEXT, "FILE,...", 0, 0, 0,                                      \
      "frames of the cage: meshes, arrays (.npy .pc2) or a model whose clip moves it")             \
    X(CAGE_EXAMPLES, "poses", 0, TEXT, "FILE,...|auto", 0, 0, 0,                                   \
      "cage poses to learn from: as --cage-poses (default auto: bends, twists, bumps)")            \
    X(CAGE_HELD_OUT, "held-out", 0, TEXT, "FILE,...", 0, 0, 0,                                     \
      "cage poses to judge by (default: other automatic ones)")                                    \
    X(SIGNED, "signed", 0, FLAG, 0, 0, 0, 0,                                                       \
      "weights may be negative; reduce: the cage's weights even if there is a skin")               \
    X(AS_SKIN, "as-skin", 0, FLAG, 0, 0, 0, 0,                                                     \
      "write controls as joints that move by translation: a plain skin")                           \
    X(HANDLES, "handles", 0, PATH, "FILE.json", 0, 0, 0, "points and bars, and their poses")       \
    X(SKELETON, "skeleton", 0, FLAG, 0, 0, 0, 0, "the model's own bones are the handles")          \
    X(SKIN, "skin", 0, COUNT, "N", 0, 0, 1000000, "only this skin (default: all in use)")          \
    X(VOXELS, "voxels", 0, TEXT, "N|auto", 0, 0, 0,                                                \
      "along the longest side (default 128); auto: as many as separate the handles, to 512")       \
    X(WEIGHTING, "weighting", 0, CHOICE, "KIND", "field virtual", 0, 0,                            \
      "harmonic fields on voxels, or supports and virtual handles (default field)")                \
    X(SOFTNESS, "softness", 0, NUMBER, "S", 0, 1e-3, 0.5,                                          \
      "part of a bone that bends with a joint it meets (default 0.25)")                            \
    X(RADIUS, "radius", 0, NUMBER, "R", 0, 1e-12, 1e12, "virtual: largest support of a handle")    \
    X(STRICT, "strict", 0, FLAG, 0, 0, 0, 0, "handles the grid cannot separate are an error")      \
    X(LARGEST, "largest", 0, FLAG, 0, 0, 0, 0,                                                     \
      "keep the largest weights; default: those the reduction chooses, which takes longer")        \
    X(WEIGHTS_PICTURE, "weights-picture", 0, PATH, "OUT.png", 0, 0, 0,                             \
      "paint the weights of each handle (at most 24)")                                             \
    X(FIT_POSES, "poses", 0, TEXT, "CLIP", 0, 0, 0,                                                \
      "clip whose keys are the example poses: its name, its index, or a file")                     \
    X(SHAPES, "shapes", 0, PATHS, "FILE...", 0, 0, 0,                                              \
      "one .npy or .pc2 with a shape for every pose, or a mesh for each")                          \
    X(POSE_SPACE, "pose-space", 0, CHOICE, "KIND", "psd wpsd", 0, 0,                               \
      "what the result is for: only this is played and reported (default both)")                   \
    X(AFTER, "after-skinning", 0, FLAG, 0, 0, 0, 0,                                                \
      "add displacements after skinning: for poses in which blending collapses")                   \
    X(PRINCIPAL_POSES, "principal-poses", 0, COUNT, "M", 0, 1, 256,                                \
      "store M principal fields in place of a displacement for every pose")                        \
    X(KEEP_JOINTS, "keep-joints", 0, TEXT, "JOINT,...", 0, 0, 0,                                   \
      "joints whose weights stay as they are while others are learned")                            \
    X(KEEP_VERTICES, "keep-vertices", 0, PATH, "FILE.npy", 0, 0, 0,                                \
      "one number per vertex: not 0 = its weights stay as they are")                               \
    X(LEARN_WEIGHTS, "learn-weights", 0, FLAG, 0, 0, 0, 0, "learn the weights from the shapes")    \
    X(WEIGHTS_ONLY, "weights-only", 0, FLAG, 0, 0, 0, 0,                                           \
      "stop at the learned weights: no displacements")                                             \
    X(PRIOR, "prior", 0, NUMBER, "S", 0, 0, 1e6,                                                   \
      "how strongly learned weights are drawn to the rig's; 0: not (default: as does best on "     \
      "poses left out)")                                                                           \
    X(OWN_JOINTS, "own-joints", 0, FLAG, 0, 0, 0, 0,                                               \
      "learn only among joints a vertex has weight on already: safe in poses of another kind")     \
    X(NORMALISE, "normalise", 0, FLAG, 0, 0, 0, 0,                                                 \
      "learn as the 2006 paper: make the sum one afterwards")                                      \
    X(KERNEL, "kernel", 0, CHOICE, "KERNEL", "exponential gaussian", 0, 0,                         \
      "how shapes fade between poses (default exponential)")                                       \
    X(DISTANCE, "distance", 0, CHOICE, "DISTANCE", "geodesic rotvec euler", 0, 0,                  \
      "how far apart two poses of a joint are (default geodesic)")                                 \
    X(SIGMA, "sigma", 0, NUMBER, "C", 0, 1e-3, 1e3,                                                \
      "width of the RBF kernel (default 1 for exponential, 0.5 for gaussian)")                     \
    X(PORT, "port", 0, COUNT, "N", 0, 1024, 65535,                                                 \
      "first port to try (default 8732; the next one if it is in use)")                            \
    X(NO_BROWSER, "no-browser", 0, FLAG, 0, 0, 0, 0, "only print the address")                     \
    X(MOTION, "motion", 0, PATH, "FILE", 0, 0, 0,                                                  \
      "motion to retarget (.bvh, or any model with a clip)")                                       \
    X(MOTIONS, "motion", 0, EACH, "FILE", 0, 0, 0,                                                 \
      "motion to put on it (.bvh, or any model with a clip); may be given again, a clip each")     \
    X(MAP, "map", 0, TEXT, "MAP.json|HOW", 0, 0, 0,                                                \
      "which joint moves which: a file, or auto, across, x-up, y-up, z-up (default auto)")         \
    X(WRITE_MAP, "write-map", 0, PATH, "MAP.json", 0, 0, 0, "write the map, for editing")          \
    X(MOTION_REST, "rest", 0, CHOICE, "REST", "auto tpose zero", 0, 0,                             \
      "the motion's rest pose: its first frame, or all channels 0 (default: tpose if it is one)")  \
    X(FEET, "feet", 0, CHOICE, "FEET", "lock free", 0, 0,                                          \
      "keep standing feet where they stand, or not (default lock)")                                \
    X(JOINT_MOVE, "move", 0, EACH, "NAME=X,Y,Z", 0, 0, 0,                                          \
      "a joint's new place, of the world at rest; may be given again")                             \
    X(JOINT_ADD, "add", 0, EACH, "NAME=PARENT,X,Y,Z", 0, 0, 0, "a new joint; may be given again")  \
    X(JOINT_REMOVE, "remove", 0, EACH, "NAME", 0, 0, 0,                                            \
      "no joint any more: the one above it takes its weights; may be given again")                 \
    X(JOINT_RENAME, "rename", 0, EACH, "OLD=NEW", 0, 0, 0, "another name; may be given again")     \
    X(KEEP_WEIGHTS, "keep-weights", 0, FLAG, 0, 0, 0, 0,                                           \
      "leave the weights as they are (default: made anew where a joint was moved or added)")       \
    X(SYNTH_MOTIONS, "motions", 0, FLAG, 0, 0, 0, 0,                                               \
      "biped, quadruped: the clips walk, run, idle (and wave) in place of its own")                \
    X(FOR_PATCHES, "patches", 0, FLAG, 0, 0, 0, 0,                                                 \
      "for deform --method patches: one closed mesh, holes capped, and a part for every joint")    \
    X(TWIST, "twist", 0, FLAG, 0, 0, 0, 0,                                                         \
      "joints halfway along upper arms, forearms and thighs that take half of their twist")        \
    X(KEEP, "keep", 0, FLAG, 0, 0, 0, 0,                                                           \
      "write the result though it failed its own check; the exit status is 1 all the same")        \
    X(PARTS, "parts", 0, TEXT, "SOURCE", 0, 0, 0,                                                  \
      "file:LABELS, parts, materials, meshes, shells, joints or auto")                             \
    X(PART_COUNT, "count", 0, COUNT, "N", 0, 2, 10000,                                             \
      "at most N parts (skeleton: --parts auto; rig: --kind any)")                                 \
    X(STROKES, "strokes", 0, PATH, "FILE.json", 0, 0, 0,                                           \
      "points and bars (a file of handles) on limbs, named by what they are: leg_1, tail, body")   \
    X(ROOT, "root", 0, TEXT, "PART", 0, 0, 0, "the root part (default: chosen by volume)")         \
    X(SKELETON_METHOD, "method", 0, CHOICE, "METHOD", "axis centroid boundary", 0, 0,              \
      "how the skeleton graph is drawn (default axis)")                                            \
    X(REFINE, "refine", 0, CHOICE, "HOW", "local,hierarchy local hierarchy paper none", 0, 0,      \
      "turn axes towards joints, roll boxes towards the parent's (default local,hierarchy)")       \
    X(ANGLE, "angle", 0, NUMBER, "DEGREES", 0, 5, 20, "largest turn of an axis (default 15)")      \
    X(ROOT_AT, "root-at", 0, CHOICE, "WHERE", "link centroid", 0, 0,                               \
      "where the root joint stands: the hips' link point, or the part's centroid (default link)")  \
    X(JOINT_FRAMES, "frames", 0, CHOICE, "FRAMES", "bone world", 0, 0,                             \
      "joints turned along their bones, or not turned, as BVH needs it (default bone)")            \
    X(NO_SPLIT_CURVED, "no-split-curved", 0, FLAG, 0, 0, 0, 0, "curved leaves stay one part")      \
    X(HEAL_ROUNDS, "heal-rounds", 0, COUNT, "N", 0, 1, 1000,                                       \
      "refuse labels that N rounds do not heal (default 20, and 4 to 8 a part)")                   \
    X(STRAIGHTEN, "straighten", 0, FLAG, 0, 0, 0, 0,                                               \
      "cut triangles so that joint loops lie in planes")                                           \
    X(EXTRA, "extra", 0, FLAG, 0, 0, 0, 0, "nodes for link points and axis ends too")              \
    X(SKELETON_PICTURE, "picture", 0, PATH, "OUT.png", 0, 0, 0,                                    \
      "draw parts, boxes and skeleton, before and after refinement")                               \
    X(PAPER, "paper", 0, CHOICE, "PAPER", "sbs pose-space reduction handles patches all", 0, 0,    \
      "one of the five source papers (default all)")                                               \
    X(RESUME, "resume", 0, FLAG, 0, 0, 0, 0, "go on with a run that was stopped or killed")        \
    X(PIECE, "piece", 0, TEXT, "I/N", 0, 0, 0,                                                     \
      "slice I of N alone, for job arrays; `farm join` finishes when all are there")               \
    X(RANKS, "ranks", 0, COUNT, "N", 0, 1, 1000000,                                                \
      "pieces at once on this machine (default: one per core); plan: ranks of the cluster")        \
    X(RANK_THREADS, "threads", 0, COUNT, "N", 0, 1, 1024, "CPU threads of a piece (default 1)")    \
    X(DISK, "disk", 0, TEXT, "RATE", 0, 0, 0,                                                      \
      "plan: what the file system writes, 20GB/s, 500MB/s (default: measured here)")               \
    X(DRY_RUN, "dry-run", 0, FLAG, 0, 0, 0, 0, "hand out all pieces, and do none of them")         \
    X(MAN, "man", 0, FLAG, 0, 0, 0, 0, "print the man page (troff)")                               \
    X(COMPLETION, "completion", 0, CHOICE, "SHELL", "bash", 0, 0,                                  \
      "print the completion script of a shell")                                                    \
    X(MARKDOWN, "markdown", 0, FLAG, 0, 0, 0, 0, "print this reference as Markdown (docs/cli.md)") \
    X(JSON, "json", 0, FLAG, 0, 0, 0, 0, "print one JSON object in place of text")                 \
    X(QUIET, "quiet", 'q', FLAG, 0, 0, 0, 0, "print nothing but errors")                           \
    X(HELP, "help", 'h', FLAG, 0, 0, 0, 0, "print the help of the verb")

typedef enum option_id {
#define CLI_OPTION_ID(id, ...) OPTION_##id,
    CLI_OPTIONS(CLI_OPTION_ID)
#undef CLI_OPTION_ID
        OPTION_ID_COUNT
} option_id;

typedef struct option_row {
    const char *name;
    char letter; ///< or 0
    option_kind kind;
    const char *value;   ///< what its value is called, NULL for flags
    const char *choices; ///< separated by spaces, or NULL
    double min, max;
    const char *help;
} option_row;

extern const option_row cli_options[OPTION_ID_COUNT];

struct cli_app;

/// Which options: true for each of them.
typedef bool option_set[OPTION_ID_COUNT];

typedef struct verb_row {
    const char *name;
    const char *operands; ///< "MODEL", "[VERB]"; empty if none
    const char
        *operand_choices; ///< what the first operand can be, separated by spaces, or NULL (files)
    uint32_t operand_min, operand_max;
    const char *summary; ///< one line, no full stop
    const char *details; ///< paragraphs, lines kept
    option_set options;
    const char *examples; ///< "command\tmeaning\n" lines
    int (*run)(struct cli_app *app);
} verb_row;

extern const verb_row cli_verbs[];
extern const uint32_t cli_verb_count;
extern const bool cli_pictures; ///< can this build make them?

/// Every verb: a function, and a row of the table.
#define CLI_VERBS(X)                                                                               \
    X(info)                                                                                        \
    X(check)                                                                                       \
    X(convert)                                                                                     \
    X(synth)                                                                                       \
    X(deform)                                                                                      \
    X(measure)                                                                                     \
    X(devices)                                                                                     \
    X(bench)                                                                                       \
    X(demo)                                                                                        \
    X(render)                                                                                      \
    X(compare)                                                                                     \
    X(reproduce)                                                                                   \
    X(reduce)                                                                                      \
    X(bake)                                                                                        \
    X(cage)                                                                                        \
    X(fit) X(handles) X(skeleton) X(rig) X(joints) X(view) X(retarget) X(farm) X(help) X(version)
#define CLI_VERB(name) int verb_##name(struct cli_app *app);
CLI_VERBS(CLI_VERB)
#undef CLI_VERB

#endif
