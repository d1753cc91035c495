// SPDX-License-Identifier: Apache-2.0
// What POSIX declares, CPython uses, and wasi-libc leaves out. Included before every CPython source, so it
// includes nothing itself: uid_t, gid_t and mode_t are unsigned, pid_t is int on this target.
// The definitions are in wasi_compat.c, wasi_files.c and timezone.c.
#pragma once

unsigned getuid(void);
unsigned geteuid(void);
unsigned getgid(void);
unsigned getegid(void);
int getppid(void);
unsigned umask(unsigned mask);
int dup(int file);
int dup2(int file, int wanted);
int dup3(int file, int wanted, int flags);

void tzset(void);
extern char* tzname[2];
extern long timezone;
extern int daylight;

// wasi-libc has these, but they always fail, in one object file with functions that are wanted.
#define chmod dormouse_chmod
#define fchmod dormouse_fchmod
#define fchmodat dormouse_fchmodat
#define statvfs dormouse_statvfs
#define fstatvfs dormouse_fstatvfs

// wasi-libc's forget the mode, which WASI has no place for.
#define open dormouse_open
#define openat dormouse_openat
#define mkdir dormouse_mkdir
#define mkdirat dormouse_mkdirat

// wasi-libc's leaves `..` and links in the name of the current directory.
#define chdir dormouse_chdir

// stat() and its kin with permission bits and an owner, which WASI lacks; for posixmodule.c.
struct stat;
int dormouse_stat(const char* path, struct stat* status);
int dormouse_lstat(const char* path, struct stat* status);
int dormouse_fstat(int file, struct stat* status);
int dormouse_fstatat(int directory, const char* path, struct stat* status, int flags);
