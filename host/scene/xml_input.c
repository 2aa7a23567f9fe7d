/* Reading XML for scenes with libxml2: no network, no document types, bounded depth. */
#include "xml_input.h"

#include "scene_number.h"

#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WARNINGS 200
#define MAX_ATTRIBUTES 1000
#define MAX_NAME_BYTES (512u * 1024u)
/* Beyond this no length, mass or angle means anything, and squares leave binary32. */
#define MAX_NUMBER 1.0e18

void xml_input_clear(xml_input *in)
{
  for (size_t i = 0; i < in->seen_count; i++) free(in->seen[i]);
  free(in->seen);
  in->seen = NULL;
  in->seen_count = in->seen_capacity = 0;
}

/* Parsing ---------------------------------------------------------------------------------------------------------- */

typedef struct parse_state {
  xmlParserCtxt *parser;
  bool has_document_type;
  int document_type_line;
  char message[200];
  int line;
} parse_state;

/* libxml2 calls this at the start of a document type. Stopping here means that no entity is ever declared. */
static void refuse_document_type(void *parser, const xmlChar *name, const xmlChar *id, const xmlChar *system)
{
  (void)name, (void)id, (void)system;
  xmlParserCtxt *ctxt = parser;
  parse_state *state = ctxt->_private;
  state->has_document_type = true;
  state->document_type_line = ctxt->input ? ctxt->input->line : 0;
  xmlStopParser(ctxt);
}

static sb_status parse_failed(xml_input *in, const char *path, const parse_state *state, xmlParserCtxt *parser)
{
  char where[320];
  if (state->has_document_type) {
    snprintf(where, sizeof where, "%.280s:%d", path, state->document_type_line);
    return sb_report(in->diag, SB_ERROR, SB_CODE_SCENE_XML, where,
                     "document types and entities are not allowed in scene files; remove the <!DOCTYPE>");
  }
  const xmlError *error = parser ? xmlCtxtGetLastError(parser) : NULL;
  char text[200];
  const char *found = error && error->message ? error->message : "it cannot be parsed";
  if (parser && xmlDictGetUsage(parser->dict) > MAX_NAME_BYTES) found = "it has too many different names";
  snprintf(text, sizeof text, "%s", found);
  /* libxml2's own words for this advise an option of its parser */
  if (!strncmp(found, "Excessive depth", 15)) snprintf(text, sizeof text, "elements are nested more than %d deep", XML_INPUT_MAX_DEPTH);
  for (char *c = text; *c; c++)
    if ((unsigned char)*c < 0x20) *c = c[1] ? ' ' : 0;
  snprintf(where, sizeof where, "%.280s:%d", path, error ? error->line : 1);
  return sb_report(in->diag, SB_ERROR, SB_CODE_SCENE_XML, where, "malformed XML: %s", text);
}

const xmlNode *xml_input_too_deep(const xmlNode *root)
{
  int depth = 0;
  const xmlNode *n = root;
  while (n) {
    if (n->children && n->type == XML_ELEMENT_NODE) {
      n = n->children;
      if (++depth > XML_INPUT_MAX_DEPTH) return n->parent;
      continue;
    }
    while (n && n != root && !n->next) n = n->parent, depth--;
    if (!n || n == root) return NULL;
    n = n->next;
  }
  return NULL;
}

/* Behind the next `text` from p on; the end without one. */
static const char *behind(const char *p, const char *end, const char *text)
{
  size_t n = strlen(text);
  for (; (size_t)(end - p) >= n; p++)
    if (!memcmp(p, text, n)) return p + n;
  return end;
}

/* What the parser would take long for or misread: a zero byte (no text, or text of two bytes a letter), or a tag with
 * so many attributes that the check for doubles takes minutes. Returns what is wrong, or NULL. */
