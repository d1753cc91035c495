// SPDX-License-Identifier: Apache-2.0
// The zygote: a process with all engines loaded that forks workers for the server, keeping spares ready.
//
// It speaks protocol::Fork and Forked over its control socket, has one thread, never runs guest code, and ends when the
// server closes the socket. Its workers end with it (parent-death signal).
#pragma once

namespace dormouse::worker {

// `dormouse zygote --control FD --spares N --tmp-bytes N --workspace-bytes N --workspace-files N --engine DIR…`;
// argv[0] is the program, argv[1] "zygote".
int ZygoteMain(int argc, char** argv);

}  // namespace dormouse::worker
