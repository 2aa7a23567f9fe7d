/* The solver interface, factory id "samebit.solver/1".
 *
 * Life of an instance: create -> bind -> activate -> step ... -> deactivate -> destroy. The host calls all of them on one
 * thread. It sets the floating-point environment (round to nearest, subnormals kept) before each call and checks it after. */
#ifndef SAMEBIT_SOLVER_H
#define SAMEBIT_SOLVER_H

#include "samebit/abi.h"
#include "samebit/contact.h"
#include "samebit/model.h"
#include "samebit/particle_contact.h"
#include "samebit/state.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SB_SOLVER_FACTORY_ID "samebit.solver/1"

/* What a solver handles */
#define SB_HANDLES_RIGID 1u          /* free rigid bodies */
#define SB_HANDLES_JOINTS 2u         /* FIXED, BALL and AXES joints */
#define SB_HANDLES_CONTACT 4u        /* rigid contact from the shared pipeline */
#define SB_HANDLES_PARTICLES 8u      /* particles, springs, attachments */
#define SB_HANDLES_CLOTH 16u         /* triangles, bending edges */
#define SB_HANDLES_SOFT 32u          /* tetrahedra */
#define SB_HANDLES_EQUALITIES 64u    /* equality constraints; without it the host holds them by soft forces */
#define SB_HANDLES_TENDONS 128u      /* tendons that act; without it the host brings their forces into joint_f, softly */

/* Parameter types */
#define SB_PARAM_FLOAT 0u
#define SB_PARAM_INT 1u
#define SB_PARAM_BOOL 2u   /* 0 or 1 */
#define SB_PARAM_CHOICE 3u /* index into the names in `choices` */

typedef struct sb_param_desc {
  uint32_t struct_size;
  uint32_t type;       /* SB_PARAM_* */
  const char *name;    /* the INI key */
  const char *unit;    /* "N/m", "1" */
  const char *text;    /* one sentence: what it does */
  const char *choices; /* SB_PARAM_CHOICE: names separated by '|', else NULL */
  double value;        /* default */
  double minimum;      /* inclusive */
  double maximum;      /* inclusive */
} sb_param_desc;

/* The state hash that a micro-scene of the host must give: the evidence for CrossPlatform. */
typedef struct sb_golden {
  uint32_t struct_size;
  uint32_t backend;
  const char *scene; /* name of one of the host's micro-scenes */
  uint64_t hash;
} sb_golden;

typedef struct sb_solver_desc {
  uint32_t struct_size;
  uint32_t handles;                            /* SB_HANDLES_* */
  const char *id;                              /* [a-z0-9_], as in `plugin = id` */
  const char *version;                         /* "1.2.3" */
  const char *vendor;
  const char *text;                            /* one sentence */
  uint32_t mode[SB_BACKEND_COUNT];             /* strongest mode on each backend */
  const char *mode_reason[SB_BACKEND_COUNT];   /* what limits it, or on what it rests */
  const sb_param_desc *params;
  const sb_golden *goldens;
  uint32_t param_count;
  uint32_t golden_count;
  uint32_t param_size; /* sizeof(sb_param_desc): the stride of params */
  uint32_t golden_size;
} sb_solver_desc;

/* A part of a loop: fn(user, chunk). Chunks may run at once and in any order; each must write only what is its own. */
typedef void (*sb_chunk_fn)(void *user, uint32_t chunk);

/* Services of the host. Valid from bind to destroy. */
typedef struct sb_host {
  uint32_t struct_size;
  uint32_t reserved;
  void *context; /* first argument of each function */
  /* [any] level 0 note, 1 warning. Never part of a result. */
  void (*log)(void *context, uint32_t level, const char *text);
  /* [setup] Zeroed memory, 64-byte aligned, that lives until destroy; NULL when there is none. It must not carry state
   * from one tick to the next: state goes into registered arrays. */
  void *(*alloc)(void *context, uint64_t bytes);
  /* [setup] Registers an array (see sb_array_desc); *data is zeroed, 64-byte aligned and stays where it is until destroy. */
  sb_status (*register_array)(void *context, const sb_array_desc *desc, void **data);
  /* [step] Runs fn for chunks 0 to chunk_count - 1 and returns when all are done. The number of chunks must follow from the
   * scene, never from the number of threads. Not from inside a chunk. */
  void (*parallel_for)(void *context, uint32_t chunk_count, sb_chunk_fn fn, void *user);
  /* [setup] An extension of that id, or NULL. */
  const void *(*get_extension)(void *context, const char *id);
} sb_host;

