"""The project's one generator (docs/spec/conventions.md 4): a hash of (seed, stream, index), written again from cutis/synth.h's words."""
MASK = (1 << 64) - 1


def mix(x):
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def random_bits(seed, stream, index):
    x = mix((seed + 0x9E3779B97F4A7C15) & MASK)
    x = mix(((x ^ (stream * 0xD1342543DE82EF95 & MASK)) + 0x9E3779B97F4A7C15) & MASK)
    return mix(((x ^ (index * 0xDA942042E4DD58B5 & MASK)) + 0x9E3779B97F4A7C15) & MASK)


def shuffled(items, seed, stream):
    """The items in random order."""
    items = list(items)
    return [item for _, item in sorted((random_bits(seed, stream, i), item) for i, item in enumerate(items))]
