/* explain: the catalogue of diagnostic codes. */
#include "cli.h"

#include <stdio.h>

int cmd_explain(cli *c)
{
  if (c->word_count == 0) {
    cJSON *list = c->json ? cJSON_AddArrayToObject(c->data, "codes") : NULL;
    for (int i = 0; i < SB_CODE_COUNT; i++) {
      if (c->json)
        cJSON_AddItemToArray(list, cJSON_CreateString(sb_code_name((sb_code)i)));
      else
        printf("%-28s %s\n", sb_code_name((sb_code)i), sb_code_title((sb_code)i));
    }
    return CLI_DONE;
  }
  sb_code code = sb_code_find(c->words[0]);
  if (code == SB_CODE_COUNT) {
    const char *names[SB_CODE_COUNT];
    for (int i = 0; i < SB_CODE_COUNT; i++) names[i] = sb_code_name((sb_code)i);
    const char *near = sb_nearest_name(c->words[0], names, SB_CODE_COUNT);
    sb_report(&c->diag, SB_ERROR, SB_CODE_CLI_USAGE, "explain", "no code \"%s\"%s%s%s", c->words[0], near ? "; did you mean \"" : "",
              near ? near : "", near ? "\"?" : "; `samebit explain` lists all");
    return CLI_USAGE;
  }
  if (c->json) {
    cJSON_AddStringToObject(c->data, "code", sb_code_name(code));
    cJSON_AddStringToObject(c->data, "title", sb_code_title(code));
    cJSON_AddStringToObject(c->data, "advice", sb_code_advice(code));
  } else {
    printf("%s: %s\n%s\n", sb_code_name(code), sb_code_title(code), sb_code_advice(code));
  }
  return CLI_DONE;
}
