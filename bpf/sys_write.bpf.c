//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "io_call.h"

IO_CALL(sys_write, write, FUNC_WRITE)
IO_CALL(sys_write, writev, FUNC_WRITEV)
IO_CALL(sys_write, pwritev2, FUNC_PWRITEV2)
IO_CALL(sys_write, sendto, FUNC_SENDTO)
IO_CALL(sys_write, sendmsg, FUNC_SENDMSG)
IO_CALL(sys_write, sendmmsg, FUNC_SENDMMSG)