typedef struct sb_bind {
  uint32_t struct_size;
  uint32_t backend;          /* SB_BACKEND_* */
  uint32_t lanes;            /* 1, 4 or 8: width to run with; no result may depend on it */
  uint32_t body_count;       /* bodies that this instance owns */
  uint32_t contact_capacity; /* a tick never has more contacts than this */
  uint32_t particle_count;   /* particles that this instance owns */
  uint64_t seed;             /* of the run, for samebit/random.h */
  const uint32_t *bodies;    /* ascending; whole articulations only */
  const uint32_t *particles; /* ascending; whole deformables only, and no element has particles of two solvers */
  uint32_t particle_contact_capacity; /* a tick never has more particle contacts than this */
  uint32_t near_pair_capacity;        /* a tick never has more near pairs than this */
  const double *params;      /* values in the order of the descriptor's table, checked against it */
  const sb_model *model;     /* valid until destroy */
  const sb_state *state;     /* valid until destroy; the instance writes its own bodies, joints and particles only */
  const sb_host *host;       /* valid until destroy */
} sb_bind;

typedef struct sb_step {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t tick;               /* counts from 0 */
  float dt;                    /* s */
  float reserved_f;
  const sb_contacts *contacts; /* of this tick, all worlds; valid during the call */
  /* For each contact, the index that it had in the tick before, or -1: the contact of the same key, else the nearest one that is
   * left of the same two shapes. NULL unless the solver has registered an array over SB_DOMAIN_CONTACT. */
  const int32_t *match;
  /* Poses of all bodies at the start of the tick, 7 each. A body of an earlier solver has its pose at the tick's end in
   * state->body_q already: an obstacle that moves from here to there. */
  const float *body_q_before;
  const sb_particle_contacts *particle_contacts; /* of the instance's particles; never NULL */
  const sb_near_pairs *near_pairs;               /* of the instance's particles; never NULL */
} sb_step;

typedef struct sb_solver_api {
  uint32_t struct_size;
  uint32_t reserved;
  const sb_solver_desc *desc;
  /* [setup] A new instance. */
  sb_status (*create)(void **instance);
  /* [setup] Takes the model, its bodies and parameters; registers arrays. SB_E_UNSUPPORTED, with what and where in error,
   * when it cannot simulate something. */
  sb_status (*bind)(void *instance, const sb_bind *bind, char *error, uint32_t error_size);
  /* [setup] The run is about to start in this mode (SB_MODE_*) with this tick length (s). After it, the shared and
   * registered arrays hold the state of tick 0. Called again after a reset; a restore puts
   * the arrays back without it, so nothing that steps need may be derived from state here. */
  sb_status (*activate)(void *instance, uint32_t mode, float dt, char *error, uint32_t error_size);
  /* [step] Advances the owned bodies and particles by one tick: reads contacts, body_f, joint_f and targets, writes body_q, body_qd,
   * joint_q, joint_qd, particle_q, particle_qd and its own arrays. */
  sb_status (*step)(void *instance, const sb_step *step, char *error, uint32_t error_size);
  /* [setup] The run has ended. */
  void (*deactivate)(void *instance);
  /* [setup] Frees the instance. Allowed in any state after create. */
  void (*destroy)(void *instance);
} sb_solver_api;

typedef struct sb_solver_factory {
  uint32_t struct_size;
  uint32_t solver_count;
  const sb_solver_api *const *solvers;
} sb_solver_factory;

#ifdef __cplusplus
}
#endif

#endif