static const char *unfit(const char *bytes, size_t size, int *line)
{
  const char *p = bytes, *end = bytes + size, *wrong = NULL;
  while (p < end && !wrong) {
    if (*p++ != '<') continue;
    if (p < end && *p == '!') {
      p = end - p >= 3 && !memcmp(p, "!--", 3)        ? behind(p + 3, end, "-->")
          : end - p >= 8 && !memcmp(p, "![CDATA[", 8) ? behind(p + 8, end, "]]>")
                                                      : p + 1;
      continue;
    }
    char quote = 0;
    for (int values = 0; p < end && (quote || *p != '>') && !wrong; p++) {
      if (quote ? *p == quote : *p == '"' || *p == '\'') quote = quote ? 0 : *p;
      if (quote == *p && ++values > MAX_ATTRIBUTES) wrong = "an element has more than 1000 attributes";
    }
  }
  const char *zero = memchr(bytes, 0, size);
  if (zero) p = zero, wrong = "it holds a zero byte; write it as UTF-8 text";
  *line = 1;
  for (const char *c = bytes; wrong && c < p; c++) *line += *c == '\n';
  return wrong;
}

xmlDoc *xml_input_parse(xml_input *in, const char *bytes, size_t size, const char *path)
{
  parse_state state = {0};
  int line;
  const char *wrong = unfit(bytes, size, &line);
  if (wrong) {
    char where[320];
    snprintf(where, sizeof where, "%.280s:%d", path, line);
    in->status = sb_report(in->diag, SB_ERROR, SB_CODE_SCENE_XML, where, "malformed XML: %s", wrong);
    in->errors++;
    return NULL;
  }
  xmlParserCtxt *parser = size <= INT32_MAX ? xmlNewParserCtxt() : NULL;
  xmlDoc *doc = NULL;
  if (parser) {
    parser->_private = &state;
    parser->sax->internalSubset = refuse_document_type;
    /* Looking names up takes longer the more there are; a scene uses some hundred. */
    xmlDictSetLimit(parser->dict, MAX_NAME_BYTES);
    doc = xmlCtxtReadMemory(parser, bytes, (int)size, NULL, NULL,
                            XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_BIG_LINES |
                                XML_PARSE_NODICT);
  }
  if (doc && (state.has_document_type || !xmlDocGetRootElement(doc))) {
    xmlFreeDoc(doc);
    doc = NULL;
  }
  if (!doc) {
    in->status = parse_failed(in, path, &state, parser);
    in->errors++;
  }
  if (parser) xmlFreeParserCtxt(parser);
  if (!doc) return NULL;
  const xmlNode *deep = xml_input_too_deep(xmlDocGetRootElement(doc));
  xml_input_set_path(xmlDocGetRootElement(doc), path);
  if (deep) {
    xml_input_error(in, deep, SB_CODE_SCENE_XML, "elements are nested more than %d deep", XML_INPUT_MAX_DEPTH);
    xmlFreeDoc(doc);
    return NULL;
  }
  return doc;
}

/* Places ----------------------------------------------------------------------------------------------------------- */

void xml_input_set_path(xmlNode *node, const char *path)
{
  const void *text = path;
  memcpy(&node->_private, &text, sizeof text);
}

const char *xml_input_path(const xml_input *in, const xmlNode *node)
{
  for (; node && node->type == XML_ELEMENT_NODE; node = node->parent)
    if (node->_private) return node->_private;
  return in->path;
}

const char *xml_input_where(const xml_input *in, const xmlNode *node, xml_place *place)
{
  if (node)
    snprintf(place->text, sizeof place->text, "%.280s:%ld", xml_input_path(in, node), xmlGetLineNo(node));
  else
    snprintf(place->text, sizeof place->text, "%.280s", in->path);
  return place->text;
}

/* Messages --------------------------------------------------------------------------------------------------------- */

void xml_input_error(xml_input *in, const xmlNode *node, sb_code code, const char *format, ...)
{
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  xml_place place;
  xml_input_where(in, node, &place);
  /* What a default class has wrong is met again by each element that uses it; it is told once. */
  for (size_t i = 0; in->diag && i < in->diag->count; i++)
    if (!strcmp(in->diag->items[i].message, text) && !strcmp(in->diag->items[i].where, place.text)) return;
  if (in->errors++ >= XML_INPUT_MAX_ERRORS) return;
  sb_status status = sb_report(in->diag, SB_ERROR, code, place.text, "%s", text);
  if (in->status == SB_OK) in->status = status;
}

