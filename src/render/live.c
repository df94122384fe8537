/// Whole frames: a device deforms into the renderer's own vertex buffer, then it is drawn.
///
/// Invariant: between cutis_live_deform and cutis_live_draw the records being written belong to the
/// device; while drawing they belong to OpenGL. CUDA writes into memory that OpenGL imported once:
/// a ring of slots, each with a fence that says when OpenGL has read it. A GPU that changes between
/// CUDA and OpenGL loses 0.4 ms, so frames may be deformed some way ahead of drawing and share the
/// change. Where the driver cannot import, the buffer is handed over and back every frame.
#include "render/renderer.h"
#include "render/interop_cuda.h"
#include "render/shared_cuda.h"
#include "base/error.h"
#include "base/memory.h"

enum { RECORD = 24, SLOTS = 16, SLOT_ALIGNMENT = 256 };

typedef enum live_path { LIVE_MAPPED, LIVE_COPIED, LIVE_CUDA, LIVE_SHARED } live_path;

struct cutis_live {
    cutis_renderer *renderer;
    cutis_device *device;
    live_path path;
    uint32_t vertex_count;
    uint64_t triangle_count;
    cutis_target target;
    GLuint program, vertices, indices, memory;
    GLuint arrays[SLOTS];     ///< all but LIVE_SHARED use the first alone
    uint64_t deformed, drawn; ///< frames so far; frame i is in slot i % SLOTS (else always 0)
    uint64_t ready;           ///< LIVE_SHARED: frames CUDA is known to have finished
    GLsync read[SLOTS]; ///< LIVE_SHARED: reached when OpenGL has drawn the slot; NULL: never used
    uint64_t slot_size; ///< LIVE_SHARED: bytes from slot to slot
    cutis_cuda_shared *shared;   ///< LIVE_SHARED
    cutis_cuda_interop *interop; ///< LIVE_CUDA
    cutis_buffer *copy;          ///< LIVE_COPIED: the device's records
    void *staging;               ///< LIVE_COPIED
};

static const char VERTEX[] =
    "#version 300 es\nprecision highp float;\n"
    "layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal; uniform mat4 "
    "clip; out vec3 facing;\n"
    "void main() { facing = normal; gl_Position = clip * vec4(position, 1.0); }\n";
static const char FRAGMENT[] =
    "#version 300 es\nprecision highp float;\nin vec3 facing; out vec4 pixel;\n"
    "void main() { vec3 n = normalize(facing); float key = max(dot(n, vec3(-0.48, 0.64, 0.6)), "
    "0.0);\n"
    "  vec3 c = vec3(0.56, 0.50, 0.44) * (vec3(1.3, 1.22, 1.1) * key + mix(vec3(0.25), vec3(0.5, "
    "0.55, 0.62), 0.5 + 0.5 * n.y));\n"
    "  pixel = vec4(pow(c, vec3(1.0 / 2.2)), 1.0); }\n";

/// A vertex array that reads records from `offset` of the vertex buffer on.
static void build_array(const cutis_live *live, GLuint array, uint64_t offset)
{
    glBindVertexArray(array);
    glBindBuffer(GL_ARRAY_BUFFER, live->vertices);
    for (GLuint a = 0; a < 2; a++) {
        glEnableVertexAttribArray(a);
        glVertexAttribPointer(a, 3, GL_FLOAT, GL_FALSE, RECORD,
                              (void *)(uintptr_t)(offset + 12 * a));
    }
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, live->indices);
}

static void build_mesh(cutis_live *live, const uint32_t *indices)
{
    glGenVertexArrays(SLOTS, live->arrays);
    glGenBuffers(1, &live->vertices);
    glGenBuffers(1, &live->indices);
    glBindBuffer(GL_ARRAY_BUFFER, live->vertices);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)live->vertex_count * RECORD, NULL, GL_DYNAMIC_DRAW);
    build_array(live, live->arrays[0], 0);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)live->triangle_count * 12, indices,
                 GL_STATIC_DRAW);
}

