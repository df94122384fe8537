/// An OpenGL ES 3 context without a window: a GPU through EGL's device list, else Mesa's
/// surfaceless platform.
///
/// libepoxy aborts when libEGL is not there, so its presence is tested before the first call.
/// Invariant: after a failed create nothing is left open.
#include "render/renderer.h"
#include "render/shaders.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/os/os.h"

#include <stdio.h>
#include <string.h>

static bool library_is_there(const char *name)
{
    void *library = cutis_os_library_open(name);
    cutis_os_library_close(library);
    return library != NULL;
}

static bool initialise(EGLDisplay display)
{
    return display != EGL_NO_DISPLAY && eglInitialize(display, NULL, NULL);
}

/// A GPU's display if one is listed: software devices are left to the surfaceless platform.
static EGLDisplay gpu_display(void)
{
    if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration") ||
        !epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device"))
        return EGL_NO_DISPLAY;
    EGLDeviceEXT devices[16];
    EGLint count = 0;
    if (!eglQueryDevicesEXT(16, devices, &count)) return EGL_NO_DISPLAY;
    for (EGLint i = 0; i < count; i++) {
        const char *extensions = eglQueryDeviceStringEXT(devices[i], EGL_EXTENSIONS);
        if (extensions && strstr(extensions, "EGL_MESA_device_software")) continue;
        EGLDisplay display = eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
        if (initialise(display)) return display;
    }
    return EGL_NO_DISPLAY;
}

static EGLDisplay any_display(void)
{
    const char *software = cutis_os_environment("LIBGL_ALWAYS_SOFTWARE");
    EGLDisplay display = software && software[0] == '1' ? EGL_NO_DISPLAY : gpu_display();
    if (display != EGL_NO_DISPLAY) return display;
    if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless")) {
        display =
            eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
        if (initialise(display)) return display;
    }
    display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    return initialise(display) ? display : EGL_NO_DISPLAY;
}

static EGLContext es_context(EGLDisplay display)
{
    static const EGLint WANTED[] = { EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                     EGL_OPENGL_ES3_BIT, EGL_NONE };
    static const EGLint VERSION[] = { EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0,
                                      EGL_NONE };
    EGLConfig config = EGL_NO_CONFIG_KHR;
    EGLint count = 0;
    if (!eglBindAPI(EGL_OPENGL_ES_API)) return EGL_NO_CONTEXT;
    if (!eglChooseConfig(display, WANTED, &config, 1, &count) || count == 0)
        config = EGL_NO_CONFIG_KHR;
    return eglCreateContext(display, config, EGL_NO_CONTEXT, VERSION);
}

static cutis_result open_context(cutis_renderer *renderer)
{
    cutis_context *context = renderer->context;
    if (!library_is_there("libEGL.so.1"))
        return cutis_fail(context, CUTIS_DEVICE_UNAVAILABLE,
                          "libEGL.so.1 is not there: install the package libegl1");
    if (!library_is_there("libGLESv2.so.2"))
        return cutis_fail(context, CUTIS_DEVICE_UNAVAILABLE,
                          "libGLESv2.so.2 is not there: install the package libgles2");
    renderer->display = any_display();
    if (renderer->display == EGL_NO_DISPLAY)
        return cutis_fail(
            context, CUTIS_DEVICE_UNAVAILABLE,
            "EGL finds no renderer: install the packages libegl-mesa0 and libgl1-mesa-dri");
    renderer->egl = es_context(renderer->display);
    if (renderer->egl == EGL_NO_CONTEXT)
        return cutis_fail(context, CUTIS_DEVICE_UNAVAILABLE,
                          "EGL has no OpenGL ES 3 (error 0x%x): install libgl1-mesa-dri",
                          eglGetError());
    return cutis_renderer_use(renderer);
}

cutis_result cutis_renderer_use(cutis_renderer *renderer)
{
    if (eglGetCurrentContext() == renderer->egl) return CUTIS_OK;
    if (eglMakeCurrent(renderer->display, EGL_NO_SURFACE, EGL_NO_SURFACE, renderer->egl))
        return CUTIS_OK;
    return cutis_fail(renderer->context, CUTIS_DEVICE_LOST, "eglMakeCurrent failed (error 0x%x)",
                      eglGetError());
}

// Programs --------------------------------------------------------------------------------------

static GLuint compile_shader(cutis_context *context, GLenum kind, const char *text)
{
    GLuint shader = glCreateShader(kind);
    GLint good = 0;
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (good) return shader;
    char log[512] = "";
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    glDeleteShader(shader);
    cutis_fail(context, CUTIS_DEVICE_BUILD_FAILED, "shader: %s", log);
    return 0;
}

