#!/bin/sh
# NumPy reads what we write, and we read what NumPy writes: every type and order, compared value by value.
tool=$BUILD/tests/test_npy_io
if ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    echo "skip numpy_reads_and_writes_our_arrays: python3-numpy is not installed"
    exit 0
fi
if [ ! -x "$tool" ]; then
    echo "skip numpy_reads_and_writes_our_arrays: $tool is not built"
    exit 0
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$tool" write "$folder/ours.npy" && /usr/bin/python3 - "$tool" "$folder" <<'PYTHON'
import subprocess, sys
import numpy as np
tool, folder = sys.argv[1:]
failures = 0

def report(name, good, why=""):
    global failures
    failures += not good
    print(("ok " if good else "not ok ") + name + ("" if good else ": " + why))

ours = np.load(folder + "/ours.npy")
wanted = (np.arange(60, dtype=np.float32) / np.float32(3)).reshape(4, 5, 3)
report("numpy_reads_our_frames", ours.dtype == np.float32 and ours.shape == (4, 5, 3) and np.array_equal(ours, wanted),
       f"{ours.dtype} {ours.shape}")

random = np.random.default_rng(1)
for kind in ["f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"]:
    for order in "<>":
        for fortran in (False, True):
            array = (random.random((3, 4, 5)) * 200 - (100 if kind[0] in "fi" else 0))
            array = (array > 50) if kind == "?" else array.astype(order + kind)
            if fortran:
                array = np.asfortranarray(array)
            np.save(folder + "/theirs.npy", array)
            text = subprocess.run([tool, "sum", folder + "/theirs.npy"], capture_output=True, text=True).stdout
            name = f"we_read_numpys_{order}{kind}_{'fortran' if fortran else 'c'}"
            shape, _, values = text.partition(":")
            got = np.array(values.split(), dtype=np.float64).astype(np.float32)
            right = shape.split() == ["3", "4", "5"] and np.array_equal(got, array.astype(np.float32).ravel())
            report(name, right, text[:80])
sys.exit(failures != 0)
PYTHON
