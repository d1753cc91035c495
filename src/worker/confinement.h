// SPDX-License-Identifier: Apache-2.0
// Confinement: what a worker gives up before it sees a guest. docs/security.md tells the whole story.
#pragma once

#include <cstdint>
#include <vector>

#include "common/result.h"

namespace dormouse::worker {

// Namespaces without network, IPC and mounts of the host, once for the zygote and so for all workers. What the kernel or
// the rights at hand do not offer is left out: the other walls stand without it.
void IsolateNamespaces();

// Closes all descriptors but the given ones and 0 to 2, which become /dev/null.
Result<void> KeepOnly(std::vector<int> descriptors);

// no_new_privs, unprivileged user when root, resource limits, Landlock (where offered) without any right, and death with
// the parent. Call before threads are made.
Result<void> DropPrivileges(std::uint64_t max_file_bytes);

// The system call filter, for all threads of the process. Everything not in the allow-list ends the process.
Result<void> InstallSyscallFilter();

}  // namespace dormouse::worker
