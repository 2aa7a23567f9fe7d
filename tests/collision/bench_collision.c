/* Time of a collision step, printed: bench_collision [repeats [fast]]; fast leaves out all but sap and 8 lanes. Not a
 * test; run it by hand. */
#include "collision_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure(const char *name, collision_scene *s, int repeats, int fast)
{
  static const uint32_t lanes[] = {1, 4, 8};
  for (int broad = fast; broad < 2; broad++) {
    for (int l = 2 * fast; l < 3; l++) {
      sb_collision_settings settings = sb_collision_default_settings();
      settings.lanes = lanes[l];
      settings.broad_phase = (uint32_t)broad;
      settings.speculative_margin = 0.005f;
      sb_collision *c;
      sb_status status = sb_collision_create(scene_model(s), &settings, &c);
      double best = 1e30;
      for (int i = 0; i < repeats && status == SB_OK; i++) {
        double t = now();
        status = sb_collision_step(c, scene_model(s)->body_q, NULL);
        t = now() - t;
        best = t < best ? t : best;
      }
      if (status != SB_OK) {
        printf("%s: status %d\n", name, (int)status);
      } else {
        uint32_t pairs = sb_collision_pair_count(c);
        printf("%-18s %-9s lanes %u: %8.3f ms, %6u pairs, %6u contacts, %6.1f ns/pair\n", name,
               broad ? "sap" : "all_pairs", (unsigned)lanes[l], best * 1e3, (unsigned)pairs,
               (unsigned)sb_collision_contacts(c)->count, best * 1e9 / (pairs ? pairs : 1));
      }
      sb_collision_destroy(c);
    }
  }
}

int main(int argc, char **argv)
{
  int repeats = argc > 1 ? atoi(argv[1]) : 20;
  collision_scene *s = scene_new();
  scene_world(s);
  scene_pyramid(s, 30);
  measure("pyramid 465", s, repeats, argc > 2);
  scene_free(s);
  s = scene_new();
  scene_world(s);
  scene_grid(s, 20, 20);
  measure("grid 8000", s, repeats, argc > 2);
  scene_free(s);
  s = scene_new();
  scene_world(s);
  scene_grid(s, 100, 10);
  measure("grid 100000", s, repeats, 1);
  scene_free(s);
  s = scene_new();
  scene_world(s);
  uint64_t seed = 5;
  scene_jumble(s, &seed, 100000, 30.0f);
  measure("jumble 100000", s, repeats, 1);
  scene_free(s);
  s = scene_new();
  for (int i = 0; i < 1000; i++) {
    scene_world(s);
    scene_jumble(s, &seed, 20, 2.0f);
  }
  measure("1000 worlds x 20", s, repeats, argc > 2);
  scene_free(s);
  return 0;
}
