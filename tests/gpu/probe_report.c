/* Prints what the probe says of the first Vulkan device. Exit code 1 where it computes otherwise than the CPU. */
#include "device_probe.h"

#include <stdio.h>

int main(void)
{
  sb_diagnostics diag = {0};
  sb_vulkan *vulkan = NULL;
  sb_probe_result result = {0};
  if (sb_vulkan_open(&vulkan, &diag) != SB_OK) {
    printf("skipping: %s\n", diag.count ? diag.items[0].message : "");
    sb_diagnostics_clear(&diag);
    return 77;
  }
  const sb_vulkan_info *info = sb_vulkan_about(vulkan);
  printf("device: %s, %s %s; claims preserved specials: %s, rounding to even: %s\n", info->device, info->driver,
         info->driver_version, info->claims_preserved_specials ? "yes" : "no",
         info->claims_round_to_even ? "yes" : "no");
  sb_device_probe(vulkan, &result, &diag);
  char text[1024];
  sb_probe_text(&result, text, sizeof text);
  printf("%s: %u words compared\n", text, result.words);
  sb_probe_report(&result, SB_ERROR, info->device, &diag);
  for (size_t i = 0; i < diag.count; i++) printf("  %s: %s\n", sb_code_name(diag.items[i].code), diag.items[i].message);
  sb_diagnostics_clear(&diag);
  sb_vulkan_close(vulkan);
  return result.passed ? 0 : 1;
}
