/// The rows of the table that verbs.h describes.
#include "verbs.h"

#include <stddef.h>

const option_row cli_options[OPTION_ID_COUNT] = {
#define CLI_OPTION_ROW(id, name, letter, kind, value, choices, least, most, help)                  \
    [OPTION_##id] = { name, letter, KIND_##kind, value, choices, least, most, help },
    CLI_OPTIONS(CLI_OPTION_ROW)
#undef CLI_OPTION_ROW
};

#define BIT(id) [OPTION_##id] = true
#define COMMON  BIT(JSON), BIT(QUIET), BIT(HELP)
#define WRITING BIT(OUTPUT), BIT(FORCE)
#define READING BIT(FIX), BIT(SCALE), BIT(UP), BIT(UNITS)
#define RUNNING BIT(DEVICE), BIT(THREADS), BIT(ISA)

// Texts stand as they are printed, a line a line.
// clang-format off
const verb_row cli_verbs[] = {
    { "info", "MODEL", NULL, 1, 1, "say what is in a model: counts, joints, bone sets, clips",
      "Reads glTF, GLB, OBJ, PLY, OFF, STL, BVH and Cal3D (.cfg). Vertices and triangles are those of the default scene.\n"
      "Bone sets are the distinct sets of two or more bones that a vertex has weight on.\n"
      "\n"
      "JSON keys: file, vertices, triangles, joints, max_influences, bone_sets, large_bone_sets,\n"
      "clips [{name, duration, channels}], nodes, meshes, primitives, skins, materials, morph_targets, drivers,\n"
      "unused_joints, unweighted_vertices, influence_histogram, bounds {min, max}, diagonal, repaired. Of every verb that\n"
      "reads a model with --up auto or --units auto: guesses [{file, up, up_reason, units, units_reason}].\n",
      { COMMON, READING, BIT(CLIPS) },
      "cutis info fox.glb\tcounts and clips\n"
      "cutis info cally.cfg --json\tthe same for a program\n"
      "cutis info scan.stl --up auto --units auto\twhich axis is up, which unit it is in, and why\n",
      verb_info },
    { "check", "MODEL|FOLDER...", NULL, 1, UINT32_MAX, "look for what is wrong with a file and its skin, and repair it",
      "Two looks. At the file: of glTF everything the Khronos validator calls an error, extensions and the headers of\n"
      "images included, by its own codes, with JSON pointer or byte offset; what is not looked at is named (not\n"
      "checked). At the skin: weights that do not sum to one, NaN, negative or duplicated weights,\n"
      "unweighted vertices, seams whose copies differ, more influences than --influences (default 4), unused joints,\n"
      "bad inverse binds. Exit status 1 when there is an error that --fix has not repaired; warnings alone give 0.\n"
      "--fix -o writes a file with none of these errors: what has one safe meaning is put right, as every verb does\n"
      "while reading (docs/formats/gltf.md), and what has none is repaired: negative and NaN weights, joints out of\n"
      "range, keys that are not finite, singular and missing inverse binds. It lists what it did.\n"
      "\n"
      "JSON keys: file, errors, warnings, repaired, issues [{code, place, text, count, severity, repaired}],\n"
      "not_checked [{place, text}].\n"
      "\n"
      "Several files or a folder, with all that is below it: each is checked, in threads, and told in a line; exit status 1\n"
      "when any failed. Hidden files, other kinds of files, links that lead back and folders that cannot be read are\n"
      "counted. --report writes a page with pictures.\n"
      "JSON keys then: verb, files [{file, status (ok, failed), error, notes, result (as above, or null)}], total, ok,\n"
      "failed, skipped {hidden, other, unreadable, links}.\n",
      { COMMON, READING, WRITING, BIT(INFLUENCES), BIT(WEIGHTS), BIT(THREADS), BIT(REPORT) },
      "cutis check fox.glb\tlist the findings\n"
      "cutis check broken.glb --fix -o fixed.glb\trepair, clean the weights, write\n"
      "cutis check models --report models.html\ta folder, with pictures\n",
      verb_check },
    { "convert", "MODEL|FOLDER...", NULL, 1, UINT32_MAX, "read a model and write it in another format",
      "Formats by name: .gltf .glb .obj .ply .stl .bvh; .off and .cfg (Cal3D) are read only. From glTF to glTF nothing is lost:\n"
      "textures, extras and unknown extensions stay. --clip FILE adds a clip from another file; for .bvh, which\n"
      "holds one (else the first), it may name a clip of the model. What the format cannot hold is said.\n"
      "--compress says how far a vertex is moved at most; meshopt keeps the order of vertices, draco that of\n"
      "meshes with morph targets or Cutis's own extensions alone. Draco needs the program cutis-draco.\n"
      "\n"
      "JSON keys: file, output, vertices, triangles, joints, clips, lost; with --compress also compression\n"
      "{how, position_error, relative_error, bytes_before, bytes_after}.\n"
      "\n"
      "Several files or a folder: --to FORMAT -o FOLDER. Each goes where it lies below the folder that all of them share;\n"
      "of two that would become one file the second fails. One that fails stops no other. JSON keys then: as of check,\n"
      "files with their output.\n",
      { COMMON, READING, WRITING, BIT(INFLUENCES), BIT(WEIGHTS), BIT(ASCII), BIT(CLIP), BIT(CONVERT_DRIVERS), BIT(TO), BIT(COMPRESS), BIT(BITS),
          BIT(THREADS), BIT(REPORT) },
      "cutis convert cally.cfg -o cally.glb\tCal3D to glTF\n"
      "cutis convert body.glb --influences 4 -o body4.glb\tfor players that read four weights\n"
      "cutis convert scan.obj --units cm --up z -o scan.ply\tcentimetres to metres, z up to y up\n"
      "cutis convert models --to glb -o converted\tevery model of a folder\n"
      "cutis convert body.glb --compress meshopt --bits 14 -o small.glb\tsmaller, and how exact\n",
      verb_convert },
    { "synth", "BODY", "biped quadruped arm cylinder crowd family", 1, 1,
      "make a rigged, animated character: biped, quadruped, arm, cylinder, crowd, family",
      "The same bytes on every machine. Closed, manifold, with named parts and clips: biped walk,\n"
      "walk_forward, bend, twist, wave; quadruped walk, bend, twist; arm bend, twist, raise; cylinder bend, twist.\n"
      "--motions: a cast of motions to put on others (`retarget --motion`): walk, run, idle, and wave on two legs.\n"
      "\n"
      "family: a body of a kind, drawn from --seed: proportions from thin to plump, a rest pose, every other one with\n"
      "noise and holes; with true parts, joints and weights, in an order that tells nothing (docs/spec/family.md).\n"
      "8000 vertices, no clips. --unrigged writes only what a scan would show; --truth writes the rest beside it: .glb\n"
      "has the same vertices and triangles, .seg a part a line for each triangle of the written mesh.\n"
      "\n"
      "JSON keys: output, body, vertices, triangles, clips [name]; family: kind, seed, pose, scan, parts [name], joints.\n",
      { COMMON, WRITING, BIT(VERTICES), BIT(SIZE), BIT(SEED), BIT(COUNT), BIT(EXAMPLES),
          BIT(WEIGHTS), BIT(INFLUENCES), BIT(KIND), BIT(REST_POSE), BIT(SCAN), BIT(SYNTH_MOTIONS), BIT(UNRIGGED),
          BIT(TRUTH) },
      "cutis synth biped -o biped.glb\t12000 vertices, 41 joints, 5 clips\n"
      "cutis synth arm --size low --examples shapes -o arm.glb\twith example shapes for pose-space fits\n"
      "cutis synth crowd --count 50 --seed 7 -o crowd.glb\tbipeds and quadrupeds on a grid\n"
      "cutis synth family --kind octopus --seed 3 -o octopus.glb\tan octopus with its true parts, joints and weights\n"
      "cutis synth family --kind bear --seed 9 --unrigged --truth bear.seg -o bear.obj\ta bare body, and its parts\n",
      verb_synth },
    { "deform", "MODEL", NULL, 1, 1, "pose a model and write the deformed vertices",
      "Output by name: .npy is float32 [frames, vertices, 3] and .pc2 a point cache, both in world space:\n"
      "mesh instances of the default scene depth-first, primitives in order, vertices in file order.\n"
      ".obj .ply .stl .glb .gltf are meshes: .obj, .ply and .stl of several frames are numbered (OUT_0000.obj), a .glb of\n"
      "several frames (at most 256) plays them as morph targets.\n"
      "Frame i is time i / fps from the clip's start, held after its end. Without clip or pose: one frame, the rest pose.\n"
      "\n"
      "JSON keys: file, output, method, device, isa, threads, vertices, frames, seconds, ns_per_vertex,\n"
      "bone_sets, large_bone_sets, bounds {min, max}.\n"
      "\n"
      "--method patches needs no weights, only parts (cutis skeleton, synth; docs/guide/patches.md): joints bend in bands about\n"
      "as long as the limb is thick; --band none moves every part rigidly and closes each joint by a patch made for the frame.\n"
      "Vertices and triangles may differ from frame to frame: .obj, .ply and .stl are numbered, a .glb has a mesh for every\n"
      "frame and a clip that shows them one by one. --fixed keeps the model's vertices and triangles, for arrays and morph\n"
      "targets, and says what that costs. One frame as .stl, .obj or .ply is a shell for printing: closed, no part\n"
      "turned inside out or shrunk to nothing, or nothing is written; where the pose makes it cross itself (a hand in a\n"
      "thigh) it is cut there, and what is inside is left out (none of this with --fixed and --triangulate local).\n"
      "JSON keys of patches: file, output, method, band, remove, fill, fixed, frames, vertices_max, triangles_max,\n"
      "volume_variation, seconds; one .stl, .obj or .ply also watertight, pieces, volume, united (it was cut),\n"
      "self_intersections (of what is written), own_crossings, posed_crossings (of the pose, as measure counts them; volume_variation, too); --fixed also fixed_volume_variation, --triangulate local open_edges (most in a frame). Variations: the largest, signed, % of rest.\n",
      { COMMON, READING, RUNNING, WRITING, BIT(CLIP), BIT(POSE), BIT(METHOD), BIT(CAGE_POSES),
          BIT(REMOVE), BIT(FILL), BIT(BAND), BIT(TRIANGULATE), BIT(FIXED), BIT(WEIGHTED), BIT(BLEND), BIT(DRIVERS), BIT(FRAMES), BIT(FPS), BIT(INSTANCES), BIT(NORMALS),
          BIT(INFLUENCES), BIT(ASCII) },
      "cutis deform biped.glb --clip walk --method dqs -o walk.npy\tall frames at 30 a second\n"
      "cutis deform biped.glb --clip bend --frames 30 -o bent.obj\tone frame as a mesh\n"
      "cutis deform biped.glb --clip bend --method patches -o bent.glb\tno weights, only parts\n"
      "cutis deform statue.glb --pose seated.json --method patches -o seated.stl\ta posed shell for printing\n"
      "cutis deform biped.glb --clip twist --method sbs --device opencl --normals n.npy -o p.npy\ton a GPU\n",
      verb_deform },
    { "measure", "[MODEL] RESULT [REFERENCE]", NULL, 1, 3,
      "volume, closedness, self-intersections, curvature, and the difference between two results",
      "MODEL gives the triangles and the rest shape; RESULT and REFERENCE are arrays from deform (.npy, .pc2) or\n"
      "models with the same vertices. Alone, MODEL is measured in its rest pose, or in the pose that --clip and --time,\n"
      "--pose and --method ask for; it needs no skin. Without REFERENCE the difference is the one from rest. Two arrays\n"
      "without a model give positions only.\n"
      "Units: volume in cubic metres, volume_variation in % of the rest volume (of all frames the largest, signed),\n"
      "position_rms and position_max in % of the rest diagonal, normal_rms in radians, curvature in 1/m.\n"
      "self_intersections counts triangles that meet a triangle they share no vertex with, exactly; curvature_median is\n"
      "per part, of the largest angle between a vertex's normal and a neighbour's, degrees. These and what follows\n"
      "them are of the frame whose volume varies most.\n"
      "\n"
      "JSON keys: vertices, triangles, frames, open_edges, rest_volume, volume, volume_variation, position_rms,\n"
      "position_max, normal_rms, watertight, euler, boundary_edges, self_intersections, intersecting_pairs,\n"
      "curvature_median {part}, bounds {min, max}, diagonal, curvature {mean_rms, mean_max},\n"
      "edge_stretch_rms, per_frame [{frame, volume, volume_variation, position_rms, position_max, normal_rms}].\n"
      "What cannot be known (no triangles) is null.\n"
      "--method patches has vertices of its own: JSON keys method, band, vertices, triangles, frames, rest_volume, volume,\n"
      "volume_variation, watertight, euler, boundary_edges, self_intersections, intersecting_pairs, bounds, own_crossings\n"
      "(triangles that cross another one around the same joint: its two parts and the patches of these), posed_crossings (the\n"
      "others: a hand through a thigh), joints [{part, bend, twist, triangles, volume_left, crossings}], degrees.\n"
      "JSON keys of --plot: file, joint, plots [path], degrees, ways [{name, volume, curvature, patch}]: in % of rest,\n"
      "patch in degrees, an entry per bend.\n",
      { COMMON, READING, RUNNING, BIT(REST), BIT(CLIP), BIT(TIME), BIT(POSE), BIT(METHOD), BIT(REMOVE), BIT(FILL), BIT(BAND), BIT(WEIGHTED),
          BIT(PLOT), BIT(JOINT), BIT(FORCE) },
      "cutis measure biped.glb\tvolume, closedness and curvature at rest\n"
      "cutis measure biped.glb --clip bend --time 1 --method dqs\tthe same in a pose\n"
      "cutis measure biped.glb lbs.npy dqs.npy\tlbs against dqs, frame by frame\n"
      "cutis measure a.npy b.npy --json\ttwo arrays\n"
      "cutis measure arm.glb --plot elbow.svg --joint elbow\tvolume and curvature against the bend, six ways\n",
      verb_measure },
    { "devices", "", NULL, 0, 0, "list what can run the deformers, and why something cannot",
      "--prepare compiles the kernels of blending, patches, handles and reduction for every GPU (or that of\n"
      "--device) into the user's cache, so that nobody waits for them later.\n"
      "\n"
      "JSON keys: devices [{kind, index, available, name, detail, memory_bytes, threads, isa}]; with --prepare\n"
      "prepared [{device, what, seconds}].\n",
      { COMMON, BIT(PREPARE), BIT(DEVICE) },
      "cutis devices\tCPU, OpenCL and CUDA\n"
      "cutis devices --prepare\tonce on a new machine, or after a driver's update\n", verb_devices },
    { "bench", "blend|pose|pose-space|frame|crowd|reduce|cage|handles|skeleton|patches|files|growth", "blend pose pose-space frame crowd reduce cage handles skeleton patches files growth", 1, 1,
      "measure speed against plain C and the machine's limits",
      "blend: positions and normals, 4 influences, 64 bones, with plain C (-O3 -march=native), the FMA rate and\n"
      "the memory bandwidth measured in the same run; all figures are the best of many. pose: sample two clips,\n"
      "blend them and go to model space, 64 joints. files makes its files in the current folder and removes them.\n"
      "growth: deform, crowd, reduce, handles and skeleton at three sizes over two decades (one with --quick), by\n"
      "processor time of one thread, and the exponent of cost against size. Compare ratios, not times from\n"
      "different days. Each bench ends with its goals, and whether they are reached.\n"
      "\n"
      "JSON keys of all: figures [{name, value, goal, sense, reached}].\n"
      "JSON keys of blend: machine {cpu, isa, cores, gfma_per_second, gb_per_second}, rows [{method, normals,\n"
      "body, device, isa, threads, vertices, instances, ns_per_vertex, times_plain, of_limit, limit,\n"
      "bones_per_block, bytes_read_per_vertex, bytes_written_per_vertex}].\n"
      "JSON keys of pose-space: device, isa, threads, instances, rows [{method, vertices, ns_per_vertex,\n"
      "frames_per_second, times_ssd, paper_cpu_frames_per_second, paper_gpu_frames_per_second}]. One thread\n"
      "unless --threads; on a GPU 1024 instances unless --instances, and frames_per_second counts characters.\n"
      "JSON keys of crowd: rows [{method, instances, vertices, levels, poses_on_device, milliseconds,\n"
      "frames_per_second, deform_milliseconds}].\n"
      "JSON keys of files: bytes, read_gb_per_second, plain_read_gb_per_second, bind_gb_per_second, peak_of_file,\n"
      "write_gb_per_second, plain_write_gb_per_second.\n"
      "JSON keys of growth: rows [{what, size_in, exponent, exponent_of_larger, points [{size, cpu_seconds}]}].\n"
      "JSON keys of cage: rows [{what, vertices, controls, weights, seconds, per_second, paper_per_second}].\n"
      "times_plain: plain C's time for the same work over ours. of_limit: the limit's time over ours (1 = there).\n",
      { COMMON, RUNNING, BIT(QUICK), BIT(LARGE), BIT(VERTICES), BIT(METHOD), BIT(INSTANCES), WRITING },
      "cutis bench blend\tthe table\n"
      "cutis bench blend --quick --json\ta short one for a program\n"
      "cutis bench blend --isa avx2 --threads 1 --vertices 46036\tone size\n"
      "cutis bench pose\tmicroseconds per pose\n"
      "cutis bench pose-space\tplain skinning, PSD and WPSD beside the 2006 paper's table; learning weights\n"
      "cutis bench frame -o last.png\tskin and draw: whole frames a second, and the last one drawn\n"
      "cutis bench crowd --device cuda\tcrowds that live on the device: whole frames, levels of detail\n"
      "cutis bench reduce\tweight reduction at the sizes of the paper's Table 1\n"
      "cutis bench patches --threads 1\ta knee's blending patch, and a body's: milliseconds a frame\n"
      "cutis bench cage\tbinding 351,000 vertices to 137 controls, and frames, beside the paper's\n"
      "cutis bench skeleton\tskeleton extraction at the sizes of the paper's Table 2\n"
      "cutis bench growth\thow cost grows with size\n"
      "cutis bench files\treading and binding a large file, writing frames, beside the machine's own rates\n"
      "cutis bench handles\tbinding, moving and updating handles beside the paper's Table 1; cost against the grid\n",
      verb_bench },
    { "demo", "", NULL, 0, 0, "everything once, on a built-in character: volumes, errors, speeds",
      "Makes the biped, deforms its bend and twist clips with every method on the default device, and writes\n"
      "what it made to out/demo (or -o DIR).\n",
      { COMMON, RUNNING, WRITING, BIT(VERTICES) }, "cutis demo\tunder a minute\n", verb_demo },
    { "render", "MODEL", NULL, 1, 1, "draw a posed model: one method, or several side by side",
      "Offscreen, with or without a GPU. Several methods make a labelled sheet; painted values (--show) come with\n"
      "a legend. error: takes a method, or an array of positions (.npy, .pc2: one frame, or frames at 30 a second).\n"
      "\n"
      "JSON keys: file, output, renderer, seconds (into the clip).\n",
      { COMMON, READING, RUNNING, WRITING, BIT(CLIP), BIT(POSE), BIT(TIME), BIT(METHOD),
          BIT(METHODS), BIT(REMOVE), BIT(FILL), BIT(BAND), BIT(PICTURE_SIZE), BIT(CAMERA), BIT(FOCUS), BIT(SHOW), BIT(CAGE_POSES),
          BIT(TURNTABLE), BIT(DARK) },
      "cutis render biped.glb --clip bend --methods lbs,sbs,dqs,cor -o sheet.png\tfour methods\n"
      "cutis render fox.glb --clip Run --time 0.3 --show skeleton -o fox.png\twith its bones\n"
      "cutis render arm.glb --clip twist --method lbs --show error:dqs -o error.png\twhere they differ\n"
      "cutis render arm.glb --clip twist --focus wrist --methods lbs,dqs -o wrist.png\tclose up\n",
      verb_render },
    { "compare", "MODEL", NULL, 1, 1,
      "methods against each other over a clip: a report with pictures and plots",
      "Errors are against --reference, else against the first method. The page refers to nothing outside itself.\n"
      "\n"
      "JSON keys: file, clip, frames, fps, reference, methods [{method, position_rms, position_max, normal_rms,\n"
      "volume_variation_min, volume_variation_max, edge_stretch_rms, worst_frame, ns_per_vertex}].\n",
      { COMMON, READING, RUNNING, BIT(CLIP), BIT(METHODS), BIT(METHOD), BIT(REFERENCE),
          BIT(REPORT), BIT(FPS), BIT(PICTURE_SIZE), BIT(CAMERA), BIT(DARK), BIT(POSE),
          BIT(SHOW), BIT(FORCE) },
      "cutis compare biped.glb --clip bend --methods dqs,lbs,sbs,cor --report bend.html\t\n",
      verb_compare },
    { "reduce", "MODEL", NULL, 1, 1, "fewer influences per vertex that deform as the original did",
      "Engines cap influences; dropping the small ones (k-largest) tears normals. reduce chooses and fits weights on\n"
      "even frames of the clips (30 a second) and on random poses of the rig, and judges them on odd frames and other\n"
      "random poses; it says where they are worse than k-largest's. --poses auto: random poses alone; --poses CLIP,...:\n"
      "these clips and random poses; --mix 0: clips alone. --method: moments follows normals and positions over all these poses,\n"
      "poisson normals on up to 16 frames, geometric positions, smooth needs no poses, klargest is what exporters do.\n"
      "--energy and --sets are poisson's: --energy laplace --sets largest is Landreneau and Schaefer 2010.\n"
      "Errors are means over poses: RMS position in % of the diagonal, RMS normal deviation in radians.\n"
      "--max-error MM and --max-normal DEG, alone or together, in place of a count: every vertex keeps as few influences as\n"
      "hold it within the bound in every unseen pose, at most 16 or --influences. MM are thousandths of the file's unit, so\n"
      "millimetres in glTF; DEG is the angle between vertex normals. The largest error of any vertex in poses that nothing\n"
      "was chosen by, and the histogram, are reported; a bound that so few influences cannot keep is an error.\n"
      "--joints N: joints are merged into those above them, least error first, and weights found on the original motion.\n"
      "Joints that stay move exactly as before; nodes that nothing needs any more go, with their tracks.\n"
      "--weights u8 and u16: whole numbers are chosen by the error that they make (moments; others: rounded).\n"
      "A model with a cage and no skin (or with --signed) has its cage's weights reduced; --poses are then cage poses.\n"
      "\n"
      "JSON keys: file, output, vertices, reduced_vertices, repaired_vertices, automatic_poses, learned_frames,\n"
      "learned_random_poses, held_out_random_poses, worse (bits: 1 normals, 2 positions on clips; 4, 8 on random poses),\n"
      "fell_back, narrow, too_large, form_bytes, histogram_before, histogram_after, mean_influences_before,\n"
      "mean_influences_after; with a bound bounds {error_mm, normal_degrees, checked_poses, judged_poses, largest_error_mm,\n"
      "largest_normal_degrees, error_99_mm, normal_99_degrees (99 % of the vertices never exceed it), beyond_vertices};\n"
      "with u8 or u16 quantised {total, rounded_energy, chosen_energy, real_energy, rounded_position, rounded_normal, chosen_position,\n"
      "chosen_normal}; with --joints joints {before, after, merged [{joint, into}]}; methods [{method, sets, influences,\n"
      "example_position, example_normal, held_out_position, held_out_normal (null: nothing was held out), random_position, random_normal, energy,\n"
      "sweeps, seconds, energies, frame_position, frame_normal}], frames [{held_out, clip, seconds}]. The first method is\n"
      "the chosen one.\n",
      { COMMON, READING, RUNNING, WRITING, BIT(INFLUENCES), BIT(REDUCE_METHOD), BIT(ENERGY),
          BIT(SETS), BIT(POSES), BIT(HELD_OUT), BIT(COMPARE), BIT(SEED), BIT(WEIGHTS),
          BIT(REPORT), BIT(SIGNED), BIT(EFFORT), BIT(MIX), BIT(MEMORY), BIT(MAX_ERROR),
          BIT(MAX_NORMAL), BIT(JOINTS) },
      "cutis reduce body.glb --influences 4 -o body4.glb\tfor players that read four weights\n"
      "cutis reduce fox.glb --influences 2 --poses Run,Walk --weights u8 -o fox2.glb\tlearn from two clips\n"
      "cutis reduce body.glb --max-error 1 -o body1mm.glb\tas few influences as keep every vertex within 1 mm\n"
      "cutis reduce body.glb --joints 40 --max-normal 5 --weights u8 -o distant.glb\ta level of detail\n"
      "cutis reduce body.glb --poses auto --compare --report reduce.html -o body4.glb\tall methods, with pictures\n",
      verb_reduce },
    { "bake", "MODEL|FRAMES", NULL, 1, 1, "any deformer or moving mesh as joints, weights and tracks that every engine plays",
      "With --method: what the method makes of the model's clips, as linear blending. Skeleton, names and clips stay; --helpers\n"
      "joints are added below the joints they follow, with tracks in every clip, and weights are solved for all of them. --clips\n"
      "says what is learned from; other clips get tracks too, and show how well that carries over. --morphs adds morph targets\n"
      "with tracks for what is left. Morph targets of the model stay; a pose space goes. Patches are baked onto the model's own vertices, a cage is moved by --cage-poses.\n"
      "--drivers makes each helper, and the weight of each target of --morphs, a function of up to four joints, too, learned from random\n"
      "poses within the ranges of all clips: new clips then move them without tracks (CUTIS_drivers, docs/formats/drivers.md). Joints\n"
      "that no clip moves stay as they are.\n"
      "With --bones: a rig from a moving mesh alone: an array [frames, vertices, 3] (.npy, .pc2, with --rest), a folder of meshes\n"
      "with the same vertices in the order of their names (f2 before f10), or a model whose first clip moves it by morph targets or\n"
      "nodes. Joints stand where neighbours move alike, and hang together so. --rig keeps a model's skeleton, moved by --clip (default:\n"
      "its first, which has as many frames), and adds --helpers. The errors that are told are of the file as linear blending plays it,\n"
      "with the weights that it holds: 8 bits where they cost next to nothing, else 16, or as --weights says. --max-error with\n"
      "--morphs takes the fewest helpers that K targets leave, then the fewest targets. --report writes a page with the errors,\n"
      "frame by frame, and the frames that plain blending and the file do worst in. --limits gltf: what every client has to play,\n"
      "three: three.js, a file (docs/formats/limits.md): any other player; what it cannot play is an error. --memory GB (default 2)\n"
      "bounds the positions that are learned from: of more frames than fit some are taken evenly, which is told, and joints have\n"
      "keys in all; an array of float32 that is larger stays in its file.\n"
      "\n"
      "JSON keys: file, output, method (null: a sequence), limits, helpers (joints added), morphs, joints (there before), influences,\n"
      "weights (their format), vertices, kept_vertices (whose own weights did better), frames, learned_frames, fps, rms, max, plain_rms, plain_max\n"
      "(of plain linear blending; without a skin of one rigid motion), ratio (rms / plain_rms), normal_degrees,\n"
      "plain_normal_degrees (mean angle to the normals of what was baked), bytes, seconds, clips [{name, frames, held_out, rms,\n"
      "max, plain_rms, plain_max, normal_degrees, plain_normal_degrees, worst_frame}], left {count (vertices that stay off),\n"
      "torn (of them, where the surface tears), beyond, worst [{vertex, distance}]}, unseen {poses (random, not learned from), rms, max,\n"
      "plain_rms, plain_max, ratio; with --drivers inputs (joints, of all helpers), free_rms (of the best transforms)}. Distances in the\n"
      "model's units, over vertices and frames.\n",
      { COMMON, READING, WRITING, RUNNING, BIT(METHOD), BIT(BAKE_CLIPS), BIT(HELPERS), BIT(BAKE_DRIVERS), BIT(MORPHS), BIT(BAKE_ERROR), BIT(LIMITS), BIT(BONES), BIT(BAKE_REST),
          BIT(RIG), BIT(CLIP), BIT(CAGE_POSES), BIT(FPS), BIT(INFLUENCES), BIT(WEIGHTS), BIT(REPORT), BIT(MEMORY) },
      "cutis bake arm.glb --method dqs --helpers 8 -o baked.glb\tdual quaternions for an engine that has none\n"
      "cutis bake biped.glb --method sbs --max-error 1 -o baked.glb\tas few joints as keep every vertex within 1 mm\n"
      "cutis bake biped.glb --method cor --clips walk,bend -o baked.glb\tlearned from two clips, tracks in all\n"
      "cutis bake arm.glb --method dqs --helpers 8 --morphs 8 -o baked.glb\tnearer still, for engines with morph targets\n"
      "cutis bake arm.glb --method dqs --helpers 8 --drivers -o baked.glb\thelpers that follow in any clip\n"
      "cutis bake arm.glb --method psd --helpers 0 --morphs 8 --drivers -o baked.glb\tmorph targets that do\n"
      "cutis bake cloth.npy --rest cloth.obj --bones 20 -o cloth.glb\ta simulation as twenty joints\n"
      "cutis bake muscles.npy --rig body.glb --helpers 8 -o body8.glb\thelpers beside a skeleton\n",
      verb_bake },
    { "cage", "MODEL", NULL, 1, 1, "bind a model to a cage whose vertices move it",
      "The cage is a closed triangle mesh around the model (OBJ, PLY, OFF, STL, glTF). Weights are mean value coordinates, which\n"
      "any cage has, or harmonic ones, which are never negative and stay in their limb, but need every vertex inside.\n"
      "--influences K (at least 4) keeps K weights that deform like all of them, learned from cage poses; K as in\n"
      "`cutis reduce`. The result carries the cage (CUTIS_cage, docs/formats/cage.md): `deform --method cage --cage-poses`\n"
      "plays it. --as-skin writes a plain skin instead: one joint a control while no weight is negative (any player, up\n"
      "to K = 4), else two, in players that read JOINTS_1; with --cage-poses its clip \"cage\" plays them.\n"
      "\n"
      "JSON keys: file, cage, output, coordinates, controls, vertices, outside_vertices, outside_distance, weight_min,\n"
      "weight_max, precision (% of the diagonal), resolution, nodes, sweeps, residual, seconds, example_poses,\n"
      "held_out_poses, reduced_vertices, infeasible_vertices, methods (as in reduce), skin {written, paired, joints,\n"
      "influences, scale, frames}.\n",
      { COMMON, READING, RUNNING, WRITING, BIT(CAGE), BIT(COORDINATES), BIT(RESOLUTION), BIT(INFLUENCES),
          BIT(REDUCE_METHOD), BIT(ENERGY), BIT(SETS), BIT(CAGE_EXAMPLES), BIT(CAGE_HELD_OUT), BIT(COMPARE),
          BIT(SEED), BIT(SIGNED), BIT(AS_SKIN), BIT(CAGE_POSES), BIT(FPS), BIT(WEIGHTS) },
      "cutis cage arm.obj --cage arm_cage.obj -o arm.glb\tall weights, mean value\n"
      "cutis cage arm.obj --cage arm_cage.obj --coordinates harmonic --influences 8 --compare -o arm8.glb\teight of them\n"
      "cutis deform arm.glb --method cage --cage-poses bent.obj,twisted.obj -o frames.npy\ttwo poses\n"
      "cutis cage arm.obj --cage arm_cage.obj --coordinates harmonic --influences 4 --as-skin --cage-poses poses.npy -o "
      "arm.glb\tfor any player\n",
      verb_cage },
    { "handles", "MODEL", NULL, 1, 1, "weights for points, bars or a skeleton put on anything",
      "Meshes, open meshes, soups, loose pieces, point clouds: the shape is voxelised, so nothing is asked of its\n"
      "triangles. Weights are smooth (C2), not negative, sum to one, 1 at their own handle and 0 at the others. The\n"
      "result is a skinned model whose joints are the handles; poses of the handle file become clips. --skeleton gives\n"
      "a rig automatic weights and never fails. At most --influences weights a vertex are kept (default 4), chosen by the\n"
      "weight reduction over the clips or automatic poses; --largest is quicker. --weighting virtual keeps its virtual\n"
      "handles in CUTIS_handles, which `deform --method handles-rigid` plays and `render --show handles` draws.\n"
      "Time goes with the voxels inside the shape, not with its vertices: a solid ball has a million of them at the\n"
      "default of 128 along its longest side.\n"
      "Handles the grid cannot separate are a warning with the voxels that would do (--strict: an error); handles outside\n"
      "the model hold its nearest voxel; loose pieces without a handle follow the nearest one. Parts that only touch\n"
      "(hands at hips, closed fingers) are kept apart. Pieces of a rig's mesh that no bone bends (hats, swords, eyes)\n"
      "follow one joint each.\n"
      "\n"
      "JSON keys: file, output, weighting, voxels, voxel_size, domain_voxels, components, components_without_handle,\n"
      "real_handles, virtual_handles, insertion_rounds, coverage_max, iterations, floored_handles, joints_without_site,\n"
      "interpolation_error_max, separation_min, voxels_needed, dropped_mass_max, dropped_mass_mean, rigid_islands,\n"
      "touching (links between voxels that are cut, because parts only touch there), seconds {voxelise,\n"
      "distances, insertion, weights, reduction, update}, handles [{name, has_site, shared, floored, snapped,\n"
      "interpolation_error}]; with --skeleton on a model that has weights against_existing {mean_absolute,\n"
      "position_rms}: mean over vertices of the sum of |difference|, RMS over its clips in % of the diagonal.\n",
      { COMMON, READING, RUNNING, WRITING, BIT(HANDLES), BIT(SKELETON), BIT(SKIN), BIT(VOXELS),
          BIT(WEIGHTING), BIT(INFLUENCES), BIT(SOFTNESS), BIT(RADIUS), BIT(STRICT), BIT(WEIGHTS),
          BIT(WEIGHTS_PICTURE), BIT(LARGEST) },
      "cutis handles scan.ply --handles h.json -o scan.glb\tpoints and bars on a scan\n"
      "cutis handles rig.glb --skeleton --weights-picture weights.png -o bound.glb\tautomatic weights for a rig\n"
      "cutis handles soup.obj --handles h.json --weighting virtual --voxels auto -o soup.glb\tthe paper's construction\n",
      verb_handles },
    { "fit", "RIG", NULL, 1, 1, "learn weights and pose-space displacements from example shapes",
      "A clip gives the poses (one per key), --shapes what the skin looks like in each: world space, metres. Vertices are\n"
      "matched in order, or, where a glTF has seams and a sculpt does not, by rest position. The result has the displacements as morph targets and the poses in CUTIS_pose_space\n"
      "(docs/formats/pose_space.md); any glTF player shows its skin and clips, `deform --method psd` and `--method wpsd`\n"
      "pass through every example. The table lists RMS distances to the shapes, in metres: with the pose learned from, and with it left out.\n"
      "With --weights-only an array of more than --memory (2 GB) stays in its file, and is read some vertices at a time: the same bytes.\n"
      "\n"
      "JSON keys: file, output, vertices, examples, poses, merged, root_counts, diagonal, discarded_mean, discarded_max,\n"
      "deficient_vertices, damped_vertices, ambiguous_vertices, still_joints, sigma, condition, displacement_max,\n"
      "fields, energy, compression_max, paper_bytes, psd_bytes, wpsd_bytes, before_rms, ssd_rms, psd_rms, wpsd_rms;\n"
      "with --learn-weights left_out {rig, plain, learned} (RMS in poses left out while learning), prior (-1: the rig's\n"
      "weights stay); leave_one_out {groups, vertices, ssd_rms,\n"
      "psd_rms, wpsd_rms and per pose ssd, psd, wpsd}: RMS in a pose that was left out of the whole fit (of more than 32\n"
      "stretches are left out); contradictions [{first (-1: rest), second, radians, off, vertex, vertices}]: examples of\n"
      "all but one pose with different shapes; psd_worst, psd_missed, psd_misses [{vertex, example, off, why}] and the same of wpsd:\n"
      "vertices that miss an example, in parts of the diagonal.\n",
      { COMMON, READING, RUNNING, WRITING, BIT(FIT_POSES), BIT(SHAPES), BIT(LEARN_WEIGHTS), BIT(WEIGHTS_ONLY),
          BIT(NORMALISE), BIT(PRIOR), BIT(OWN_JOINTS), BIT(INFLUENCES), BIT(KERNEL), BIT(DISTANCE), BIT(SIGMA), BIT(WEIGHTS),
          BIT(POSE_SPACE), BIT(AFTER), BIT(PRINCIPAL_POSES), BIT(KEEP_JOINTS), BIT(KEEP_VERTICES),
          BIT(MEMORY) },
      "cutis synth arm --examples ex -o arm.glb\ta rig with the clip `examples`, and its shapes\n"
      "cutis fit arm.glb --poses examples --shapes ex/examples.npy -o arm-psd.glb\tlearn from eight shapes\n"
      "cutis deform arm-psd.glb --clip bend --method wpsd -o bend.npy\tplay what was learned\n"
      "cutis fit arm.glb --poses examples --shapes ex/examples.npy --learn-weights --weights-only -o arm2.glb\t"
      "weights alone\n",
      verb_fit },
    { "view", "[MODEL]", NULL, 0, 1, "the studio: skin, compare, paint and drag characters in the browser",
      "Serves one page on 127.0.0.1, below a secret path, and opens the browser; without one, open the address that\n"
      "is printed. Nothing but the page and MODEL can be reached, and the page loads nothing from anywhere else.\n"
      "Runs until Ctrl-C. The same page is a static site: the folder share/cutis/studio (build/studio).\n"
      "\n"
      "JSON keys: address.\n",
      { COMMON, READING, BIT(PORT), BIT(NO_BROWSER) },
      "cutis view\tbegin with a built-in character\n"
      "cutis view fox.glb\topen a model\n"
      "cutis view cally.cfg --no-browser\tonly print the address\n",
      verb_view },
    { "retarget", "MODEL", NULL, 1, 1, "put motion capture on a model, whatever its joints are called",
      "Joints are matched by names (sides, synonyms, prefixes), else by the shape of the tree, four legs mostly by it;\n"
      "--write-map and --map FILE let you edit the match (docs/formats/joint_map.md). The model may rest in any pose (sitting,\n"
      "kneeling, arms anywhere) and with any axis up: which one is found, --map z-up tells it. Motions of two legs on bodies\n"
      "with four, or the other way round, are made when asked for: --map across. Lengths are scaled by the legs, the hips follow the motion's; feet that stand or\n"
      "roll in the motion do so on the model, on the ground it rests on, and do not slide. The result is the model with the\n"
      "motion as its last clip; .bvh: the rig and the new motion alone. A first frame that is the rest pose (CMU's T-pose) is\n"
      "no part of the clip. Rigs that cannot be matched are shown side by side (--json: model_joints and motion_joints).\n"
      "\n"
      "JSON keys: file, motion, output, clip, frames, fps, joints, mapped, model_by, motion_by, rest, scale, height\n"
      "(standing), ground, up [x, y, z], stances [left, right], stance_seconds [left, right], ankle_mean, ankle_max (from the\n"
      "scaled path), slide, slide_free, slide_source (how far what touches the ground slides in one whole contact, at most; all\n"
      "in % of the height), hand_mean, hand_max (direction from shoulder to hand, degrees), map [{joint, motion_joint}]. What\n"
      "a rig lacks is null. Without a match: file, motion, model_joints [{name, parent}], motion_joints; exit status 1.\n",
      { COMMON, READING, WRITING, BIT(MOTION), BIT(MAP), BIT(WRITE_MAP), BIT(MOTION_REST), BIT(FEET),
          BIT(FPS), BIT(CLIP) },
      "cutis retarget biped.glb --motion 02_01.bvh -o walk.glb\ta CMU walk on a character\n"
      "cutis retarget fox.glb --motion dog.bvh --write-map map.json\tonly the match, to edit\n"
      "cutis retarget fox.glb --motion dog.bvh --map map.json --feet free -o run.glb\twith the edited match\n"
      "cutis retarget fox.glb --motion 02_01.bvh --map across,y-up -o odd.glb\ta person's walk on a fox\n",
      verb_retarget },
    { "rig", "BODY", NULL, 1, 1, "joints, parts and weights for a body that has none",
      "From the shape alone: lines through the middle of the body, limbs where its sections open, its kind by how they lie\n"
      "to each other (human, quadruped, bird, octopus, insect, toy bear, hand, fish, any; --kind tells it), parts and joints\n"
      "named after the kind (fingers where hands show five), and weights by the joints' bones. Scans with noise and holes\n"
      "do, in any pose. The model stays as it\n"
      "is: materials, coordinates and nodes; joints come below a node \"rig\", y along every bone; of people and bears its\n"
      "extras map the bones of VRM and Mixamo to them. --motion puts the first clip of a file on it, under its own name or\n"
      "its file's, and may be given again. Where a limb is taken for another, --strokes says what it is; --parts file:LABELS\n"
      "gives the parts (one number per triangle), each with a joint where it meets its parent; the mesh is welded and closed\n"
      "for it, as `skeleton` does. --patches closes it, too, and gives every joint a part. A result that fails its own check is an error, and nothing is written without\n"
      "--keep. --report writes a page: the verdict, parts, skeleton, frames of the motions, figures of parts and joints.\n"
      "\n"
      "JSON keys: file, output, kind, deviation (of the limbs from the kind's: below 0.5 is usual, beyond 1.5 it is none), second,\n"
      "second_deviation (the kind that fits next best; null: the kind was given), joints, parts, moved_inside, seconds,\n"
      "changes [text] (--parts, --patches: to the mesh), problems [text], motions [{file, clip (its name), frames, fps, joints (that it moves), slide, seconds,\n"
      "torn (% of the surface in triangles stretched 4 times), lean (degrees), off_ground, sunk, slide_seen (% of the height; null: not checked,\n"
      "neither two legs stand nor four; slide_seen also where the motion walks in place; lean on four legs is 0)}].\n",
      { COMMON, READING, WRITING, RUNNING, BIT(KIND), BIT(PARTS), BIT(PART_COUNT), BIT(STROKES), BIT(MOTIONS), BIT(REPORT),
          BIT(INFLUENCES), BIT(LARGEST), BIT(TWIST), BIT(FOR_PATCHES), BIT(KEEP),
          BIT(WEIGHTS) },
      "cutis rig scan.obj -o body.glb\tfind out what it is, and rig it\n"
      "cutis rig scan.ply --kind human --motion 02_01.bvh -o walk.glb\ta person, walking\n"
      "cutis rig chair.obj --kind any -o chair.glb\twhatever stands out becomes a limb\n"
      "cutis rig scan.ply --motion walk.bvh --motion run.bvh -o moves.glb\ta clip for each motion\n"
      "cutis rig scan.ply --strokes limbs.json -o body.glb\tlimbs as they are told\n"
      "cutis rig scan.ply --patches -o body.glb\tto bend by deform --method patches, or to print a pose\n"
      "cutis rig scan.off --parts file:scan.seg -o body.glb\tparts as they are told\n"
      "cutis rig scan.ply --keep --report rig.html -o body.glb\ta page to judge it by, whatever came out\n",
      verb_rig },
    { "skeleton", "MODEL", NULL, 1, 1, "a skeleton, rig and parts for a body cut in parts",
      "SOURCE: file:LABELS (one number per triangle, a line each: .seg), parts (that the file carries: CUTIS_parts,\n"
      "OBJ groups), materials, meshes, shells, joints (the heaviest joint of a skin), auto (found by shape, as `rig`\n"
      "does; --count). Pieces are welded where borders coincide, holes capped, labels healed; all of it is reported. The result has\n"
      "one joint per part at the loop where it meets its parent, an end node per leaf, rigid weights, and boxes, loops\n"
      "and graph in CUTIS_parts (docs/formats/parts.md), which `deform --method patches` needs. Pieces that only touch\n"
      "get a joint but no patch. Materials, textures, coordinates, colours and morph targets come along; clips only where\n"
      "the old rig is the new one (`cutis retarget` brings the others), which is said too.\n"
      "\n"
      "JSON keys: file, output, source, parts [{name, vertices, faces, star_shaped, kernel_radius, centroid, volume,\n"
      "axes, axes_before, box {min, max}, parent, joint, end, loop_vertices, groups, link_points}], repairs\n"
      "{dropped_faces, welded_edges, flipped_faces, split_edges, capped_holes, healing_rounds, relabelled_faces,\n"
      "touching_parts, seams, curved_splits, straightened, not_straightened}, changes [text], seconds {kernel, axes, total}.\n",
      { COMMON, READING, WRITING, BIT(PARTS), BIT(PART_COUNT), BIT(ROOT),
          BIT(SKELETON_METHOD), BIT(REFINE), BIT(ANGLE), BIT(ROOT_AT), BIT(JOINT_FRAMES),
          BIT(NO_SPLIT_CURVED), BIT(HEAL_ROUNDS), BIT(STRAIGHTEN), BIT(EXTRA), BIT(SKELETON_PICTURE),
          BIT(WEIGHTS) },
      "cutis skeleton scan.obj --parts auto --picture rig.png -o rig.glb\tfrom nothing\n"
      "cutis skeleton cow.off --parts file:cow.seg -o cow.glb\tlabels of the Princeton benchmark\n"
      "cutis skeleton human.glb --parts joints --frames world -o rig.glb\ta new rig from an old one's weights\n",
      verb_skeleton },
    { "joints", "MODEL", NULL, 1, 1, "joints of a rig moved, added, removed and renamed; weights follow",
      "Places are of the world at rest, in metres. What is next to a joint that is moved stays where it is, and so does the skin.\n"
      "Where a joint was moved or added all weights are made anew by the joints' bones, as `handles --skeleton` does (--keep-weights\n"
      "leaves them). Names are those of the file, also where others are renamed. Clips stay: they turn joints, wherever those are.\n"
      "\n"
      "JSON keys: file, output, moved, added, removed, renamed, bound (weights were made anew).\n",
      { COMMON, READING, WRITING, RUNNING, BIT(INFLUENCES), BIT(WEIGHTS), BIT(JOINT_MOVE), BIT(JOINT_ADD), BIT(JOINT_REMOVE),
          BIT(JOINT_RENAME), BIT(KEEP_WEIGHTS) },
      "cutis joints body.glb --move forearm_l=0.41,1.3,-0.02 -o better.glb\tan elbow put right\n"
      "cutis joints body.glb --add jaw=head,0,1.62,0.08 --rename hand_r=paw -o more.glb\ta jaw, and another name\n",
      verb_joints },
    { "farm", "[join|plan] JOBS.json", NULL, 1, 2, "many files, clips and frames: all cores, mpirun, or slices for a scheduler",
      "JOBS.json (docs/formats/jobs.md): jobs of deform, compare, reduce, fit, bake, rig, check and convert, each with files, clips,\n"
      "options and the name of its output below the folder of -o. They are cut into pieces, an array of `deform` by frames, weights that\n"
      "`fit --weights-only` learns by vertices, and given out to whoever is free, dearest first; every file is byte for byte what one process writes, on any number of ranks.\n"
      "`mpirun -n N cutis farm` uses MPI, with the program cutis-farm; alone it runs --ranks processes. --device cuda: a GPU a rank.\n"
      "OUT/farm/manifest lists what is finished: --resume goes on where a run was stopped or killed. A piece that fails three times\n"
      "is named and the rest goes on; exit status 1 then. What verbs say, without times, is in OUT/results.json, in order.\n"
      "--piece I/N runs one slice, for arrays of Slurm or any scheduler; `farm join` reads back what slices put in place, checks and\n"
      "finishes. `farm plan` measures some pieces of each job here and says what --ranks and --disk would take.\n"
      "\n"
      "--json prints an object a line: event start {version, jobs, output, ranks, units, pieces, done}, piece and failed {piece, job, verb,\n"
      "file, clip, rank, tries, seconds, first, end, error}, progress and end {done, failed, pieces, seconds, rate, seconds_left}.\n"
      "JSON keys of join: output, units, pieces; of plan: ranks, units, pieces, work_seconds, open_seconds, bytes, disk_rate, disk_seconds,\n"
      "compute_seconds, longest_seconds, manager_seconds, seconds, bound (compute, disk, longest or manager), efficiency.\n",
      { COMMON, WRITING, BIT(RESUME), BIT(PIECE), BIT(RANKS), BIT(RANK_THREADS), BIT(DISK), BIT(DRY_RUN), BIT(DEVICE) },
      "cutis farm jobs.json -o out\ton all cores of this machine\n"
      "mpirun -n 64 cutis farm jobs.json -o out\ton a cluster\n"
      "cutis farm jobs.json -o out --resume\tafter a kill\n"
      "cutis farm jobs.json -o out --piece 3/100\tone slice of a job array\n"
      "cutis farm join jobs.json -o out\twhen all slices are there\n"
      "cutis farm plan jobs.json --ranks 1000 --disk 20GB/s\twhat a cluster would take\n",
      verb_farm },
    { "reproduce", "", NULL, 0, 0, "the tables and figures of the five source papers, with ours beside them",
      "Measures every method on generated bodies of the papers' sizes and writes DIR/index.html, one page that refers to\n"
      "nothing outside itself, and DIR/reproduce.json. Each table shows the published figure, the paper's own method run\n"
      "here where ours differs, and ours; what is missing is listed. All five take under five minutes on two cores;\n"
      "--quick leaves the large bodies out. GPU columns are measured on the device that --device names.\n"
      "\n"
      "JSON keys: version, cpu, isa, gpu, quick, papers [{key, title, authors, machine, seconds, tables [{place, title,\n"
      "own, ours, note, metrics [{name, unit, better}], rows [{label, body, cells [{paper, own, ours}]}]}],\n"
      "missing [{what, why}]}]. A cell that was not published or not measured is null.\n",
      { COMMON, RUNNING, WRITING, BIT(PAPER), BIT(QUICK) },
      "cutis reproduce -o papers\tall five papers\n"
      "cutis reproduce --paper sbs --quick -o papers\tone of them, in seconds\n"
      "cutis reproduce --device cuda -o papers\tGPU columns too\n",
      verb_reproduce },
    { "help", "[VERB]", NULL, 0, 1, "explain a verb; print the man page or a completion script",
      "`cutis help methods` explains the methods. `cutis -v` is `cutis version`.\n"
      "\n"
      "JSON keys: version, verbs [{name, operands, summary, details, options [{name, letter, kind, value, choices, min, max,\n"
      "help}], examples [{command, meaning}]}], methods [{name, title, help, needs}]; of one verb: its own alone.\n",
      { COMMON, BIT(MAN), BIT(COMPLETION), BIT(MARKDOWN) },
      "cutis help deform\toptions and examples of one verb\n"
      "cutis help --json\tall verbs and options, for a program\n"
      "cutis help --man | man -l -\tthe man page\n"
      "source <(cutis help --completion bash)\tcompletion in this shell\n",
      verb_help },
    { "version", "", NULL, 0, 0, "print the version", "", { COMMON }, "cutis version\t\n",
      verb_version },
};
// clang-format on

const uint32_t cli_verb_count = sizeof cli_verbs / sizeof cli_verbs[0];