/* True when `what` was not seen before and there is room for another warning. */
static bool first_time(xml_input *in, const char *what)
{
  for (size_t i = 0; i < in->seen_count; i++)
    if (!strcmp(in->seen[i], what)) return false;
  if (in->warnings > MAX_WARNINGS) return false;
  if (in->seen_count == in->seen_capacity) {
    size_t capacity = in->seen_capacity ? in->seen_capacity * 2 : 32;
    char **seen = realloc(in->seen, capacity * sizeof *seen);
    if (!seen) return false;
    in->seen = seen;
    in->seen_capacity = capacity;
  }
  size_t n = strlen(what) + 1;
  char *copy = malloc(n);
  if (!copy) return false;
  memcpy(copy, what, n);
  in->seen[in->seen_count++] = copy;
  return true;
}

static void warn(xml_input *in, const xmlNode *node, sb_code code, const char *text)
{
  xml_place place;
  xml_input_where(in, node, &place);
  if (in->warnings++ == MAX_WARNINGS)
    sb_report(in->diag, SB_WARNING, code, place.text, "more than %d kinds of warnings; the others are left out",
              MAX_WARNINGS);
  else
    sb_report(in->diag, SB_WARNING, code, place.text, "%s", text);
}

void xml_input_unsupported(xml_input *in, const xmlNode *node, const char *what, const char *detail)
{
  if (!first_time(in, what)) return;
  char text[400];
  snprintf(text, sizeof text, "%.120s is not supported%s%.240s", what, *detail ? ": " : "", detail);
  warn(in, node, SB_CODE_SCENE_UNSUPPORTED, text);
}

/* The nearest name is looked for only when the message is new. */
static void unknown(xml_input *in, const xmlNode *node, const char *what, const char *name, const char *const *known,
                    size_t count)
{
  char key[160], text[400];
  snprintf(key, sizeof key, "?%s", what);
  if (!first_time(in, key)) return;
  const char *near = sb_nearest_name(name, known, count);
  snprintf(text, sizeof text, "%.120s is unknown and has no effect%s%.64s%s", what, near ? "; did you mean '" : "",
           near ? near : "", near ? "'?" : "");
  warn(in, node, SB_CODE_SCENE_UNKNOWN, text);
}

/* Elements and attributes ------------------------------------------------------------------------------------------ */

xmlNode *xml_input_element(xmlNode *node)
{
  while (node && node->type != XML_ELEMENT_NODE) node = node->next;
  return node;
}

bool xml_is(const xmlNode *node, const char *name) { return !strcmp((const char *)node->name, name); }

const xml_element *xml_input_find(const xml_element *schema, size_t count, const char *name)
{
  for (size_t i = 0; i < count; i++)
    if (!strcmp(schema[i].name, name)) return &schema[i];
  return NULL;
}

static bool in_list(const char *list, const char *name)
{
  size_t n = strlen(name);
  for (const char *at = list; n && at && (at = strstr(at, name)); at += n)
    if ((at == list || at[-1] == ' ') && (at[n] == 0 || at[n] == ' ')) return true;
  return false;
}

/* Splits a list of names into words of a buffer; returns how many. */
static size_t split(const char *list, char *buffer, size_t room, const char **words, size_t capacity)
{
  size_t count = 0, used = 0;
  while (list && *list && count < capacity) {
    size_t n = strcspn(list, " ");
    if (n == 0 || used + n + 1 > room) break;
    memcpy(buffer + used, list, n);
    buffer[used + n] = 0;
    words[count++] = buffer + used;
    used += n + 1;
    list += n + (list[n] == ' ');
  }
  return count;
}

static void unknown_attribute(xml_input *in, const xmlNode *node, const char *name, const xml_element *row)
{
  char buffer[1024], what[128];
  const char *words[128];
  size_t count = split(row->used, buffer, sizeof buffer, words, 128);
  snprintf(what, sizeof what, "attribute '%.48s' of <%.48s>", name, row->name);
  unknown(in, node, what, name, words, count);
}

