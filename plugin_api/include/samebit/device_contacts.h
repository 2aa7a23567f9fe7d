/* Contacts where they lie on a device, extension id "samebit.device_contacts/1": sb_host.get_extension gives it in bind to an instance on the backend
 * SB_BACKEND_VULKAN whose contacts are made there and may stay there, else NULL.
 *
 * An instance that has taken it gets them so in every step: sb_step.contacts and sb_step.particle_contacts are empty, sb_step.match is NULL and
 * sb_step.body_q_before is not filled. The host gives it where there are no near pairs.
 * It reads state in the copies that it has asked for with state_buffer, which then gives its own arrays over contacts too, and writes nothing else of
 * it. Buffers are handles of its samebit/compute.h, to be read by graphs that run in a step.
 *
 * The second half of this file is C and GLSL. */
#ifndef SAMEBIT_DEVICE_CONTACTS_H
#define SAMEBIT_DEVICE_CONTACTS_H

#ifndef SB_GLSL
#include <stdint.h>

#define SB_DEVICE_CONTACTS_EXTENSION_ID "samebit.device_contacts/1"

typedef struct sb_device_contacts {
  uint32_t struct_size;
  uint32_t capacity;    /* contacts that each array has room for */
  uint32_t contacts;    /* buffer: the arrays of SB_CONTACT_ARRAYS one after another, each for `capacity` contacts; of a key the low word first */
  uint32_t match;       /* buffer: what sb_step.match says; where the instance has an array over contacts */
  uint32_t world_start; /* buffer: first contact of each world, and at the end their number */
  uint32_t particle_capacity; /* likewise, of contacts of particles; 0 where particles touch nothing */
  uint32_t particle_contacts; /* buffer: the arrays of SB_PARTICLE_CONTACT_ARRAYS one after another; where there are such */
  uint32_t particle_start;    /* buffer: sb_particle_contacts.particle_start */
} sb_device_contacts;
#endif

/* Where an array begins in `contacts`, in units of `capacity` words. */
#define SB_AT_KEY 0u
#define SB_AT_WORLD 2u
#define SB_AT_SHAPE_A 3u
#define SB_AT_SHAPE_B 4u
#define SB_AT_BODY_A 5u
#define SB_AT_BODY_B 6u
#define SB_AT_POINT_A 7u
#define SB_AT_POINT_B 10u
#define SB_AT_NORMAL 13u
#define SB_AT_GAP 16u
#define SB_AT_FRICTION 17u
#define SB_AT_RESTITUTION 20u
#define SB_CONTACT_WORDS 21u

/* The same in `particle_contacts`, in units of `particle_capacity` words. */
#define SB_AT_TOUCH_PARTICLE 0u
#define SB_AT_TOUCH_SHAPE 1u
#define SB_AT_TOUCH_BODY 2u
#define SB_AT_TOUCH_POINT 3u
#define SB_AT_TOUCH_NORMAL 6u
#define SB_AT_TOUCH_GAP 9u
#define SB_AT_TOUCH_FRICTION 10u
#define SB_AT_TOUCH_RESTITUTION 11u
#define SB_TOUCH_WORDS 12u

#endif
