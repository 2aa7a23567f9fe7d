/* The table of cases: what, why, how to mend. Order matters: a case comes after those that it needs. */
#include "case_list.h"

#include <string.h>

#define FILE_RULE(rule, what, why, fix) {"file_" #rule, what, why, fix, {"file_elf"}, case_file_##rule, NULL, NULL}
#define MODULE(name, what, why, fix, ...) {#name, what, why, fix, {__VA_ARGS__}, NULL, case_##name, NULL}
#define SOLVER(name, what, why, fix, ...) {#name, what, why, fix, {__VA_ARGS__}, NULL, NULL, case_##name}

static const sb_case table[] = {
    /* the file */
    {"file_place", "it is a regular file that not everybody may write, in such a folder", "whoever may write it may change every run", "chmod o-w",
     {NULL}, case_file_place, NULL, NULL},
    {"file_elf", "it is a whole shared object of this machine", "nothing else can be loaded", "build it for this machine with -shared",
     {"file_place"}, case_file_elf, NULL, NULL},
    FILE_RULE(entry, "it exports samebit_plugin", "the host finds everything through it", "use SB_DEFINE_PLUGIN"),
    FILE_RULE(export, "it exports nothing else", "another library could stand in for its functions", "compile with -fvisibility=hidden"),
    FILE_RULE(stack, "it asks for no executable stack", "loading it would weaken the whole program", "link with -z noexecstack"),
    FILE_RULE(writable_code, "no memory is both writable and executable", "code that can change cannot be judged", "link without -N"),
    FILE_RULE(relro, "it is linked with -z relro -z now", "its tables cannot be changed after loading", "link with -Wl,-z,relro,-z,now"),
    FILE_RULE(constructor, "it runs no code while it is loaded", "that code runs before any version is compared", "do the work in create or bind"),
    FILE_RULE(resolver, "it chooses no function by the CPU while it is loaded", "the choice is not the host's", "choose by sb_bind.lanes"),
    FILE_RULE(libm, "it calls no transcendental of the C library", "last bits differ between C libraries", "use samebit/maths.h"),
    FILE_RULE(fused, "it holds no fused multiply-add", "it rounds once where other machines round twice", "build with -ffp-contract=off, without -mfma"),
    FILE_RULE(estimate, "it holds no estimate of a reciprocal or root", "makes of CPU differ in them", "divide, or use sb_sqrt"),
    FILE_RULE(long_double, "it computes nothing in x87 registers", "other machines have no such format", "use no long double"),
    FILE_RULE(control_word, "it writes no floating-point control register", "the environment is the host's", "remove the write"),
    FILE_RULE(fast_math, "it was compiled without fast-math", "fast-math removes tests for NaN and reorders sums", "build without it"),
    FILE_RULE(switches, "it was compiled without -mfma and -ffp-contract=fast", "they fuse wherever the compiler likes", "build with -ffp-contract=off"),
    FILE_RULE(library, "each library that it needs is found and fit", "they compute too", "link with -Wl,-rpath,'$ORIGIN' and bring them along"),
    /* the entry */
    MODULE(load, "it can be loaded", "nothing else can be tried before", "link it with all it needs; look at its constructors", "file_entry", "file_library"),
    MODULE(entry_magic, "the entry begins with the plugin magic", "the symbol could be something else", "use SB_DEFINE_PLUGIN", "load"),
    MODULE(entry_abi_major, "its ABI's major version is the host's", "structs differ", "build with this version's headers", "entry_magic"),
    MODULE(entry_abi_minor, "its ABI's minor version fits the host's", "functions could be missing", "build with this version's headers", "entry_abi_major"),
    MODULE(entry_size, "the entry has the size of its version", "fields would be read where none are", "use the headers as they are", "entry_abi_minor"),
    MODULE(entry_fp_flags, "FLT_EVAL_METHOD is 0 and fast-math is off", "results would be other ones", "use the compiler switches of the package", "entry_size"),
    MODULE(entry_lanes, "the lane mask has bit 1 and no others than 4 and 8", "the host chooses a width by it", "give 1u, or 13u for all three", "entry_size"),
    MODULE(entry_compiler, "the compiler is named", "reports tell what a module was built with", "use SB_DEFINE_PLUGIN", "entry_size"),
    MODULE(entry_functions, "get_factory is given", "there is nothing to find without it", "give it to SB_DEFINE_PLUGIN", "entry_size"),
    MODULE(environment_load, "loading and get_factory leave the floating-point environment alone", "they change it for the whole program", "remove what sets it",
           "entry_functions"),
    MODULE(negotiate, "negotiate accepts this host", "a plugin that refuses cannot run", "look at the reason that it gives", "environment_load"),
    MODULE(factory_known, "get_factory(\"samebit.solver/1\") gives at least one solver", "there is nothing to run otherwise", "return the factory with its size",
           "negotiate"),
    MODULE(factory_unknown, "get_factory gives NULL for an id that it does not know", "later hosts ask for other factories", "compare the id", "negotiate"),
    MODULE(factory_stable, "get_factory gives the same factory every time", "the host keeps the pointer", "return a static table", "factory_known"),
    /* what it says about itself */
    SOLVER(descriptor_sizes, "tables and descriptor have the sizes of this ABI", "fields would be read where none are", "write sizeof into each struct_size",
           "factory_known"),
    SOLVER(descriptor_functions, "all six functions are given", "the host calls them all", "give an empty one where there is nothing to do", "descriptor_sizes"),
    SOLVER(descriptor_id, "the id is of a-z, 0-9 and _, and that of the file", "plugin = ID looks for ID.so", "name both alike", "descriptor_sizes"),
    SOLVER(descriptor_version, "the version is three numbers", "snapshots and recordings name it", "write \"1.2.3\"", "descriptor_sizes"),
    SOLVER(descriptor_texts, "vendor and text are given", "users read them", "write one sentence", "descriptor_sizes"),
    SOLVER(descriptor_modes, "each backend has a mode, with a reason", "users see why a mode is not stronger", "fill mode and mode_reason", "descriptor_sizes"),
    SOLVER(descriptor_handles, "it handles something, and nothing unknown", "the host gives it what it handles", "set SB_HANDLES_* bits", "descriptor_sizes"),
    SOLVER(param_names, "parameters have names of their own, of a-z, 0-9 and _", "they are INI keys", "rename them", "descriptor_sizes"),
    SOLVER(param_texts, "each parameter has a unit and a text", "users read them", "fill unit (\"1\" for none) and text", "param_names"),
    SOLVER(param_ranges, "defaults lie in finite ranges that fit their type", "the host checks INI values by them", "correct value, minimum, maximum", "param_names"),
    SOLVER(param_choices, "choices have as many names as values", "INI files give names", "separate names by a vertical bar, ranges 0 to their number less one", "param_ranges"),
    SOLVER(golden_table, "golden hashes name micro-scenes and backends that there are, once each", "others are never compared", "docs/modes.md names the micro-scenes",
           "descriptor_modes"),
    SOLVER(golden_present, "who declares CrossPlatform has a golden hash for each micro-scene that it handles", "they are the evidence",
           "add the hashes that `samebit validate` tells", "golden_table"),
    /* its life */
    SOLVER(create, "create gives instances of their own, and destroy takes them back at once", "destroy is allowed in any state", "allocate in create", "descriptor_functions"),
    SOLVER(bind_version, "bind refuses an sb_bind of another size", "fields would be read where none are", "compare struct_size first", "create", "param_ranges"),
    SOLVER(bind_backend, "bind refuses a backend that is declared Off, with a reason", "users must learn why", "check backend; write into error", "create",
           "param_ranges", "descriptor_modes"),
    SOLVER(error_bounds, "error texts end inside the buffer", "the buffer is the caller's", "use snprintf with error_size", "bind_backend"),
    SOLVER(bind, "it binds each micro-scene that its handles promise", "handles say what it can simulate", "bind them, or promise less", "create", "param_ranges",
           "descriptor_handles"),
    SOLVER(bind_empty, "a scene without bodies binds and steps", "scenes may be empty", "allow zero counts", "bind"),
    SOLVER(activate_dt, "activate refuses a tick length of 0, below 0, or NaN", "it would divide by it", "test !(dt > 0)", "bind"),
    SOLVER(step_version, "step refuses an sb_step of another size", "fields would be read where none are", "compare struct_size first", "bind"),
    SOLVER(restart, "deactivate and activate again is allowed", "a reset does that", "free nothing in deactivate that activate needs", "bind"),
    SOLVER(modes, "it starts in every mode up to the one that it declares", "users may ask for less", "accept weaker modes", "restart", "descriptor_modes"),
    SOLVER(destroy_active, "destroy without deactivate is allowed", "runs can end early", "release everything in destroy", "bind"),
    SOLVER(leak, "destroy gives back all memory", "a host makes many instances", "free what create and bind have taken", "bind"),
    /* its ticks */
    SOLVER(steps, "it steps each micro-scene to its end", "nothing else can be compared otherwise", "the message is the solver's own", "bind"),
    SOLVER(environment_step, "steps leave the floating-point environment alone", "the environment is the host's", "remove what sets it", "steps"),
    SOLVER(finite, "state stays finite on the micro-scenes", "NaN stops a run", "look at what divides", "environment_step"),
    SOLVER(free_joints, "joint_q and joint_qd of a free body repeat its pose and velocity", "sensors and others read them", "copy them at the end of step", "finite"),
    SOLVER(growth, "ticks take no memory", "it would grow for ever, and allocators take their time", "allocate in bind", "finite"),
    SOLVER(bounds, "it writes nowhere but in its arrays", "it would change what belongs to others", "check indices against counts", "finite"),
    SOLVER(repeat, "two runs in one process give the same bits", "modes above Off promise it", "keep no static variables", "bounds"),
    SOLVER(lanes, "the lane width changes no bit", "machines have other widths", "one text for all widths; sums in one order", "repeat"),
    SOLVER(memory, "where memory lies, and what it held before, changes no bit", "addresses differ in every run", "use no addresses; fill what you allocate", "lanes"),
    SOLVER(shuffle, "the order of tasks changes no bit", "threads start in any order", "chunks write their own; sum afterwards in index order", "lanes"),
    SOLVER(threads, "2 to 16 threads change no bit", "machines have other numbers", "cut work by the scene, never by threads", "shuffle"),
    SOLVER(padding, "what padding and unused elements hold changes no bit", "nobody clears them", "mind counts; write new contact elements whole", "lanes"),
    SOLVER(instances, "another instance beside it changes no bit", "a program may hold many", "keep everything in the instance", "lanes"),
    SOLVER(worlds, "other worlds, and a world's index, change no bit of it", "it must not matter what runs beside it", "use world_key, not the index", "instances", "threads"),
    SOLVER(crowd, "threads, lanes and the order of tasks change no bit where there are many bodies", "a small scene fits into one chunk of a loop",
           "each chunk writes only what is its own", "worlds", "threads"),
    SOLVER(unrelated, "bodies that come after and meet none of the others change no bit of those", "a scene must be open to additions", "use no counts of the whole scene; a force that reaches everything needs a range, as a parameter: the others stand 60 m away",
           "instances", "threads"),
    SOLVER(ownership, "it writes nothing of bodies that it was not given: poses, velocities, forces, targets", "another solver owns them", "go through sb_bind.bodies", "lanes"),
    SOLVER(snapshot, "a snapshot put back into a new instance goes on alike", "hidden state is lost there", "register what survives a tick", "instances", "threads", "restart"),
    SOLVER(reset, "after a reset everything is as new", "a reset must be as good as a new start", "derive nothing from earlier runs", "snapshot"),
    SOLVER(golden_match, "its golden hashes are met here", "they are the promise to other machines", "find out what differs, or make them anew with a new version", "lanes",
           "golden_present"),
    /* parameters and hostile input */
    SOLVER(param_effect, "each parameter changes some bit of some micro-scene, or says in its text that it does not (\"micro-scenes: no effect\")",
           "a key without effect misleads", "use it, or remove it", "lanes", "param_choices"),
    SOLVER(param_limits, "each parameter may be at either end of its range", "the range says so", "narrow the range, or handle its ends", "lanes", "param_choices"),
    SOLVER(hostile_nan, "NaN in the state does no harm beyond the state", "a fault elsewhere must not crash the host", "use no float as an index unchecked", "finite"),
    SOLVER(hostile_huge, "huge numbers in the state do no harm beyond the state", "a fault elsewhere must not hang the host", "loop by counts, not until something is small", "finite"),
};

size_t sb_case_count(void) { return sizeof table / sizeof table[0]; }
const sb_case *sb_case_at(size_t index) { return &table[index]; }

const sb_case *sb_case_find(const char *name)
{
  for (size_t i = 0; i < sb_case_count(); i++)
    if (!strcmp(table[i].name, name)) return &table[i];
  return NULL;
}