GLuint cutis_renderer_program(cutis_context *context, const char *vertex, const char *fragment)
{
    GLuint v = compile_shader(context, GL_VERTEX_SHADER, vertex), program = 0;
    GLuint f = v ? compile_shader(context, GL_FRAGMENT_SHADER, fragment) : 0;
    GLint good = 0;
    if (f) {
        program = glCreateProgram();
        glAttachShader(program, v);
        glAttachShader(program, f);
        glLinkProgram(program);
        glGetProgramiv(program, GL_LINK_STATUS, &good);
        if (!good) cutis_fail(context, CUTIS_DEVICE_BUILD_FAILED, "a shader program does not link");
    }
    glDeleteShader(v);
    glDeleteShader(f);
    if (good) return program;
    glDeleteProgram(program);
    return 0;
}

void cutis_renderer_set_matrix(GLuint program, const char *name, const cutis_mat4 *matrix)
{
    float values[16];
    for (int i = 0; i < 16; i++) values[i] = (float)matrix->m[i];
    glUniformMatrix4fv(glGetUniformLocation(program, name), 1, GL_FALSE, values);
}

bool cutis_target_make(cutis_target *target)
{
    const GLsizei width = (GLsizei)target->width, height = (GLsizei)target->height;
    glGenFramebuffers(1, &target->frame);
    glGenRenderbuffers(1, &target->color);
    glGenRenderbuffers(1, &target->depth);
    glBindRenderbuffer(GL_RENDERBUFFER, target->color);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    glBindRenderbuffer(GL_RENDERBUFFER, target->depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, width, height);
    glBindFramebuffer(GL_FRAMEBUFFER, target->frame);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, target->color);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, target->depth);
    return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

void cutis_target_release(const cutis_target *target)
{
    glDeleteRenderbuffers(1, &target->color);
    glDeleteRenderbuffers(1, &target->depth);
    glDeleteFramebuffers(1, &target->frame);
}

cutis_result cutis_renderer_error(cutis_renderer *renderer)
{
    GLenum error = glGetError();
    if (error == GL_NO_ERROR) return CUTIS_OK;
    return cutis_fail(renderer->context, CUTIS_DEVICE_LOST, "OpenGL error 0x%x", error);
}

static cutis_result build_programs(cutis_renderer *r)
{
    struct {
        const char *vertex, *fragment;
        GLuint *program;
    } list[] = { { SURFACE_VERTEX, SURFACE_FRAGMENT, &r->surface_program },
                 { DEPTH_VERTEX, DEPTH_FRAGMENT, &r->depth_program },
                 { DEPTH_VERTEX, WIRE_FRAGMENT, &r->wire_program },
                 { GROUND_VERTEX, GROUND_FRAGMENT, &r->ground_program },
                 { BACKDROP_VERTEX, BACKDROP_FRAGMENT, &r->background_program } };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        *list[i].program = cutis_renderer_program(r->context, list[i].vertex, list[i].fragment);
        if (!*list[i].program) return CUTIS_DEVICE_BUILD_FAILED;
    }
    return CUTIS_OK;
}

cutis_result cutis_renderer_create(cutis_context *context, cutis_renderer **out)
{
    if (out) *out = NULL;
    if (!context || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_renderer *renderer = cutis_alloc_zero(context, 1, sizeof *renderer);
    if (!renderer) return cutis_alloc_result(context);
    renderer->context = context;
    cutis_result result = open_context(renderer);
    if (result == CUTIS_OK) result = build_programs(renderer);
    if (result != CUTIS_OK) {
        cutis_renderer_destroy(renderer);
        return result;
    }
    const char *name = (const char *)glGetString(GL_RENDERER);
    snprintf(renderer->name, sizeof renderer->name, "%s", name ? name : "unknown");
    *out = renderer;
    return CUTIS_OK;
}

void cutis_renderer_destroy(cutis_renderer *renderer)
{
    if (!renderer) return;
    if (renderer->egl) { // EGL_NO_CONTEXT is a null pointer
        eglMakeCurrent(renderer->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        eglDestroyContext(renderer->display, renderer->egl); // its programs go with it
    }
    // The display stays initialised: it is the process's, and another renderer may be using it.
    cutis_free(renderer->context, renderer, sizeof *renderer);
}

const char *cutis_renderer_name(const cutis_renderer *renderer)
{
    return renderer->name;
}
