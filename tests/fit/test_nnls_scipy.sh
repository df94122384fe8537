#!/bin/sh
# Non-negative least squares against scipy's: problems and our solutions come from the C test.
if ! /usr/bin/python3 -c "import scipy" 2>/dev/null; then
    echo "skip nnls_scipy: python3-scipy is not installed"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$BUILD/tests/test_nnls_fit" --dump "$folder/problems" || { echo "not ok nnls_scipy: no problems"; exit 1; }
out=$(/usr/bin/python3 - "$folder/problems" <<'P'
import sys
import numpy as np
from scipy.optimize import nnls, minimize

worst = {"plain": 0.0, "unit": 0.0}
count = 0
lines = iter(open(sys.argv[1]))
numbers = lambda: np.array([float.fromhex(x) for x in next(lines).split()])
for header in lines:
    n = int(header)
    g = numbers().reshape(n, n); h = numbers(); plain = numbers(); unit = numbers()
    root = np.linalg.cholesky(g)
    w, _ = nnls(root.T, np.linalg.solve(root, h))
    worst["plain"] = max(worst["plain"], abs(plain - w).max())
    # The sum inside: a heavy row (docs/spec/pose-space.md 6), then the same as least squares.
    heavy = 1e5 * np.sqrt(np.trace(g))
    a = np.vstack([root.T, heavy * np.ones(n)]); b = np.append(np.linalg.solve(root, h), heavy)
    w, _ = nnls(a, b)
    worst["unit"] = max(worst["unit"], abs(unit - w).max())
    count += 1
for name, most in worst.items():
    limit = 1e-9 if name == "plain" else 1e-7
    print("%s %s: %d problems, largest difference %.2g from scipy's" % ("ok" if count >= 200 and most < limit else "not ok", name, count, most))
P
) || { echo "not ok nnls_scipy: the script failed: $out"; exit 1; }
echo "$out"
! echo "$out" | grep -q "^not ok"
