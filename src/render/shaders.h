/// The scene's shaders (GLSL ES 3.00). One light rig for every picture: a warm key light from the
/// upper left with a soft shadow, a sky dome, a cool rim from behind.
#ifndef CUTIS_RENDER_SHADERS_H
#define CUTIS_RENDER_SHADERS_H

#define GLSL_HEAD                                                                                  \
    "#version 300 es\nprecision highp float;\nprecision highp int;\nprecision highp "              \
    "sampler2DShadow;\n"

/// Shared by surfaces and ground: soft shadow look-ups on a Vogel disk turned per pixel, sRGB, the
/// backdrop.
#define GLSL_COMMON                                                                                \
    "uniform vec2 picture;\n"                                                                      \
    "uniform vec3 backdrop_low, backdrop_high;\n"                                                  \
    "vec3 to_srgb(vec3 c) { c = clamp(c, 0.0, 1.0);\n"                                             \
    "  return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c)); }\n"    \
    "vec3 backdrop() { vec2 p = gl_FragCoord.xy / picture; vec2 q = p - vec2(0.5, 0.45);\n"        \
    "  vec3 c = mix(backdrop_low, backdrop_high, smoothstep(0.0, 1.0, p.y));\n"                    \
    "  return c * (1.0 - 0.25 * smoothstep(0.25, 0.95, dot(q, q) * 1.6)); }\n"                     \
    "float turn() { return 6.2831853 * fract(52.9829189 * fract(dot(gl_FragCoord.xy, "             \
    "vec2(0.06711056, 0.00583715)))); }\n"                                                         \
    "float soft_shadow(sampler2DShadow map, vec3 p, float radius, int taps) {\n"                   \
    "  float sum = 0.0, angle = turn();\n"                                                         \
    "  for (int i = 0; i < taps; i++) {\n"                                                         \
    "    float r = radius * sqrt((float(i) + 0.5) / float(taps)), a = angle + 2.3999632 * "        \
    "float(i);\n"                                                                                  \
    "    sum += texture(map, vec3(p.xy + r * vec2(cos(a), sin(a)), p.z)); }\n"                     \
    "  return sum / float(taps); }\n"

static const char SURFACE_VERTEX[] =
    GLSL_HEAD "layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal;\n"
              "layout(location = 2) in vec4 color; layout(location = 3) in float value;\n"
              "uniform mat4 clip, key_clip; uniform float key_bias;\n"
              "out vec3 at, facing, key_at; out vec4 tint; out float amount;\n"
              "void main() { at = position; facing = normal; tint = color; amount = value;\n"
              "  key_at = (key_clip * vec4(position + normal * key_bias, 1.0)).xyz * 0.5 + 0.5;\n"
              "  gl_Position = clip * vec4(position, 1.0); }\n";

