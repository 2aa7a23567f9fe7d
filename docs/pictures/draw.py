#!/usr/bin/env python3
"""Draws a Wavefront OBJ that `samebit run --frame FILE.obj` wrote as a PNG: draw.py FRAME.obj PICTURE.png [azimuth elevation zoom]

Orthographic, z up, nearest surface wins, light from the camera's upper left. Angles are degrees. Needs Python's standard library alone.
"""
import math
import struct
import sys
import zlib

WIDTH, HEIGHT = 720, 480
GROUND = (226, 228, 232)
COLOURS = [(92, 128, 188), (206, 120, 74), (96, 160, 110), (170, 110, 170), (190, 170, 80), (110, 170, 180)]


def read_obj(path):
    """Vertices, and objects as (name, faces, lines) with indices from 0."""
    vertices, objects = [], []
    for line in open(path):
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            vertices.append(tuple(float(w) for w in words[1:4]))
        elif words[0] == "o":
            objects.append((words[1], [], []))
        elif words[0] == "f":
            corners = [int(w) - 1 for w in words[1:]]
            objects[-1][1].extend((corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1))
        elif words[0] == "l":
            objects[-1][2].append((int(words[1]) - 1, int(words[2]) - 1))
    return vertices, objects


def is_flat_ground(vertices, faces):
    """A plane is two triangles, far larger than what stands on it."""
    return len(faces) == 2


def camera(azimuth, elevation):
    a, e = math.radians(azimuth), math.radians(elevation)
    right = (-math.sin(a), math.cos(a), 0.0)
    up = (-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e))
    towards = (math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e))
    return right, up, towards


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def fit(points, zoom):
    low = [min(p[k] for p in points) for k in range(2)]
    high = [max(p[k] for p in points) for k in range(2)]
    size = max((high[0] - low[0]) / WIDTH, (high[1] - low[1]) / HEIGHT, 1e-9) * 1.15 / zoom
    return [(low[k] + high[k]) / 2 for k in range(2)], 1.0 / size


class Canvas:
    def __init__(self):
        self.colour = [[(250, 250, 252)] * WIDTH for _ in range(HEIGHT)]
        self.depth = [[-1e30] * WIDTH for _ in range(HEIGHT)]

    def triangle(self, p, q, r, colour):
        area = (q[0] - p[0]) * (r[1] - p[1]) - (r[0] - p[0]) * (q[1] - p[1])
        if abs(area) < 1e-12:
            return
        for y in range(max(0, math.ceil(min(p[1], q[1], r[1]))), min(HEIGHT - 1, math.floor(max(p[1], q[1], r[1]))) + 1):
            for x in range(max(0, math.ceil(min(p[0], q[0], r[0]))), min(WIDTH - 1, math.floor(max(p[0], q[0], r[0]))) + 1):
                b = ((x - p[0]) * (r[1] - p[1]) - (r[0] - p[0]) * (y - p[1])) / area
                c = ((q[0] - p[0]) * (y - p[1]) - (x - p[0]) * (q[1] - p[1])) / area
                if b < 0 or c < 0 or b + c > 1:
                    continue
                depth = p[2] + b * (q[2] - p[2]) + c * (r[2] - p[2])
                if depth > self.depth[y][x]:
                    self.depth[y][x] = depth
                    self.colour[y][x] = colour

    def line(self, p, q, colour):
        steps = int(max(abs(q[0] - p[0]), abs(q[1] - p[1]))) + 1
        for i in range(steps + 1):
            t = i / steps
            x, y, depth = round(p[0] + t * (q[0] - p[0])), round(p[1] + t * (q[1] - p[1])), p[2] + t * (q[2] - p[2]) + 0.002
            for dx, dy in ((0, 0), (1, 0), (0, 1)):
                if 0 <= x + dx < WIDTH and 0 <= y + dy < HEIGHT and depth > self.depth[y + dy][x + dx]:
                    self.depth[y + dy][x + dx] = depth
                    self.colour[y + dy][x + dx] = colour

    def write_png(self, path):
        rows = b"".join(b"\0" + bytes(c for pixel in row for c in pixel) for row in self.colour)
        with open(path, "wb") as out:
            out.write(b"\x89PNG\r\n\x1a\n")
            for kind, data in ((b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")):
                out.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))


def draw(source, target, azimuth=35.0, elevation=22.0, zoom=1.0):
    vertices, objects = read_obj(source)
    right, up, towards = camera(azimuth, elevation)
    seen = [(dot(v, right), dot(v, up), dot(v, towards)) for v in vertices]
    used = {i for _, faces, lines in objects if not is_flat_ground(vertices, faces) for t in faces + lines for i in t}
    centre, scale = fit([seen[i] for i in used] or seen, zoom)
    at = [(WIDTH / 2 + (x - centre[0]) * scale, HEIGHT / 2 - (y - centre[1]) * scale, z) for x, y, z in seen]
    light = [0.75 * towards[k] + 0.5 * up[k] - 0.4 * right[k] for k in range(3)]
    size = math.sqrt(dot(light, light))
    light = [c / size for c in light]
    canvas, index = Canvas(), 0
    for _, faces, lines in objects:
        base = GROUND if is_flat_ground(vertices, faces) else COLOURS[index % len(COLOURS)]
        index += base is not GROUND
        for a, b, c in faces:
            u = [vertices[b][k] - vertices[a][k] for k in range(3)]
            v = [vertices[c][k] - vertices[a][k] for k in range(3)]
            n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
            length = math.sqrt(dot(n, n))
            if length == 0.0:
                continue
            # cloth has two sides: the one that is seen is lit
            facing = 1.0 if dot(n, towards) >= 0 else -1.0
            shade = 1.0 if base is GROUND else 0.35 + 0.65 * max(0.0, facing * dot(n, light) / length)
            canvas.triangle(at[a], at[b], at[c], tuple(int(k * shade) for k in base))
        for a, b in lines:
            canvas.line(at[a], at[b], base)
    canvas.write_png(target)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    draw(sys.argv[1], sys.argv[2], *(float(word) for word in sys.argv[3:6]))
