#!/usr/bin/env python3
"""Prints the constants of samebit/transcendental.h: near-minimax polynomials (Chebyshev fits of the stated functions,
rounded to binary32), split constants and the bits of 2/pi. Needs mpmath; nothing in the build runs it."""
import struct
from mpmath import mp, mpf, chebyfit, sin, cos, tan, asin, atan, exp, log, sqrt, pi, floor, nstr

mp.prec = 400


def to_float(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def cut(x, bits):
    """x cut (towards zero) to that many significant bits."""
    scale = mpf(2) ** (bits - 1 - int(floor(mp.log(abs(x), 2))))
    return mpf(int(x * scale)) / scale


def text(x):
    return float(to_float(x)).hex() + "  %.9ef" % to_float(x)


def fit(name, f, low, high, degree):
    poly, err = chebyfit(f, [low, high], degree + 1, error=True)
    print(name, "error", nstr(err, 3))
    for i, c in enumerate(reversed(poly)):
        print("  c%d % .9ef" % (i, to_float(c)))


def split(name, x, bits):
    print(name)
    for b in bits:
        part = cut(x, b) if b < 24 else mpf(to_float(x))
        print("  ", text(part))
        x = x - part


tiny = mpf(10) ** -20
q2 = (pi / 4 * mpf("1.0002")) ** 2
for d in (2, 3):
    fit("sin: (sin r - r)/r^3 over z = r^2, degree %d" % d, lambda z: (sin(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, tiny, q2, d)
for d in (2, 3):
    fit("cos: (cos r - 1 + z/2)/z^2, degree %d" % d, lambda z: (cos(sqrt(z)) - 1 + z / 2) / z ** 2, tiny, q2, d)
t8 = mpf("0.4143") ** 2
for d in (4, 5):
    fit("atan: (atan t - t)/t^3, degree %d" % d, lambda z: (atan(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, tiny, t8, d)
for d in (4, 5, 6):
    fit("asin: (asin t - t)/t^3, degree %d" % d, lambda z: (asin(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, tiny, mpf("0.2501"), d)
h = log(2) / 2 * mpf("1.001")
for d in (3, 4):
    fit("exp: (exp r - 1 - r)/r^2, degree %d" % d, lambda r: mpf(1) / 2 if abs(r) < tiny else (exp(r) - 1 - r) / r ** 2, -h, h, d)
for d in (7, 8, 9):
    fit("log: (log(1+f) - f + f^2/2)/f^3, degree %d" % d,
        lambda f: mpf(1) / 3 if abs(f) < tiny else (log(1 + f) - f + f * f / 2) / f ** 3, mpf(-1) / 3, mpf(1) / 3, d)
split("pi/2 for Cody-Waite", pi / 2, (14, 14, 14, 24))
split("pi/2", pi / 2, (24, 24, 24))
split("pi/4", pi / 4, (24, 24))
split("pi", pi, (24, 24))
split("ln 2", log(2), (16, 24))
print("2/pi", text(2 / pi), " 1/ln2", text(1 / log(2)))
print("2/pi bits", " ".join("%08X" % (int(2 / pi * mpf(2) ** (32 * (i + 1))) & 0xFFFFFFFF) for i in range(8)))
