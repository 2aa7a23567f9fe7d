/* Numbers in scene files. strtod_l with a C locale rounds correctly in the C libraries we build with; the text is held
 * to a decimal grammar first, so that no other form of it is reached. */
#define _GNU_SOURCE /* strtod_l and newlocale */
#include "scene_number.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Length of the number at the start of text, 0 when there is none. */
static size_t number_length(const char *text)
{
  const char *c = text;
  size_t digits = 0;
  if (*c == '+' || *c == '-') c++;
  for (; is_digit(*c); c++) digits++;
  if (*c == '.')
    for (c++; is_digit(*c); c++) digits++;
  if (digits == 0) return 0;
  if (*c == 'e' || *c == 'E') {
    const char *e = c + 1;
    if (*e == '+' || *e == '-') e++;
    if (is_digit(*e)) {
      while (is_digit(*e)) e++;
      c = e;
    }
  }
  return (size_t)(c - text);
}

static bool convert(const char *text, locale_t locale, double *value)
{
  *value = strtod_l(text, NULL, locale);
  return *value - *value == 0.0;
}

bool scene_parse_number(const char *text, const char **end, double *value)
{
  size_t n = number_length(text);
  if (n == 0) return false;
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c_locale) return false;
  bool good = convert(text, c_locale, value);
  freelocale(c_locale);
  *end = text + n;
  return good;
}

static const char *skip_space(const char *text)
{
  while (is_space(*text)) text++;
  return text;
}

bool scene_parse_whole_number(const char *text, double *value)
{
  const char *end;
  return scene_parse_number(skip_space(text), &end, value) && *skip_space(end) == 0;
}

long scene_parse_numbers(const char *text, double *values, size_t capacity)
{
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c_locale) return -1;
  long count = 0;
  for (text = skip_space(text); *text; text = skip_space(text), count++) {
    size_t n = number_length(text);
    double value;
    if (n == 0 || (text[n] && !is_space(text[n])) || !convert(text, c_locale, &value)) {
      count = -1;
      break;
    }
    if ((size_t)count < capacity) values[count] = value;
    text += n;
  }
  freelocale(c_locale);
  return count;
}

bool scene_parse_fraction(const char *text, uint32_t *numerator, uint32_t *denominator)
{
  text = skip_space(text);
  size_t n = number_length(text);
  if (n == 0 || *skip_space(text + n) != 0 || *text == '-') return false;
  uint64_t top = 0;
  long exponent = 0;
  bool fraction = false;
  const char *c = text;
  for (; c < text + n && *c != 'e' && *c != 'E'; c++) {
    if (*c == '.') fraction = true;
    if (!is_digit(*c)) continue;
    if (top > (UINT64_MAX - 9) / 10) return false;
    top = top * 10 + (uint64_t)(*c - '0');
    if (fraction) exponent--;
  }
  if (c < text + n) exponent += strtol(c + 1, NULL, 10) % 100000;
  if (top == 0) return false;
  while (top % 10 == 0) top /= 10, exponent++;
  uint64_t bottom = 1;
  for (; exponent > 0; exponent--) {
    if (top > UINT32_MAX) return false;
    top *= 10;
  }
  for (; exponent < 0; exponent++) {
    if (bottom > UINT64_MAX / 10) return false;
    bottom *= 10;
  }
  uint64_t a = top, b = bottom;
  while (b) {
    uint64_t r = a % b;
    a = b, b = r;
  }
  top /= a, bottom /= a;
  if (top > UINT32_MAX || bottom > UINT32_MAX) return false;
  *numerator = (uint32_t)top;
  *denominator = (uint32_t)bottom;
  return true;
}
