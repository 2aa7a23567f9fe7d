/* The tree that this program was built in or installed to. */
#ifndef SAMEBIT_INSTALL_ROOT_H
#define SAMEBIT_INSTALL_ROOT_H

#include <limits.h>
#include <stdbool.h>

/* Writes the folder above the one of this program: PREFIX of PREFIX/bin/samebit. False, and an empty text, where the program does not find itself. */
bool sb_install_root(char root[PATH_MAX]);

#endif
