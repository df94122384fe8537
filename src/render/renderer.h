/// The inside of a renderer: an EGL context without a window, and the programs of the scene passes.
#ifndef CUTIS_RENDER_RENDERER_H
#define CUTIS_RENDER_RENDERER_H

#include <cutis/render.h>
#include <epoxy/gl.h>
#include <epoxy/egl.h>

struct cutis_renderer {
    cutis_context *context;
    EGLDisplay display;
    EGLContext egl;
    char name[128];
    GLuint surface_program, depth_program, ground_program, background_program, wire_program;
};

/// Column-major 4x4 matrices in double on the host; GL gets floats.
typedef struct cutis_mat4 {
    double m[16];
} cutis_mat4;

cutis_mat4 cutis_mat4_multiply(const cutis_mat4 *a, const cutis_mat4 *b);
cutis_mat4 cutis_mat4_look(const double eye[3], const double target[3], const double up[3]);
cutis_mat4 cutis_mat4_orthographic(double half_width, double half_height, double near, double far);
/// Clip space of a point, divided by w; false if it lies behind the eye.
bool cutis_mat4_project(const cutis_mat4 *m, const double point[3], double out[3]);

/// A camera that looks at a box: view, projection, eye.
typedef struct cutis_view {
    cutis_mat4 view, projection, both;
    double eye[3], target[3], radius;
} cutis_view;

cutis_view cutis_view_frame(const cutis_camera *camera, const cutis_bounds *box, double aspect);

/// Make the renderer's context current in this thread.
cutis_result cutis_renderer_use(cutis_renderer *renderer);

/// A shader program; 0, with the error set: it does not compile or link.
GLuint cutis_renderer_program(cutis_context *context, const char *vertex, const char *fragment);
void cutis_renderer_set_matrix(GLuint program, const char *name, const cutis_mat4 *matrix);

/// What is drawn into: colours and depths, bound when made.
typedef struct cutis_target {
    uint32_t width, height;
    GLuint frame, color, depth;
} cutis_target;

/// Of the target's width and height; false: OpenGL has no memory for it.
bool cutis_target_make(cutis_target *target);
void cutis_target_release(const cutis_target *target);

/// CUTIS_DEVICE_LOST with the error set, if OpenGL has met an error.
cutis_result cutis_renderer_error(cutis_renderer *renderer);

#endif
