/* Reading XML for scenes: safe parsing, places for messages, attributes as numbers, and the record of what is unknown
 * or not supported. Knows libxml2; private to the scene layer. */
#ifndef SAMEBIT_HOST_XML_INPUT_H
#define SAMEBIT_HOST_XML_INPUT_H

#include "diagnostic.h"

#include <stdbool.h>

#include <libxml/tree.h>

#define XML_INPUT_MAX_DEPTH 200
#define XML_INPUT_MAX_ERRORS 20 /* reported; more are only counted */

/* What all readers of one scene share. `status` is the first error's; readers go on after one to find more. */
typedef struct xml_input {
  sb_diagnostics *diag;
  const char *path; /* of the main file */
  sb_status status;
  unsigned errors;
  unsigned warnings;
  char **seen; /* "element@attribute" that were reported already */
  size_t seen_count;
  size_t seen_capacity;
} xml_input;

/* One element that a format knows. Lists of attribute names separated by single blanks:
 * used are read, idle are known and have no effect on what Samebit computes, missing would have one but are not
 * supported; a noted element is idle, but a user might expect an effect. `support` says the same of the element itself. */
typedef enum xml_support { XML_USED, XML_IDLE, XML_MISSING, XML_NOTED } xml_support;
typedef struct xml_element {
  const char *name;
  xml_support support;
  const char *used;
  const char *idle;
  const char *missing;
} xml_element;

void xml_input_clear(xml_input *in);

/* Parses bytes; document types (and with them entities) are refused, nothing outside is loaded. NULL after one error.
 * The caller frees the document with xmlFreeDoc. `path` becomes the place of its nodes and must outlive them. */
xmlDoc *xml_input_parse(xml_input *in, const char *bytes, size_t size, const char *path);

/* An element below `root` that is nested deeper than allowed, or NULL. Does not recurse. */
const xmlNode *xml_input_too_deep(const xmlNode *root);

/* Marks a node whose subtree came from another file. The text must outlive the node. */
void xml_input_set_path(xmlNode *node, const char *path);
const char *xml_input_path(const xml_input *in, const xmlNode *node);
/* "file:line" in a buffer of the caller's. */
typedef struct xml_place {
  char text[320];
} xml_place;
const char *xml_input_where(const xml_input *in, const xmlNode *node, xml_place *place);

/* An error or warning at a node. */
void xml_input_error(xml_input *in, const xmlNode *node, sb_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Once for each `what`. */
void xml_input_unsupported(xml_input *in, const xmlNode *node, const char *what, const char *detail);

/* Next element among a node and its later siblings; NULL at the end. */
xmlNode *xml_input_element(xmlNode *node);
bool xml_is(const xmlNode *node, const char *name);

/* The schema row of an element; NULL when there is none. */
const xml_element *xml_input_find(const xml_element *schema, size_t count, const char *name);
/* Reports an element that is unknown or missing in the schema and its unknown and missing attributes. True when the
 * element is used. */
bool xml_input_check(xml_input *in, const xmlNode *node, const xml_element *schema, size_t count);

/* Text of an attribute of the node itself; NULL when absent. It belongs to the document. */
const char *xml_input_attribute(const xmlNode *node, const char *name);

/* Numbers from text that came from `name` of node: exactly count, or an error and the values stay as they were. */
bool xml_input_numbers(xml_input *in, const xmlNode *node, const char *name, const char *text, double *values,
                       size_t count);
/* From lower to upper of them; *found says how many. Extra values stay as they were. */
bool xml_input_some_numbers(xml_input *in, const xmlNode *node, const char *name, const char *text, double *values,
                            size_t lower, size_t upper, size_t *found);
/* Index of text among NULL-ended words; an error with the nearest word and -1 otherwise. */
int xml_input_word(xml_input *in, const xmlNode *node, const char *name, const char *text, const char *const *words);

#endif
