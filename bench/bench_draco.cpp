// Reading Draco in a process of its own against the library alone: bench_draco FILE.glb [ROUNDS]. Both decode all streams of the file into
// fresh memory, in turn; processor time of everything, children included, median of the rounds.
#define main cutis_draco_main
#include "io/draco/cutis_draco.cpp"
#undef main

#include <algorithm>
#include <jansson.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#define _Alignas(n) alignas(n)
#include "io/gltf/draco.h"
}

namespace {

double seconds()
{
    double sum = 0;
    for (int who : { RUSAGE_SELF, RUSAGE_CHILDREN }) {
        rusage used;
        getrusage(who, &used);
        sum += double(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1e-6 * double(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    }
    return sum;
}

long number(json_t *object, const char *key)
{
    return long(json_number_value(json_object_get(object, key)));
}

template <typename T> void put(std::string &to, const T &value)
{
    to.append(reinterpret_cast<const char *>(&value), sizeof value);
}

uint32_t component_size(long component)
{
    return component < 5122 ? 1 : component < 5125 ? 2 : 4;
}

// The request that the reader would make, and the size of its answer.
std::string request_of(const std::string &glb, size_t &answer)
{
    uint32_t size;
    std::memcpy(&size, glb.data() + 12, 4);
    json_t *root = json_loadb(glb.data() + 20, size, 0, nullptr);
    const char *bin = glb.data() + 28 + size;
    json_t *accessors = json_object_get(root, "accessors"), *views = json_object_get(root, "bufferViews"), *mesh, *primitive, *id;
    size_t m, p;
    const char *name;
    std::string streams;
    uint32_t count = 0;
    json_array_foreach(json_object_get(root, "meshes"), m, mesh) json_array_foreach(json_object_get(mesh, "primitives"), p, primitive)
    {
        json_t *packed = json_object_get(json_object_get(primitive, "extensions"), "KHR_draco_mesh_compression");
        json_t *view = json_array_get(views, size_t(number(packed, "bufferView")));
        json_t *indices = json_array_get(accessors, size_t(number(primitive, "indices")));
        draco_stream head = {};
        std::string attributes;
        json_object_foreach(json_object_get(packed, "attributes"), name, id)
        {
            json_t *accessor = json_array_get(accessors, size_t(number(json_object_get(primitive, "attributes"), name)));
            const char *type = json_string_value(json_object_get(accessor, "type"));
            const uint32_t width = type[0] == 'S' ? 1 : uint32_t(type[3] - '0'), component = uint32_t(number(accessor, "componentType"));
            const uint32_t stride = draco_padded(width * component_size(component));
            put(attributes, draco_attribute{ uint32_t(json_integer_value(id)), component, width, stride, 0, 0 });
            head.vertex_count = uint32_t(number(accessor, "count"));
            head.attribute_count++;
            answer += size_t(head.vertex_count) * stride;
        }
        head.size = uint32_t(number(view, "byteLength"));
        head.index_count = uint32_t(number(indices, "count"));
        head.index_size = component_size(number(indices, "componentType"));
        answer += 4 + draco_padded(uint64_t(head.index_count) * head.index_size);
        put(streams, head);
        streams += attributes;
        streams.append(bin + number(view, "byteOffset"), head.size).append(draco_padded(head.size) - head.size, 0);
        count++;
    }
    json_decref(root);
    std::string request;
    put(request, draco_request{ DRACO_DECODE, count });
    return request + streams;
}

// In a copy of this process, so that its memory is as fresh as the helper's.
double alone(std::string &request, size_t answer)
{
    int ends[2];
    double used = -1;
    if (pipe(ends) != 0) return used;
    const pid_t child = fork();
    if (child == 0) {
        const double start = seconds();
        std::vector<char> out(answer + 1);
        stdin = fmemopen(&request[0], request.size(), "rb");
        stdout = fmemopen(out.data(), out.size(), "wb");
        cutis_draco_main();
        used = seconds() - start;
        _exit(write(ends[1], &used, sizeof used) == ssize_t(sizeof used) ? 0 : 1);
    }
    if (read(ends[0], &used, sizeof used) != ssize_t(sizeof used)) used = -1;
    waitpid(child, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
    return used;
}

double ours(cutis_context *context, std::string &request, size_t answer)
{
    const double start = seconds();
    std::vector<char> out(answer);
    cutis_bytes bytes = {};
    bytes.data = reinterpret_cast<decltype(bytes.data)>(&request[0]);
    bytes.size = request.size();
    size_t got = 0;
    if (cutis_gltf_run_draco(context, &bytes, out.data(), answer, &got) != CUTIS_OK || got != answer) {
        std::fprintf(stderr, "bench_draco: %s\n", cutis_context_error(context));
        std::exit(1);
    }
    return seconds() - start;
}

} // namespace

int main(int count, char **arguments)
{
    FILE *file = count > 1 ? std::fopen(arguments[1], "rb") : nullptr;
    if (!file) return std::fprintf(stderr, "bench_draco FILE.glb [ROUNDS]\n"), 2;
    std::string glb;
    char part[65536];
    for (size_t got; (got = std::fread(part, 1, sizeof part, file)) > 0;) glb.append(part, got);
    size_t answer = 0;
    std::string request = request_of(glb, answer);
    cutis_context *context = nullptr;
    cutis_context_create(nullptr, &context);
    std::vector<double> a, b;
    for (int i = 0, rounds = count > 2 ? std::atoi(arguments[2]) : 21; i < rounds; i++) {
        b.push_back(alone(request, answer));
        a.push_back(ours(context, request, answer));
    }
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::printf("%zu bytes to %zu: the library alone %.2f ms, Cutis %.2f ms, ratio %.3f\n", request.size(), answer, 1e3 * b[b.size() / 2],
                1e3 * a[a.size() / 2], a[a.size() / 2] / b[b.size() / 2]);
    cutis_context_destroy(context);
}
