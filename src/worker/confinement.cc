// SPDX-License-Identifier: Apache-2.0
#include "worker/confinement.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <sched.h>
#include <signal.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace dormouse::worker {
namespace {

// `nobody`: owns no files, and is what an unprivileged user looks like everywhere.
constexpr uid_t kNobody = 65534;
// Contents are mapped and closed at once; what stays open is the channel and a handful more.
constexpr rlim_t kMaxDescriptors = 256;

struct AllowedCall {
  int number;
  const char* reason;
};

// Without conditions on arguments. Each entry says what fails without it.
constexpr AllowedCall kAllowed[] = {
    {SCMP_SYS(read), "eventfd of the control thread"},
    {SCMP_SYS(write), "eventfd; segments and contents into files the server opened"},
    {SCMP_SYS(pread64), "pagemap, hashing contents"},
    {SCMP_SYS(lseek), "sizes of contents; holes"},
    {SCMP_SYS(ftruncate), "sparse contents"},
    {SCMP_SYS(close), "descriptors that the server sent"},
    {SCMP_SYS(recvmsg), "the channel"},
    {SCMP_SYS(sendmsg), "the channel"},
    {SCMP_SYS(poll), "the channel, when it is full"},
    {SCMP_SYS(ppoll), "the control thread's wait"},
    {SCMP_SYS(futex), "mutexes, and the guest's sleep"},
    {SCMP_SYS(munmap), "contents; the allocator"},
    {SCMP_SYS(mremap), "the allocator"},
    {SCMP_SYS(brk), "the allocator"},
    {SCMP_SYS(madvise), "the allocator; hot pages"},
    {SCMP_SYS(rt_sigreturn), "the end of every signal handler"},
    {SCMP_SYS(rt_sigprocmask), "leaving a signal handler by a jump"},
    {SCMP_SYS(rt_sigaction), "restoring a default handler when the host itself faults"},
    {SCMP_SYS(sigaltstack), "signal handling on the guest's stack"},
    {SCMP_SYS(getpid), "tgkill to oneself"},
    {SCMP_SYS(gettid), "tgkill to oneself"},
    {SCMP_SYS(clock_gettime), "CPU clocks; where the vDSO has no answer"},
    {SCMP_SYS(clock_getres), "the same"},
    {SCMP_SYS(clock_nanosleep), "sleeps"},
    {SCMP_SYS(gettimeofday), "where the vDSO has no answer"},
    {SCMP_SYS(getrandom), "random_get, the allocator"},
    {SCMP_SYS(getrusage), "peak memory"},
    {SCMP_SYS(sched_yield), "sched_yield"},
    {SCMP_SYS(restart_syscall), "the kernel's own, after a stop"},
    {SCMP_SYS(exit), "the end of a thread"},
    {SCMP_SYS(exit_group), "the end of the worker"},
};

void LimitTo(int resource, rlim_t value) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return;
  limit.rlim_max = std::min(limit.rlim_max, value);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

// No access to any path, as a second wall behind the system call filter.
void ForbidFiles() {
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  const long ruleset = ::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
  if (ruleset < 0) return;
  ::syscall(SYS_landlock_restrict_self, ruleset, 0);
  ::close(static_cast<int>(ruleset));
}

Result<void> BecomeNobody() {
  if (::geteuid() != 0) return {};
  if (::setgroups(0, nullptr) != 0 && errno != EPERM) return SystemError("setgroups", errno);
  if (::setresgid(kNobody, kNobody, kNobody) != 0 || ::setresuid(kNobody, kNobody, kNobody) != 0) {
    // In a user namespace with only this user mapped there is nobody else to become.
    if (errno == EINVAL) return {};
    return SystemError("giving up root", errno);
  }
  return {};
}

int AddRules(scmp_filter_ctx filter) {
  int error = 0;
  for (const AllowedCall& call : kAllowed) {
    error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, call.number, 0);
  }
  // Memory, but never code.
  constexpr auto kNoExec = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
  error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, kNoExec);
  error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, kNoExec);
  // Stop signals, to this process only.
  error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                            SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(::getpid())));
  error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(rt_tgsigqueueinfo), 1,
                            SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(::getpid())));
  // PAGEMAP_SCAN: type 'f', number 16.
  error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                            SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffff, 'f' << 8 | 16));
  // UFFDIO_REGISTER: type 0xaa, number 0; memory that grew is to be watched too.
  error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                            SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffff, 0xaa << 8));
  return error;
}

}  // namespace

void IsolateNamespaces() {
  constexpr int kNamespaces = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS;
  if (::unshare(kNamespaces) != 0) ::unshare(CLONE_NEWUSER | kNamespaces);
}

Result<void> KeepOnly(std::vector<int> descriptors) {
  const int null = ::open("/dev/null", O_RDWR);
  if (null < 0) return SystemError("opening /dev/null", errno);
  for (int fd = 0; fd < 3; ++fd) {
    if (::dup2(null, fd) < 0) return SystemError("dup2", errno);
  }
  std::sort(descriptors.begin(), descriptors.end());
  unsigned first = 3;
  for (const int fd : descriptors) {
    const auto number = static_cast<unsigned>(fd);
    if (number > first) ::close_range(first, number - 1, 0);
    first = number + 1;
  }
  ::close_range(first, ~0u, 0);
  return {};
}

Result<void> DropPrivileges(std::uint64_t max_file_bytes) {
  // The guest's share is what the server leaves over: the control plane stays quick under load.
  [[maybe_unused]] const int niceness = ::nice(5);
  LimitTo(RLIMIT_CORE, 0);
  LimitTo(RLIMIT_NOFILE, kMaxDescriptors);
  LimitTo(RLIMIT_FSIZE, max_file_bytes);
  LimitTo(RLIMIT_MEMLOCK, 0);
  LimitTo(RLIMIT_MSGQUEUE, 0);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return SystemError("no_new_privs", errno);
  ForbidFiles();
  DORMOUSE_TRY(BecomeNobody());
  // An undumpable process cannot be traced by its peers.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  // Changing the user cleared it.
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) return Error(ErrorCode::kUnavailable, "the zygote is gone");
  return {};
}

Result<void> InstallSyscallFilter() {
  struct Release {
    void operator()(void* filter) const { seccomp_release(filter); }
  };
  const std::unique_ptr<void, Release> filter(seccomp_init(SCMP_ACT_KILL_PROCESS));
  if (!filter) return Error(ErrorCode::kInternal, "seccomp_init failed");
  seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1);
  seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (AddRules(filter.get()) != 0) return Error(ErrorCode::kInternal, "a system call rule was refused");
  const int error = seccomp_load(filter.get());
  if (error != 0) return SystemError("seccomp_load", -error);
  return {};
}

}  // namespace dormouse::worker
