//go:build ignore
/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include "io_call.h"

IO_CALL(sys_read, read, FUNC_READ)
IO_CALL(sys_read, readv, FUNC_READV)
IO_CALL(sys_read, pread64, FUNC_PREAD64)
IO_CALL(sys_read, preadv, FUNC_PREADV)
IO_CALL(sys_read, preadv2, FUNC_PREADV2)
IO_CALL(sys_read, recvfrom, FUNC_RECVFROM)
IO_CALL(sys_read, recvmsg, FUNC_RECVMSG)
IO_CALL(sys_read, recvmmsg, FUNC_RECVMMSG)
