// The program cutis-draco: streams of Draco from standard input to arrays on standard output, and back (protocol.h). Draco's own code
// runs here and nowhere else, in a process that src/base/os limits; whatever it does to a hostile stream ends with it. Invariant: what
// is answered has the sizes that were asked for. The only C++ of Cutis, because Draco has no C interface.
#include "protocol.h"

#include <draco/compression/decode.h>
#include <draco/compression/expert_encode.h>
#include <draco/mesh/mesh.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

namespace {

constexpr int NO_MEMORY = 3, WRONG_REQUEST = 2; // exit codes

void take(void *out, size_t size)
{
    if (std::fread(out, 1, size, stdin) != size) std::exit(WRONG_REQUEST);
}

std::vector<char> take_bytes(size_t size)
{
    std::vector<char> bytes(draco_padded(size));
    take(bytes.data(), bytes.size());
    bytes.resize(size);
    return bytes;
}

void give(const void *data, size_t size)
{
    static const char ZEROS[4] = {};
    std::fwrite(data, 1, size, stdout);
    std::fwrite(ZEROS, 1, draco_padded(size) - size, stdout);
}

void give_status(draco_status status, uint32_t first, uint32_t second)
{
    const uint32_t words[] = { uint32_t(status), first, second };
    give(words, status == DRACO_OK ? 4 : sizeof words);
}

draco::DataType type_of(uint32_t component)
{
    switch (component) {
    case 5120: return draco::DT_INT8;
    case 5121: return draco::DT_UINT8;
    case 5122: return draco::DT_INT16;
    case 5123: return draco::DT_UINT16;
    case 5125: return draco::DT_UINT32;
    default: return draco::DT_FLOAT32;
    }
}

std::unique_ptr<draco::Mesh> decode(const char *data, size_t size)
{
    draco::DecoderBuffer buffer;
    draco::Decoder decoder;
    buffer.Init(data, size);
    auto mesh = decoder.DecodeMeshFromBuffer(&buffer);
    return mesh.ok() ? std::move(mesh).value() : nullptr;
}

template <typename T>
bool convert(const draco::PointAttribute &from, uint32_t count, const draco_attribute &to, char *out)
{
    const bool same = from.data_type() == type_of(to.component) && from.num_components() == int(to.width);
    for (uint32_t i = 0; i < count; i++, out += to.stride) {
        const draco::AttributeValueIndex value = from.mapped_index(draco::PointIndex(i));
        if (value.value() >= from.size()) return false;
        if (same)
            std::memcpy(out, from.GetAddress(value), to.width * sizeof(T));
        else if (!from.ConvertValue<T>(value, int8_t(to.width), reinterpret_cast<T *>(out)))
            return false;
    }
    return true;
}

bool convert_any(const draco::PointAttribute &from, uint32_t count, const draco_attribute &to, char *out)
{
    switch (to.component) {
    case 5120: return convert<int8_t>(from, count, to, out);
    case 5121: return convert<uint8_t>(from, count, to, out);
    case 5122: return convert<int16_t>(from, count, to, out);
    case 5123: return convert<uint16_t>(from, count, to, out);
    case 5125: return convert<uint32_t>(from, count, to, out);
    default: return convert<float>(from, count, to, out);
    }
}

// The indices in `size` bytes each (0: nobody asks for them); a stream with one that does not fit, or that is no vertex, is broken.
bool narrow(const draco::Mesh &mesh, uint32_t size, std::vector<char> &out)
{
    out.assign(size_t(mesh.num_faces()) * 3 * size, 0);
    char *at = out.data();
    for (uint32_t f = 0; f < mesh.num_faces(); f++)
        for (int k = 0; k < 3; k++, at += size) {
            const uint32_t index = mesh.face(draco::FaceIndex(f))[k].value();
            if (index >= mesh.num_points() || (size == 1 && index > 0xff) || (size == 2 && index > 0xffff)) return false;
            if (size == 1) *at = char(index);
            const uint16_t half = uint16_t(index);
            if (size == 2) std::memcpy(at, &half, 2);
            if (size == 4) std::memcpy(at, &index, 4);
        }
    return true;
}

// @return false: nothing more follows
bool decode_one()
{
    draco_stream stream;
    take(&stream, sizeof stream);
    std::vector<draco_attribute> wanted(stream.attribute_count);
    take(wanted.data(), wanted.size() * sizeof wanted[0]);
    const std::vector<char> bytes = take_bytes(stream.size);
    const std::unique_ptr<draco::Mesh> mesh = decode(bytes.data(), bytes.size());
    std::vector<std::vector<char>> arrays(wanted.size());
    std::vector<char> indices;
    if (!mesh || !narrow(*mesh, stream.index_size, indices)) return give_status(DRACO_BROKEN, 0, 0), false;
    if (mesh->num_points() != stream.vertex_count || uint64_t(mesh->num_faces()) * 3 != stream.index_count)
        return give_status(DRACO_COUNTS, mesh->num_points(), mesh->num_faces() * 3), false;
    for (size_t i = 0; i < wanted.size(); i++) {
        const draco::PointAttribute *from = mesh->GetAttributeByUniqueId(wanted[i].id);
        if (!from) return give_status(DRACO_ATTRIBUTE, wanted[i].id, 0), false;
        arrays[i].resize(size_t(stream.vertex_count) * wanted[i].stride);
        if (!convert_any(*from, stream.vertex_count, wanted[i], arrays[i].data()))
            return give_status(DRACO_BROKEN, 0, 0), false;
    }
    give_status(DRACO_OK, 0, 0);
    for (const std::vector<char> &array : arrays) give(array.data(), array.size());
    give(indices.data(), indices.size());
    return true;
}

draco::GeometryAttribute::Type kind_of(uint32_t kind)
{
    switch (kind) {
    case DRACO_POSITION: return draco::GeometryAttribute::POSITION;
    case DRACO_NORMAL: return draco::GeometryAttribute::NORMAL;
    case DRACO_TEXCOORD: return draco::GeometryAttribute::TEX_COORD;
    case DRACO_COLOR: return draco::GeometryAttribute::COLOR;
    default: return draco::GeometryAttribute::GENERIC;
    }
}

void add_attribute(draco::Mesh &mesh, uint32_t count, const draco_attribute &from)
{
    const draco::DataType type = type_of(from.component);
    const size_t size = size_t(draco::DataTypeLength(type)) * from.width;
    draco::GeometryAttribute attribute;
    attribute.Init(kind_of(from.id), nullptr, int8_t(from.width), type, from.normalized != 0, int64_t(size), 0);
    const int id = mesh.AddAttribute(attribute, true, count);
    const std::vector<char> bytes = take_bytes(size_t(count) * from.stride);
    for (uint32_t i = 0; i < count; i++)
        mesh.attribute(id)->SetAttributeValue(draco::AttributeValueIndex(i), bytes.data() + size_t(i) * from.stride);
}

void add_faces(draco::Mesh &mesh, uint32_t index_count)
{
    std::vector<uint32_t> indices(index_count);
    take(indices.data(), indices.size() * sizeof indices[0]);
    mesh.SetNumFaces(index_count / 3);
    for (uint32_t f = 0; f < index_count / 3; f++)
        mesh.SetFace(draco::FaceIndex(f), { { draco::PointIndex(indices[3 * f]), draco::PointIndex(indices[3 * f + 1]),
                                              draco::PointIndex(indices[3 * f + 2]) } });
}

// What was encoded, as it will be decoded.
bool measure(const draco::EncoderBuffer &buffer, draco_encoded &out)
{
    const std::unique_ptr<draco::Mesh> mesh = decode(buffer.data(), buffer.size());
    const draco::PointAttribute *first = mesh ? mesh->GetAttributeByUniqueId(0) : nullptr;
    if (!first) return false;
    out.size = uint32_t(buffer.size());
    out.vertex_count = mesh->num_points();
    out.index_count = mesh->num_faces() * 3;
    for (uint32_t i = 0; i < mesh->num_points(); i++) {
        float value[3] = {};
        first->ConvertValue<float>(first->mapped_index(draco::PointIndex(i)), 3, value);
        for (int k = 0; k < 3; k++) {
            if (i == 0 || value[k] < out.low[k]) out.low[k] = value[k];
            if (i == 0 || value[k] > out.high[k]) out.high[k] = value[k];
        }
    }
    return true;
}

void encode_one()
{
    draco_mesh header;
    take(&header, sizeof header);
    std::vector<draco_attribute> attributes(header.attribute_count);
    take(attributes.data(), attributes.size() * sizeof attributes[0]);
    draco::Mesh mesh;
    mesh.set_num_points(header.vertex_count);
    for (const draco_attribute &attribute : attributes) add_attribute(mesh, header.vertex_count, attribute);
    add_faces(mesh, header.index_count);
    // Corners that differ in a normal or texture coordinate alone share their position again.
    if (!header.ordered) mesh.DeduplicateAttributeValues();
    draco::ExpertEncoder encoder(mesh);
    draco::EncoderBuffer buffer;
    draco_encoded encoded = {};
    encoder.SetEncodingMethod(header.ordered ? draco::MESH_SEQUENTIAL_ENCODING : draco::MESH_EDGEBREAKER_ENCODING);
    encoder.SetSpeedOptions(3, 3);
    for (size_t i = 0; i < attributes.size(); i++)
        if (attributes[i].bits) encoder.SetAttributeQuantization(int32_t(i), int(attributes[i].bits));
    if (!encoder.EncodeToBuffer(&buffer).ok() || !measure(buffer, encoded)) return give_status(DRACO_FAILED, 0, 0);
    give_status(DRACO_OK, 0, 0);
    give(&encoded, sizeof encoded);
    give(buffer.data(), buffer.size());
}

} // namespace

int main()
{
    // What is released is used again: in a process this short, pages from the system are a tenth of the time.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    try {
        draco_request request;
        take(&request, sizeof request);
        if (request.what != DRACO_DECODE && request.what != DRACO_ENCODE) return WRONG_REQUEST;
        for (uint32_t i = 0; i < request.count; i++) {
            if (request.what == DRACO_ENCODE)
                encode_one();
            else if (!decode_one())
                break;
        }
    } catch (const std::bad_alloc &) {
        std::_Exit(NO_MEMORY);
    } catch (const std::length_error &) {
        std::_Exit(NO_MEMORY);
    }
    return std::fflush(stdout) == 0 && !std::ferror(stdout) ? 0 : WRONG_REQUEST;
}
