/// The biped: 1.80 m, about 7.5 heads, arms 40 degrees below the horizontal; left half only. Below
/// 3000 vertices fingers cannot be meshed, and each hand's four become one mitten.
#include "synth/tables.h"

// clang-format off
/// Trunk, neck, leg, foot, arm, palm.
static const synth_row body[] = {
    BLOB(0, 1285, -5, 140, 185, 105, 50, 0, 0, 0),
    BLOB(0, 1090, 6, 120, 160, 88, 80, 0, 0, 0),
    BLOB(0, 985, -4, 141, 105, 99, 80, 0, 0, 0),
    CONE(40, 1405, -22, 74, 135, 1415, -22, 56, 50),
    CONE(10, 1500, -30, 42, 135, 1445, -25, 34, 50),
    BLOB(68, 1350, 50, 88, 56, 42, 50, 0, 14, 6),
    BLOB(104, 1265, -30, 45, 150, 58, 60, 0, 0, -6),
    BLOB(70, 930, -52, 74, 85, 64, 60, 0, 0, 0),
    CONE(0, 1455, -30, 55, 0, 1600, -6, 46, 45),
    CONE(82, 930, -4, 69, 98, 530, 6, 46, 80),
    BLOB(99, 800, 4, 69, 215, 76, 50, 0, 0, 2),
    BLOB(99, 720, 30, 52, 170, 45, 50, 0, 0, 0),
    BLOB(98, 515, 18, 34, 50, 34, 35, 0, 0, 0),
    CONE(99, 490, -2, 41, 104, 100, -26, 30, 40),
    BLOB(104, 370, -26, 48, 125, 44, 50, 0, 0, 0),
    CONE(105, 34, -40, 34, 117, 30, 80, 30, 40),
    CONE(104, 190, -32, 16, 105, 50, -46, 29, 30),
    CONE(105, 85, -12, 30, 117, 40, 85, 24, 45),
    CONE(102, 28, 92, 25, 138, 26, 75, 22, 30),
    CONE(103, 26, 98, 19, 102, 19, 148, 14.5, 14),
    CONE(120, 24, 100, 15, 121, 14, 147, 10.5, 10),
    CONE(131, 22, 95, 14, 134, 13, 138, 10, 10),
    CONE(141, 21, 88, 13, 146, 12, 126, 9.5, 10),
    CONE(149, 20, 80, 12, 155, 12, 111, 9, 10),
    CONE(178, 1420, -22, 60, 262.3, 1354.3, -22, 45, 50),
    CONE(193.3, 1412.1, -22, 50, 394.8, 1243, -22, 38, 40),
    BLOB(298, 1326.9, -8, 85, 37, 36, 30, 0, 0, -40),
    BLOB(292.9, 1328.6, -38, 95, 37, 36, 30, 0, 0, -40),
    FLAT(394.8, 1243, -22, 38, 584.7, 1083.5, 9.4, 26, 30, 0.88, -0.643, -0.766, 0),
    BLOB(451.7, 1195.2, -12.6, 85, 37, 42, 35, 0, 0, -40),
    FLAT(605.9, 1065.6, 12.9, 31, 645.4, 1032.4, 19.4, 40, 25, 0.46, -0.643, -0.766, 0),
    CONE(618, 1050.3, -2.9, 17, 645.6, 1028.4, -2.4, 15, 20),
};
static const synth_row fingers[] = {
    CONE(648.1, 1032.8, 52.9, 11, 687.4, 994.6, 67.7, 10, 10),
    CONE(687.4, 994.6, 67.7, 9.4, 696.6, 969.9, 73.9, 8.2, 3),
    CONE(654, 1027.8, 31.7, 11, 698.5, 985.2, 41.3, 10, 10),
    CONE(698.5, 985.2, 41.3, 9.4, 710.4, 958.3, 45.5, 8.2, 3),
    CONE(653.2, 1028.6, 8.9, 11, 694.8, 988.3, 11.5, 10, 10),
    CONE(694.8, 988.3, 11.5, 9.4, 705.2, 962.7, 12.6, 8.2, 3),
    CONE(648.4, 1032.6, -13.6, 9.8, 682.5, 998.7, -16.1, 8.8, 10),
    CONE(682.5, 998.7, -16.1, 8.2, 688.8, 976.5, -17.1, 7, 3),
};
static const synth_row mitten[] = {
    FLAT(656.8, 1022.9, 21.3, 38, 687.6, 993.1, 26.7, 35, 12, 0.42, -0.643, -0.766, 0),
    FLAT(687.6, 993.1, 26.7, 34, 705.2, 967.8, 30.4, 26, 8, 0.42, -0.643, -0.766, 0),
};
/// Thumb and head.
static const synth_row thumb_head[] = {
    CONE(596.7, 1068.2, 33.9, 20, 611.5, 1045.3, 67.5, 13.5, 20),
    CONE(611.5, 1045.3, 67.5, 13.2, 623.4, 1027.5, 80.1, 11.2, 8),
    CONE(623.4, 1027.5, 80.1, 11.2, 638.4, 1009.6, 89.1, 9, 6),
    BLOB(0, 1700, -12, 74, 100, 95, 30, 0, 0, 0),
    BLOB(0, 1640, 24, 57, 78, 60, 40, 0, 0, 0),
    CONE(0, 1586, 56, 20, 40, 1612, 0, 22, 35),
    CONE(10, 1700, 72, 13, 46, 1697, 50, 13, 20),
    HOLLOW(31, 1678, 96, 21, 17, 20, 18, 0, 0, 0),
    BLOB(30, 1677, 63, 15.5, 14.5, 15.5, 5, 0, 0, 0),
    CONE(0, 1690, 77, 9, 0, 1648, 98, 12.5, 14),
    BLOB(10.5, 1644, 89, 9, 8, 10, 8, 0, 0, 0),
    BLOB(45, 1648, 46, 18, 20, 20, 30, 0, 0, 0),
    BLOB(0, 1617.5, 74.5, 24, 6.5, 9.5, 10, 0, 0, 0),
    BLOB(0, 1607, 73, 19, 7, 9.5, 10, 0, 0, 0),
    BLOB(74, 1668, -12, 7.5, 28, 17, 12, -12, -24, 0),
    HOLLOW(84, 1669, -3, 6, 18, 8, 8, -12, -24, 0),
    BLOB(0, 1706, -20, 77, 100, 99, 4, 0, 0, 0), /* hair: cutis_synth_colors knows this ellipsoid */
};
static const synth_joint_row joints_body[] = {
    { "hips", NULL, false, { 0, 960, 0 }, { 0, 0, 0 }, { 0, 0, 0 }, 0 },
    { "spine", "hips", false, { 0, 1060, -10 }, { 0, 1060, 0 }, { 0, 1, 0 }, 120 },
    { "chest", "spine", false, { 0, 1200, -15 }, { 0, 1200, 0 }, { 0, 1, 0 }, 120 },
    { "neck", "chest", false, { 0, 1490, -30 }, { 0, 1515, -20 }, { 0, 0.979, 0.202 }, 70 },
    { "head", "neck", false, { 0, 1600, -10 }, { 0, 1585, -5 }, { 0, 0.921, 0.39 }, 50 },
    { "clavicle", "chest", true, { 25, 1440, -10 }, { 131, 1400, -20 }, { 0.91, 0.415, 0 }, 75 },
    { "upperarm", "clavicle", true, { 178, 1425, -22 }, { 220.1, 1389.6, -22 }, { 0.766, -0.643, 0 }, 65 },
    { "forearm", "upperarm", true, { 394.8, 1243, -22 }, { 394.8, 1243, -22 }, { 0.764, -0.642, 0.063 }, 45 },
    { "hand", "forearm", true, { 584.7, 1083.5, 9.4 }, { 593.8, 1075.8, 10.9 }, { 0.76, -0.638, 0.125 }, 35 },
};
static const synth_joint_row joints_fingers[] = {
    { "index1", "hand", true, { 655.9, 1023.6, 54.4 }, { 672.1, 1008.7, 61.2 }, { 0.702, -0.648, 0.297 }, 16 },
    { "index2", "index1", true, { 687.4, 994.6, 67.7 }, { 687.4, 994.6, 67.7 }, { 0.534, -0.801, 0.27 }, 10 },
    { "middle1", "hand", true, { 661.9, 1018.6, 33.2 }, { 680.8, 1001.4, 37.4 }, { 0.729, -0.665, 0.162 }, 16 },
    { "middle2", "middle1", true, { 698.5, 985.2, 41.3 }, { 698.5, 985.2, 41.3 }, { 0.576, -0.803, 0.154 }, 10 },
    { "ring1", "hand", true, { 661, 1019.4, 10.4 }, { 680.9, 1001.1, 11 }, { 0.737, -0.676, 0.025 }, 16 },
    { "ring2", "ring1", true, { 694.8, 988.3, 11.5 }, { 694.8, 988.3, 11.5 }, { 0.569, -0.822, 0.034 }, 10 },
    { "pinky1", "hand", true, { 656.2, 1023.4, -12.1 }, { 674.3, 1006.4, -14.9 }, { 0.724, -0.681, -0.111 }, 16 },
    { "pinky2", "pinky1", true, { 682.5, 998.7, -16.1 }, { 682.5, 998.7, -16.1 }, { 0.517, -0.852, -0.08 }, 10 },
};
static const synth_joint_row joints_mitten[] = {
    { "fingers1", "hand", true, { 659.1, 1020.9, 21.6 }, { 666.7, 1014.6, 22.9 }, { 0.76, -0.638, 0.125 }, 16 },
    { "fingers2", "fingers1", true, { 687.6, 993.1, 26.7 }, { 687.6, 993.1, 26.7 }, { 0.67, -0.732, 0.124 }, 12 },
};
static const synth_joint_row joints_rest[] = {
    { "thumb1", "hand", true, { 611.5, 1045.3, 67.5 }, { 611.9, 1044.6, 68 }, { 0.416, -0.633, 0.653 }, 14 },
    { "thumb2", "thumb1", true, { 623.4, 1027.5, 80.1 }, { 623.4, 1027.5, 80.1 }, { 0.542, -0.718, 0.436 }, 10 },
    { "thigh", "hips", true, { 85, 925, 0 }, { 85, 900, 0 }, { 0.552, -0.834, 0 }, 75 },
    { "shin", "thigh", true, { 98, 505, 0 }, { 98, 505, 0 }, { 0, -1, 0 }, 55 },
    { "foot", "shin", true, { 104, 85, -22 }, { 104, 105, -22 }, { 0, -0.954, 0.301 }, 35 },
    { "toes", "foot", true, { 118, 30, 88 }, { 118, 30, 98 }, { 0.1, 0, 0.995 }, 25 },
};
static const synth_size_row sizes[] = {
    { { 660, 1030, 30 }, 100, 0.31 },
    { { 30, 1660, 50 }, 90, 0.45 },
    { { 0, 1608, 82 }, 34, 0.26 },
    { { 31, 1684, 72 }, 27, 0.23 },
    { { 80, 1668, -10 }, 40, 0.4 },
    { { 120, 30, 50 }, 100, 0.62 },
    { { 130, 20, 120 }, 50, 0.36 },
};
/// So few vertices go where the silhouette needs them: the mitten's rim rather than the face.
static const synth_size_row sizes_mitten[] = {
    { { 670, 1015, 30 }, 80, 0.28 },
    { { 30, 1660, 50 }, 90, 0.5 },
    { { 120, 30, 50 }, 100, 0.62 },
    { { 130, 20, 120 }, 50, 0.4 },
};
// clang-format on

