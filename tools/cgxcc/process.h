/* SPDX-License-Identifier: MIT */
/* Child processes, without a shell, and what has to be cleaned up however cgxcc ends. */
#ifndef CGXCC_PROCESS_H
#define CGXCC_PROCESS_H
#include "util.h"

extern bool process_show; /* print each command on stderr before it runs */

/* One command for run_all. Standard output and error go to `log` when it is not NULL. */
struct command {
    struct strings argv;
    const char *log;
    int status; /* of run_all: exit status */
};

/* Runs a program and gives its exit status. `out` and `err` redirect its output to files, NULL inherits. */
int run(const struct strings *argv, const char *out, const char *err);
/* Runs all, as many at once as there are processors. */
void run_all(struct command *commands, size_t count);
/* Replaces this process. */
_Noreturn void become(const struct strings *argv);

/* Full path of a program named with or without folder, or NULL if it is not there. */
char *find_program(const char *name);

/* A fresh folder below TMPDIR, made at the first call and removed at the end. */
const char *work_folder(void);
/* A file to remove if cgxcc ends now; NULL forgets it. */
void remove_at_exit(const char *path);
_Noreturn void quit(int status);
#endif
