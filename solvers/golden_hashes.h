/* Golden hashes: the state hash of each micro-scene (host/verify/micro_scenes.h) under each solver. The one place for them.
 * Remake with `tests/golden/remake.sh`. A changed value needs a new SB_NUMERICS_VERSION and its reason in CHANGELOG.md; a test
 * holds both to it. */
#ifndef SAMEBIT_GOLDEN_HASHES_H
#define SAMEBIT_GOLDEN_HASHES_H

#define SB_NUMERICS_VERSION 5

#define SB_GOLDEN_CPU(scene, hash) {sizeof(sb_golden), SB_BACKEND_CPU, scene, hash}

/* Contacts of the collision pipeline alone, scenes "drop", "curtain" and "jelly". */
#define SB_GOLDEN_COLLISION 0xcd22cde96d3a2e21ull

/* Sensors of the host, scene "sense". */
#define SB_GOLDEN_SENSORS 0x86bf7283d4edfafbull

#define SB_GOLDENS_FEATHERSTONE SB_GOLDEN_CPU("fly", 0x9c4f1db08b9ac73full), SB_GOLDEN_CPU("arm", 0x9168d7ac0f410ad8ull), SB_GOLDEN_CPU("drop", 0x1882f3aae7084c3eull), SB_GOLDEN_CPU("reach", 0x0c6d1f69b14bde11ull)
#define SB_GOLDENS_SEMI_IMPLICIT SB_GOLDEN_CPU("fly", 0xc4f70721bf4634fdull), SB_GOLDEN_CPU("arm", 0x21297f7bf41e8ea5ull), SB_GOLDEN_CPU("drop", 0xa67779e1f80fd0b6ull), SB_GOLDEN_CPU("reach", 0x0f747093b5c3ea03ull), SB_GOLDEN_CPU("beads", 0x5066070f330b957eull), SB_GOLDEN_CPU("curtain", 0x875e44140f22e3d3ull), SB_GOLDEN_CPU("jelly", 0x6db92e914b25bf61ull)
#define SB_GOLDENS_STEEL SB_GOLDEN_CPU("fly", 0x7ef3df2747caad85ull), SB_GOLDEN_CPU("arm", 0x1c0b3f2d641bcec8ull), SB_GOLDEN_CPU("drop", 0x4eda7dc6efd677a7ull), SB_GOLDEN_CPU("reach", 0x8e051e8f1b536387ull)
#define SB_GOLDENS_XPBD SB_GOLDEN_CPU("fly", 0xadf52d3f5e0028a7ull), SB_GOLDEN_CPU("arm", 0xeba0a91f89fd3261ull), SB_GOLDEN_CPU("drop", 0x0723f31ba865031dull), SB_GOLDEN_CPU("reach", 0x31189c5c409fcfd3ull), SB_GOLDEN_CPU("beads", 0xec1b3f1d6251daa8ull), SB_GOLDEN_CPU("curtain", 0x781a8e8ccca475c8ull), SB_GOLDEN_CPU("jelly", 0xc6c637735bba995full)

#endif