static const char SURFACE_FRAGMENT[] = GLSL_HEAD GLSL_COMMON
    "in vec3 at, facing, key_at; in vec4 tint; in float amount;\n"
    "uniform vec3 eye, key_direction; uniform float roughness, painted, key_texel;\n"
    "uniform sampler2DShadow key_map; uniform sampler2D ramp;\n"
    "out vec4 pixel;\n"
    "void main() {\n"
    "  vec3 n = normalize(facing), v = normalize(eye - at);\n"
    "  if (dot(facing, facing) < 1e-12) n = normalize(cross(dFdx(at), dFdy(at)));\n"
    "  bool inside = dot(n, v) < -0.2;\n" // not gl_FrontFacing: slivers at the silhouette would
                                          // flicker
    "  if (inside) n = -n;\n"
    "  vec3 base = painted > 0.5 ? texture(ramp, vec2((clamp(amount, 0.0, 1.0) * 255.0 + 0.5) / "
    "256.0, 0.5)).rgb : tint.rgb;\n"
    "  if (inside) base *= vec3(0.55, 0.5, 0.5);\n"
    "  float lit = soft_shadow(key_map, vec3(key_at.xy, key_at.z - 2.0e-3), 3.5 * key_texel, 12);\n"
    "  float facing_key = max(dot(n, key_direction), 0.0);\n"
    "  float wrap = max((dot(n, key_direction) + 0.25) / 1.25, 0.0);\n"
    "  vec3 key = vec3(1.62, 1.52, 1.38) * mix(wrap * wrap * 0.25, facing_key, 0.85) * lit;\n"
    "  float up = 0.5 + 0.5 * n.y;\n"
    "  vec3 dome = mix(vec3(0.30, 0.28, 0.27), vec3(0.62, 0.68, 0.76), up * up * (3.0 - 2.0 * up)) "
    "* 0.82;\n"
    "  vec3 rim_from = normalize(vec3(0.65, 0.35, -0.7));\n"
    "  float grazing = pow(1.0 - max(dot(n, v), 0.0), 3.0);\n"
    "  vec3 rim = vec3(0.75, 0.85, 1.0) * (max(dot(n, rim_from), 0.0) * 0.35 + grazing * 0.22 * "
    "up);\n"
    "  vec3 h = normalize(key_direction + v);\n"
    "  float a = roughness * roughness, d = max(dot(n, h), 0.0), q = d * d * (a * a - 1.0) + 1.0;\n"
    "  float shine = a * a / (3.1416 * q * q) * 0.045 * facing_key * lit * (1.0 - 0.85 * "
    "painted);\n"
    "  vec3 light = mix(key + dome + rim, vec3(0.62) + 0.42 * (key + dome), 0.55 * painted);\n"
    "  vec3 c = base * light * mix(0.80, 0.52, painted) + shine;\n" // painted: the brightest point
                                                                    // keeps its colour
    "  c = mix(c * (1.0 + c * 0.12) / (1.0 + 0.28 * c), c, painted);\n"
    "  pixel = vec4(to_srgb(c), 1.0); }\n";

static const char DEPTH_VERTEX[] =
    GLSL_HEAD "layout(location = 0) in vec3 position; uniform mat4 clip;\n"
              "void main() { gl_Position = clip * vec4(position, 1.0); }\n";
static const char DEPTH_FRAGMENT[] = GLSL_HEAD "void main() {}\n";

static const char WIRE_FRAGMENT[] =
    GLSL_HEAD "uniform vec4 ink; out vec4 pixel;\nvoid main() { pixel = ink; }\n";

/// The floor catches the key light's shadow and a wide one from straight above (contact), and is
/// otherwise invisible.
static const char GROUND_VERTEX[] = GLSL_HEAD
    "uniform mat4 clip, key_clip, dome_clip; uniform vec4 ground;\n" // centre xz, height, half size
    "out vec3 key_at, dome_at; out vec2 away;\n"
    "void main() { vec2 c = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0; away = c;\n"
    "  vec4 p = vec4(ground.x + c.x * ground.w, ground.z, ground.y + c.y * ground.w, 1.0);\n"
    "  key_at = (key_clip * p).xyz * 0.5 + 0.5; dome_at = (dome_clip * p).xyz * 0.5 + 0.5;\n"
    "  gl_Position = clip * p; }\n";
static const char GROUND_FRAGMENT[] = GLSL_HEAD GLSL_COMMON
    "in vec3 key_at, dome_at; in vec2 away; uniform sampler2DShadow key_map, dome_map; uniform "
    "float key_texel, dome_soft, depth;\n"
    "out vec4 pixel;\n"
    "void main() {\n"
    "  float fade = 1.0 - smoothstep(0.25, 1.0, length(away));\n"
    "  if (fade <= 0.0) discard;\n"
    "  float key = 1.0 - soft_shadow(key_map, vec3(key_at.xy, key_at.z - 1.0e-3), 6.0 * key_texel, "
    "16);\n"
    "  float dome = 1.0 - soft_shadow(dome_map, vec3(dome_at.xy, dome_at.z - 1.0e-3), dome_soft, "
    "24);\n"
    "  float dark = fade * depth * (1.0 - (1.0 - 0.42 * key) * (1.0 - 0.45 * dome));\n"
    "  pixel = vec4(to_srgb(backdrop() * (1.0 - dark)), 1.0); }\n";

static const char BACKDROP_VERTEX[] =
    GLSL_HEAD "void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - "
              "1.0, 1.0, 1.0); }\n";
static const char BACKDROP_FRAGMENT[] = GLSL_HEAD GLSL_COMMON
    "out vec4 pixel;\nvoid main() { pixel = vec4(to_srgb(backdrop()), 1.0); }\n";

#endif
