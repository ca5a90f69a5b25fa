/* SPDX-License-Identifier: MIT */
/* The one list of backends, in the order in which "any" prefers them: X(name). Each is a folder here that defines
 * `const cgx_backend cgx_backend_NAME` - with its real operations, or with those of its stub.c when it is not built. */
#ifndef CGX_LIST_H
#define CGX_LIST_H
#define CGX_FOREACH_BACKEND(X) X(cuda) X(hip) X(cpu)
#endif