const synth_table cutis_synth_biped = {
    .name = "biped",
    .runs = { { body, sizeof body / sizeof *body },
              { fingers, sizeof fingers / sizeof *fingers },
              { thumb_head, sizeof thumb_head / sizeof *thumb_head } },
    .joints = { { joints_body, sizeof joints_body / sizeof *joints_body },
                { joints_fingers, sizeof joints_fingers / sizeof *joints_fingers },
                { joints_rest, sizeof joints_rest / sizeof *joints_rest } },
    .sizes = sizes,
    .size_count = sizeof sizes / sizeof *sizes,
    .mirrored = true,
    .has_floor = true,
    .floor_y = 0,
    .floor_k = 12,
    .box_min = { 0, -20, -200 },
    .box_max = { 800, 1840, 240 },
    .cell = 5,
    .vertices_min = 3000,
    .rooted = false,
};

const synth_table cutis_synth_mitten = {
    .name = "biped",
    .runs = { { body, sizeof body / sizeof *body },
              { mitten, sizeof mitten / sizeof *mitten },
              { thumb_head, sizeof thumb_head / sizeof *thumb_head } },
    .joints = { { joints_body, sizeof joints_body / sizeof *joints_body },
                { joints_mitten, sizeof joints_mitten / sizeof *joints_mitten },
                { joints_rest, sizeof joints_rest / sizeof *joints_rest } },
    .sizes = sizes_mitten,
    .size_count = sizeof sizes_mitten / sizeof *sizes_mitten,
    .mirrored = true,
    .has_floor = true,
    .floor_y = 0,
    .floor_k = 12,
    .box_min = { 0, -20, -200 },
    .box_max = { 800, 1840, 240 },
    .cell = 5,
    .vertices_min = 1500,
    .rooted = false,
};
