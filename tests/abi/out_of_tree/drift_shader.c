/* The words of drift.comp, which the package's shader build has made and judged. Exit code 0 where they are SPIR-V. */
#include "drift_spv.h"

int main(void) { return drift_spv[0] == 0x07230203u && sizeof drift_spv > 1000 ? 0 : 1; }