static void unknown_element(xml_input *in, const xmlNode *node, const xml_element *schema, size_t count)
{
  const char *names[128];
  char what[80];
  if (count > 128) count = 128;
  for (size_t i = 0; i < count; i++) names[i] = schema[i].name;
  snprintf(what, sizeof what, "element <%.48s>", (const char *)node->name);
  unknown(in, node, what, (const char *)node->name, names, count);
}

bool xml_input_check(xml_input *in, const xmlNode *node, const xml_element *schema, size_t count)
{
  char what[128];
  const xml_element *row = xml_input_find(schema, count, (const char *)node->name);
  if (!row) {
    unknown_element(in, node, schema, count);
    return false;
  }
  snprintf(what, sizeof what, "element <%s>", row->name);
  if (row->support == XML_MISSING) xml_input_unsupported(in, node, what, "");
  if (row->support == XML_NOTED && first_time(in, what)) {
    xml_place place;
    sb_report(in->diag, SB_NOTE, SB_CODE_SCENE_UNSUPPORTED, xml_input_where(in, node, &place),
              "%s describes hardware or its controller and has no effect", what);
  }
  if (row->support != XML_USED) return false;
  for (const xmlAttr *a = node->properties; a; a = a->next) {
    const char *name = (const char *)a->name;
    if (in_list(row->used, name) || in_list(row->idle, name)) continue;
    if (in_list(row->missing, name)) {
      snprintf(what, sizeof what, "attribute '%.48s' of <%.48s>", name, row->name);
      xml_input_unsupported(in, node, what, "");
    } else {
      unknown_attribute(in, node, name, row);
    }
  }
  return true;
}

const char *xml_input_attribute(const xmlNode *node, const char *name)
{
  for (const xmlAttr *a = node->properties; a; a = a->next) {
    if (strcmp((const char *)a->name, name)) continue;
    /* Without entities the value is one text node; none stands for the empty value. */
    return a->children && a->children->content ? (const char *)a->children->content : "";
  }
  return NULL;
}

static bool has_huge(const double *values, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!(values[i] >= -MAX_NUMBER && values[i] <= MAX_NUMBER)) return true;
  return false;
}

bool xml_input_some_numbers(xml_input *in, const xmlNode *node, const char *name, const char *text, double *values,
                            size_t lower, size_t upper, size_t *found)
{
  double read[16];
  if (upper > 16) upper = 16;
  long n = scene_parse_numbers(text, read, upper);
  if (n < 0) {
    xml_input_error(in, node, SB_CODE_SCENE_NUMBER, "%s: expected finite decimal numbers, found '%.60s'", name, text);
  } else if (has_huge(read, (size_t)n < upper ? (size_t)n : upper)) {
    xml_input_error(in, node, SB_CODE_SCENE_NUMBER, "%s: expected numbers within +-%g, found '%.60s'", name, MAX_NUMBER,
                    text);
  } else if ((size_t)n < lower || (size_t)n > upper) {
    if (lower == upper)
      xml_input_error(in, node, SB_CODE_SCENE_NUMBER, "%s: expected %zu numbers, found %ld in '%.60s'", name, upper, n,
                      text);
    else
      xml_input_error(in, node, SB_CODE_SCENE_NUMBER, "%s: expected %zu to %zu numbers, found %ld in '%.60s'", name,
                      lower, upper, n, text);
  } else {
    memcpy(values, read, (size_t)n * sizeof *values);
    *found = (size_t)n;
    return true;
  }
  return false;
}

bool xml_input_numbers(xml_input *in, const xmlNode *node, const char *name, const char *text, double *values,
                       size_t count)
{
  size_t found;
  return xml_input_some_numbers(in, node, name, text, values, count, count, &found);
}

int xml_input_word(xml_input *in, const xmlNode *node, const char *name, const char *text, const char *const *words)
{
  size_t count = 0;
  for (; words[count]; count++)
    if (!strcmp(words[count], text)) return (int)count;
  char all[200] = "";
  for (size_t i = 0; i < count; i++) {
    size_t n = strlen(all);
    snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", words[i]);
  }
  const char *near = sb_nearest_name(text, words, count);
  xml_input_error(in, node, SB_CODE_SCENE_VALUE, "%s: expected one of %s, found '%.60s'%s%s%s", name, all, text,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return -1;
}