/// Memory of CUDA's behind the vertex buffer, a slot for each of the next frames. Leaves everything
/// as it was when the drivers cannot do that.
static cutis_result share_memory(cutis_live *live)
{
    cutis_context *context = live->renderer->context;
    uint64_t whole = 0, slot = (uint64_t)live->vertex_count * RECORD;
    int descriptor = -1;
    GLuint buffer = 0;
    if (!epoxy_has_gl_extension("GL_EXT_memory_object_fd"))
        return UNSUPPORTED(context, "OpenGL imports no memory");
    slot = (slot + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
    cutis_result result =
        cutis_cuda_shared_create(context, live->device, slot * SLOTS, &live->shared);
    if (result == CUTIS_OK) result = cutis_cuda_shared_export(live->shared, &descriptor, &whole);
    if (result == CUTIS_OK) {
        while (glGetError() != GL_NO_ERROR) {}
        glCreateMemoryObjectsEXT(1, &live->memory);
        glImportMemoryFdEXT(live->memory, whole, GL_HANDLE_TYPE_OPAQUE_FD_EXT, descriptor);
        glGenBuffers(1, &buffer);
        glBindBuffer(GL_ARRAY_BUFFER, buffer);
        glBufferStorageMemEXT(GL_ARRAY_BUFFER, (GLsizeiptr)whole, live->memory, 0);
        GLenum error = glGetError();
        if (error != GL_NO_ERROR)
            result = UNSUPPORTED(context, "OpenGL does not take CUDA's memory: error 0x%x", error);
    }
    if (result != CUTIS_OK) {
        if (buffer) glDeleteBuffers(1, &buffer);
        if (live->memory) glDeleteMemoryObjectsEXT(1, &live->memory);
        live->memory = 0;
        cutis_cuda_shared_destroy(live->shared);
        live->shared = NULL;
        return result;
    }
    glDeleteBuffers(1, &live->vertices);
    live->vertices = buffer;
    live->slot_size = slot;
    for (uint32_t i = 0; i < SLOTS; i++) build_array(live, live->arrays[i], i * slot);
    return CUTIS_OK;
}

static cutis_result open_path(cutis_live *live)
{
    cutis_context *context = live->renderer->context;
    uint64_t size = (uint64_t)live->vertex_count * RECORD;
    cutis_device_kind kind = cutis_device_describe(live->device).kind;
    if (kind == CUTIS_DEVICE_CPU) return CUTIS_OK;
    if (kind == CUTIS_DEVICE_CUDA) {
        live->path = LIVE_SHARED;
        if (share_memory(live) == CUTIS_OK) return CUTIS_OK;
        cutis_log(context, "live drawing hands its buffer over every frame: %s",
                  cutis_context_error(context));
        glFinish(); // the buffer must exist on the GPU before CUDA registers it
        cutis_result result =
            cutis_cuda_interop_create(context, live->device, live->vertices, size, &live->interop);
        live->path = LIVE_CUDA;
        if (result == CUTIS_OK) return CUTIS_OK;
        cutis_log(context, "live drawing copies: %s",
                  cutis_context_error(context)); // another GPU draws, or software
    }
    live->path = LIVE_COPIED;
    live->staging = cutis_alloc(context, (size_t)size);
    if (!live->staging) return cutis_alloc_result(context);
    return cutis_buffer_create(live->device, size, &live->copy);
}

cutis_result cutis_live_create(cutis_renderer *renderer, cutis_device *device,
                               uint32_t vertex_count, uint64_t triangle_count,
                               const uint32_t *indices, uint32_t width, uint32_t height,
                               cutis_live **out)
{
    if (out) *out = NULL;
    if (!renderer || !device || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = renderer->context;
    if (width < 1 || height < 1 || width > CUTIS_IMAGE_SIDE_MAX || height > CUTIS_IMAGE_SIDE_MAX ||
        triangle_count > INT32_MAX / 12)
        return INVALID(context, "a live body of %ux%u pixels, %llu triangles", width, height,
                       (unsigned long long)triangle_count);
    cutis_live *live = cutis_alloc_zero(context, 1, sizeof *live);
    if (!live) return cutis_alloc_result(context);
    *live = (cutis_live){ .renderer = renderer,
                          .device = device,
                          .vertex_count = vertex_count,
                          .triangle_count = triangle_count,
                          .target = { .width = width, .height = height } };
    cutis_result result = cutis_renderer_use(renderer);
    if (result == CUTIS_OK) {
        live->program = cutis_renderer_program(context, VERTEX, FRAGMENT);
        if (!live->program)
            result =
                cutis_fail(context, CUTIS_DEVICE_BUILD_FAILED, "the live program does not link");
    }
    if (result == CUTIS_OK && !cutis_target_make(&live->target))
        result = cutis_fail(context, CUTIS_DEVICE_OUT_OF_MEMORY, "no frame buffer of %ux%u", width,
                            height);
    if (result == CUTIS_OK) {
        build_mesh(live, indices);
        result = open_path(live);
    }
    if (result == CUTIS_OK)
        *out = live;
    else
        cutis_live_destroy(live);
    return result;
}

void cutis_live_destroy(cutis_live *live)
{
    if (!live) return;
    cutis_context *context = live->renderer->context;
    cutis_cuda_interop_destroy(live->interop);
    cutis_buffer_destroy(live->copy);
    const bool current = cutis_renderer_use(live->renderer) == CUTIS_OK;
    if (current && live->memory) glFinish(); // the memory is no longer read
    cutis_free(context, live->staging, (size_t)live->vertex_count * RECORD);
    if (current) {
        GLuint buffers[] = { live->vertices, live->indices };
        for (uint32_t i = 0; i < SLOTS; i++) glDeleteSync(live->read[i]);
        glDeleteBuffers(2, buffers);
        glDeleteVertexArrays(SLOTS, live->arrays);
        cutis_target_release(&live->target);
        glDeleteProgram(live->program);
        if (live->memory) glDeleteMemoryObjectsEXT(1, &live->memory);
    }
    cutis_cuda_shared_destroy(live->shared);
    cutis_free(context, live, sizeof *live);
}

static cutis_outputs records_in(void *data, cutis_buffer *buffer, uint64_t offset)
{
    cutis_stream positions = { .data = data, .buffer = buffer, .offset = offset, .stride = RECORD },
                 normals = positions;
    if (data)
        normals.data = (char *)data + 12;
    else
        normals.offset += 12;
    return (cutis_outputs){ .positions = positions, .normals = normals };
}

static cutis_result deform_mapped(cutis_live *live, const cutis_binding *binding,
                                  const cutis_poses *poses)
{
    glBindBuffer(GL_ARRAY_BUFFER, live->vertices);
    void *records = glMapBufferRange(GL_ARRAY_BUFFER, 0, (GLsizeiptr)live->vertex_count * RECORD,
                                     GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    if (!records)
        return cutis_fail(live->renderer->context, CUTIS_DEVICE_LOST,
                          "OpenGL cannot map its vertex buffer");
    cutis_outputs outputs = records_in(records, NULL, 0);
    cutis_result result = cutis_deform(binding, poses, 1, &outputs);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    return result;
}

/// CUDA writes the next slot once OpenGL has drawn from it. Neither API knows the other's order of
/// work, so the host waits: here for OpenGL, before drawing for CUDA.
static cutis_result deform_shared(cutis_live *live, const cutis_binding *binding,
                                  const cutis_poses *poses)
{
    enum { LONGEST = 1000000000 }; // a second, in nanoseconds
    uint32_t slot = live->deformed % SLOTS;
    GLsync read = live->read[slot];
    if (read && glClientWaitSync(read, GL_SYNC_FLUSH_COMMANDS_BIT, LONGEST) == GL_TIMEOUT_EXPIRED)
        return cutis_fail(live->renderer->context, CUTIS_DEVICE_LOST,
                          "OpenGL does not finish a frame");
    glDeleteSync(read);
    live->read[slot] = NULL;
    cutis_outputs outputs =
        records_in(NULL, cutis_cuda_shared_buffer(live->shared), slot * live->slot_size);
    cutis_result result = cutis_deform(binding, poses, 1, &outputs);
    if (result == CUTIS_OK) live->deformed++;
    return result;
}

uint32_t cutis_live_ahead(const cutis_live *live)
{
    return live && live->path == LIVE_SHARED ? SLOTS : 1;
}

/// The vertex array of the oldest frame that was not drawn, or of the last one again.
static cutis_result next_frame(cutis_live *live, uint32_t *slot)
{
    *slot = 0;
    if (live->path != LIVE_SHARED) return CUTIS_OK;
    if (live->drawn < live->deformed) live->drawn++;
    *slot = (uint32_t)((live->drawn + SLOTS - 1) % SLOTS);
    if (live->drawn <= live->ready) return CUTIS_OK;
    live->ready = live->deformed;
    return cutis_device_finish(live->device);
}

cutis_result cutis_live_deform(cutis_live *live, const cutis_binding *binding,
                               const cutis_poses *poses)
{
    if (!live || !binding || !poses) return CUTIS_INVALID_ARGUMENT;
    cutis_result result = cutis_renderer_use(live->renderer);
    if (result != CUTIS_OK) return result;
    if (live->deformed - live->drawn >= SLOTS)
        return INVALID(live->renderer->context, "%d frames wait to be drawn", SLOTS);
    if (cutis_binding_describe(binding).vertex_count != live->vertex_count)
        return INVALID(live->renderer->context, "the binding has another number of vertices");
    if (live->path == LIVE_MAPPED) return deform_mapped(live, binding, poses);
    if (live->path == LIVE_SHARED) return deform_shared(live, binding, poses);
    if (live->path == LIVE_CUDA) {
        cutis_buffer *buffer = NULL;
        TRY(cutis_cuda_interop_map(live->interop, &buffer));
        cutis_outputs outputs = records_in(NULL, buffer, 0);
        result = cutis_deform(binding, poses, 1, &outputs);
        cutis_result unmapped =
            cutis_cuda_interop_unmap(live->interop); // orders drawing after the deform
        return result != CUTIS_OK ? result : unmapped;
    }
    size_t size = (size_t)live->vertex_count * RECORD;
    cutis_outputs outputs = records_in(NULL, live->copy, 0);
    result = cutis_deform(binding, poses, 1, &outputs);
    if (result == CUTIS_OK) result = cutis_buffer_read(live->copy, 0, live->staging, size);
    if (result != CUTIS_OK) return result;
    glBindBuffer(GL_ARRAY_BUFFER, live->vertices);
    glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)size, live->staging);
    return CUTIS_OK;
}

cutis_result cutis_live_draw(cutis_live *live, const cutis_camera *camera, bool finish)
{
    if (!live || !camera) return CUTIS_INVALID_ARGUMENT;
    cutis_result result = cutis_renderer_use(live->renderer);
    uint32_t slot = 0;
    if (result == CUTIS_OK) result = next_frame(live, &slot);
    if (result != CUTIS_OK) return result;
    const cutis_target *target = &live->target;
    cutis_view view =
        cutis_view_frame(camera, &camera->frame, (double)target->width / target->height);
    glBindFramebuffer(GL_FRAMEBUFFER, target->frame);
    glViewport(0, 0, (GLsizei)target->width, (GLsizei)target->height);
    glEnable(GL_DEPTH_TEST);
    glClearColor(0.87f, 0.88f, 0.90f, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glUseProgram(live->program);
    cutis_renderer_set_matrix(live->program, "clip", &view.both);
    glBindVertexArray(live->arrays[slot]);
    glDrawElements(GL_TRIANGLES, (GLsizei)(3 * live->triangle_count), GL_UNSIGNED_INT, NULL);
    if (live->path == LIVE_SHARED) {
        glDeleteSync(live->read[slot]); // drawn twice: the later one counts
        live->read[slot] = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    }
    if (finish)
        glFinish();
    else
        glFlush();
    return cutis_renderer_error(live->renderer);
}

cutis_result cutis_live_read(cutis_live *live, cutis_image *out)
{
    if (!live || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = live->renderer->context;
    const uint32_t width = live->target.width, height = live->target.height;
    cutis_image image = { 0 };
    TRY(cutis_renderer_use(live->renderer));
    TRY(cutis_image_create(context, width, height, 0, &image));
    glBindFramebuffer(GL_FRAMEBUFFER, live->target.frame);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    for (uint32_t y = 0; y < height; y++)
        glReadPixels(0, (GLint)(height - 1 - y), (GLsizei)width, 1, GL_RGBA, GL_UNSIGNED_BYTE,
                     image.pixels + 4 * (size_t)width * y);
    *out = image;
    return CUTIS_OK;
}

const char *cutis_live_path(const cutis_live *live)
{
    return !live                       ? ""
           : live->path == LIVE_SHARED ? "in CUDA's memory"
           : live->path == LIVE_CUDA   ? "handed to CUDA and back"
           : live->path == LIVE_MAPPED ? "mapped"
                                       : "copied";
}
