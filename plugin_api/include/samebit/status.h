/* Status codes that cross the plugin boundary and that the host uses inside. */
#ifndef SAMEBIT_STATUS_H
#define SAMEBIT_STATUS_H

#include <stdint.h>

typedef int32_t sb_status;

#define SB_OK 0              /* done */
#define SB_E_ARGUMENT (-1)   /* an argument is out of its documented range */
#define SB_E_MEMORY (-2)     /* memory could not be had */
#define SB_E_CONFIG (-3)     /* what the user wrote cannot be used */
#define SB_E_UNSUPPORTED (-4) /* valid, but this part cannot do it */
#define SB_E_CAPACITY (-5)   /* a buffer would overflow */
#define SB_E_MODE (-6)       /* the determinism mode cannot be granted */
#define SB_E_NUMERIC (-7)    /* NaN or infinity in state */
#define SB_E_VERSION (-8)    /* ABI versions or struct sizes do not fit */
#define SB_E_IO (-9)         /* a file cannot be read or written */
#define SB_E_FORMAT (-10)    /* a file's content is damaged or of another kind */
#define SB_E_INTERNAL (-11)  /* a fault of the program itself */

#endif
