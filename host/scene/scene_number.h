/* Numbers in scene files: decimal text to binary64, correctly rounded and without regard to the locale. */
#ifndef SAMEBIT_HOST_SCENE_NUMBER_H
#define SAMEBIT_HOST_SCENE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses one number from the start of text ([+-] digits [. digits] [e [+-] digits], no hexadecimal, inf or nan) and
 * sets *end behind it. False when there is none, or it is beyond binary64. */
bool scene_parse_number(const char *text, const char **end, double *value);
/* The whole text is one number, white space around it allowed. */
bool scene_parse_whole_number(const char *text, double *value);
/* Numbers with white space between. Returns how many, at most `capacity` of them stored, or -1 when something else is
 * there; counting goes on beyond the capacity. */
long scene_parse_numbers(const char *text, double *values, size_t capacity);
/* A decimal number above 0 as a reduced fraction; false when it does not fit 32 bits on both sides. */
bool scene_parse_fraction(const char *text, uint32_t *numerator, uint32_t *denominator);

#endif
