/* Code for another architecture, as little as has an entry; with -ffp-contract=fast it holds a fused operation. */
extern const int samebit_plugin;
const int samebit_plugin = 1;
float fixture_sum(float a, float b, float c) __attribute__((visibility("hidden"), noinline));
float fixture_sum(float a, float b, float c) { return a * b + c; }
