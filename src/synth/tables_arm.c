/// The arm: a left arm held out along +x with a rounded stump of the trunk; not mirrored.
#include "synth/tables.h"

// clang-format off
static const synth_row shapes[] = {
    BLOB(135, 1405, -22, 75, 98, 82, 30, 0, 0, 0),
    CONE(120, 1440, -22, 55, 200, 1430, -22, 50, 50),
    CONE(228, 1420, -22, 60, 338, 1425, -22, 45, 50),
    CONE(248, 1425, -22, 50, 511, 1425, -22, 38, 40),
    BLOB(383, 1427, -8, 85, 37, 36, 30, 0, 0, 0),
    BLOB(378, 1425, -38, 95, 37, 36, 30, 0, 0, 0),
    FLAT(511, 1425, -22, 38, 759.2, 1425, 8.1, 26, 30, 0.88, 0, -1, 0),
    BLOB(585.5, 1425, -13, 85, 37, 42, 35, 0, 0, 0),
    FLAT(787, 1425, 11.5, 31, 838.6, 1425, 17.7, 40, 25, 0.46, -0, -1, 0),
    CONE(806, 1421, -4.4, 17, 841.2, 1422, -4.1, 15, 20),
    CONE(840.6, 1427, 51.2, 11, 895.9, 1423, 63.6, 10, 10),
    CONE(895.9, 1423, 63.6, 9.4, 919, 1410, 68.8, 8.2, 3),
    CONE(848.2, 1427, 30, 11, 909.8, 1423, 38.7, 10, 10),
    CONE(909.8, 1423, 38.7, 9.4, 936.3, 1410, 42.4, 8.2, 3),
    CONE(846.9, 1427, 7.1, 11, 904.7, 1423, 10.6, 10, 10),
    CONE(904.7, 1423, 10.6, 9.4, 929.1, 1410, 12.1, 8.2, 3),
    CONE(840.6, 1427, -15.3, 9.8, 888.5, 1423, -15.7, 8.8, 10),
    CONE(888.5, 1423, -15.7, 8.2, 907.7, 1410, -15.9, 7, 3),
    CONE(778.4, 1421, 32.6, 20, 804.5, 1413, 66, 13.5, 20),
    CONE(804.5, 1413, 66, 13.2, 825.2, 1407, 78.5, 11.2, 8),
    CONE(825.2, 1407, 78.5, 11.2, 848.3, 1403, 87.4, 9, 6),
};
static const synth_joint_row joints[] = {
    { "base", NULL, false, { 60, 1420, -22 }, { 0, 0, 0 }, { 0, 0, 0 }, 0 },
    { "collar", "base", false, { 100, 1420, -22 }, { 0, 0, 0 }, { 0, 0, 0 }, 0 },
    { "shoulder", "collar", false, { 228, 1425, -22 }, { 248, 1425, -22 }, { 1, 0, 0 }, 65 },
    { "elbow", "shoulder", false, { 511, 1425, -22 }, { 511, 1425, -22 }, { 0.998, 0, 0.06 }, 45 },
    { "wrist", "elbow", false, { 759.2, 1425, 8.1 }, { 771.1, 1425, 9.5 }, { 0.993, 0, 0.12 }, 35 },
};
static const synth_size_row sizes[] = {
    { { 857.3, 1425, 30 }, 90, 0.5 },
};
// clang-format on

const synth_table cutis_synth_arm = {
    .name = "arm",
    .runs = { { shapes, sizeof shapes / sizeof *shapes } },
    .joints = { { joints, sizeof joints / sizeof *joints } },
    .sizes = sizes,
    .size_count = sizeof sizes / sizeof *sizes,
    .mirrored = false,
    .has_floor = false,
    .floor_y = 0,
    .floor_k = 0,
    .box_min = { 40, 1280, -130 },
    .box_max = { 970, 1530, 120 },
    .cell = 4,
    .vertices_min = 1000,
    .rooted = true,
};
