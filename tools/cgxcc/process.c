/* SPDX-License-Identifier: MIT */
#include "process.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
bool process_show;

enum { MAX_CHILDREN = 64 };
static volatile pid_t children[MAX_CHILDREN]; /* read by the signal handler */
static volatile sig_atomic_t caught;
static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof *ending_signals };

static char *folder;
static const char *file_to_remove;

static void clean_up(void)
{
    for (int i = 0; i < MAX_CHILDREN; i++)
        if (children[i] > 0) {
            kill(children[i], SIGTERM);
            waitpid(children[i], NULL, 0);
        }
    if (file_to_remove)
        unlink(file_to_remove);
    if (!folder)
        return;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(folder);
    folder = NULL;
}

void quit(int status)
{
    clean_up();
    exit(status);
}

/* Children get the signal too: make ends the process it started, not those below it. */
static void on_signal(int number)
{
    int saved = errno;
    caught = number;
    for (int i = 0; i < MAX_CHILDREN; i++)
        if (children[i] > 0)
            kill(children[i], number);
    errno = saved;
}

/* Ends as the signal would have ended us, once no child can write into the work folder any more. */
static void obey_signal(void)
{
    if (!caught)
        return;
    clean_up();
    signal(caught, SIG_DFL);
    raise(caught);
}

static void catch_signals(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        struct sigaction old, new = { .sa_handler = on_signal };
        sigemptyset(&new.sa_mask);
        if (!sigaction(ending_signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &new, NULL);
    }
}

/* Prints a word so that a shell reads it back as it is. */
static void show_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%^";
    if (*word && strspn(word, plain) == strlen(word)) {
        fprintf(stderr, " %s", word);
        return;
    }
    fputs(" '", stderr);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", stderr);
        else
            fputc(*word, stderr);
    fputc('\'', stderr);
}

static void show(const struct strings *argv)
{
    if (!process_show)
        return;
    fputc('+', stderr);
    for (size_t i = 0; i < argv->count; i++)
        show_word(argv->at[i]);
    fputc('\n', stderr);
}

/* Whether the kernel might refuse a command line: ARG_MAX is 2 MiB and holds the environment too. */
static bool too_long(const struct strings *argv)
{
    size_t total = 0;
    for (size_t i = 0; i < argv->count; i++)
        total += strlen(argv->at[i]) + 1;
    return total > 512 * 1024;
}

/* The same command with its arguments in a response file, which every compiler here reads. */
static struct strings with_response_file(const struct strings *argv)
{
    static int number;
    struct buffer text = { 0 };
    for (size_t i = 1; i < argv->count; i++) {
        buffer_add(&text, "\"", 1);
        for (const char *c = argv->at[i]; *c; c++) {
            if (*c == '"' || *c == '\\')
                buffer_add(&text, "\\", 1);
            buffer_add(&text, c, 1);
        }
        buffer_add(&text, "\"\n", 2);
    }
    const char *path = mem_printf("%s/arguments%d", work_folder(), number++);
    file_replace(path, &text, 0600);
    struct strings shorter = { 0 };
    strings_add(&shorter, argv->at[0]);
    strings_add(&shorter, mem_printf("@%s", path));
    return shorter;
}

static void start(int slot, const struct strings *argv, const char *out, const char *err)
{
    show(argv);
    struct strings fitting = too_long(argv) ? with_response_file(argv) : *argv;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t block, before;
    posix_spawn_file_actions_init(&actions);
    if (out)
        posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (err && out && !strcmp(err, out))
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
    else if (err)
        posix_spawn_file_actions_addopen(&actions, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    /* No signal between the start of the child and its entry in the table. */
    catch_signals();
    sigemptyset(&block);
    for (int i = 0; i < ENDING_SIGNALS; i++)
        sigaddset(&block, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &block, &before);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &before);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t pid = -1;
    int error =
        caught ? ECANCELED : posix_spawnp(&pid, argv->at[0], &actions, &attributes, (char **)fitting.at, environ);
    if (!error)
        children[slot] = pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error && !caught)
        die("cannot run %s: %s", argv->at[0], strerror(error));
}

/* Waits for any child and gives its slot, or -1 if there is none. */
static int wait_any(int *status)
{
    for (;;) {
        int raw;
        pid_t pid = waitpid(-1, &raw, 0);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            return -1;
        for (int i = 0; i < MAX_CHILDREN; i++) {
            if (children[i] != pid)
                continue;
            children[i] = 0;
            *status = WIFEXITED(raw) ? WEXITSTATUS(raw) : EXIT_FAILURE;
            if (WIFSIGNALED(raw) && !caught)
                say("error", "a compiler was ended by signal %d (%s)", WTERMSIG(raw), strsignal(WTERMSIG(raw)));
            return i;
        }
    }
}

int run(const struct strings *argv, const char *out, const char *err)
{
    int status = EXIT_FAILURE;
    start(0, argv, out, err);
    wait_any(&status);
    obey_signal();
    return status;
}

static size_t processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return count > MAX_CHILDREN ? MAX_CHILDREN : (size_t)count;
}

void run_all(struct command *commands, size_t count)
{
    struct command *in_slot[MAX_CHILDREN] = { 0 };
    size_t next = 0, running = 0, most = processors();
    while (next < count || running) {
        if (next < count && running < most && !caught) {
            int slot = 0;
            while (in_slot[slot])
                slot++;
            in_slot[slot] = commands + next++;
            start(slot, &in_slot[slot]->argv, in_slot[slot]->log, in_slot[slot]->log);
            running++;
            continue;
        }
        int status = EXIT_FAILURE, slot = wait_any(&status);
        if (slot < 0)
            break;
        in_slot[slot]->status = status;
        in_slot[slot] = NULL;
        running--;
    }
    obey_signal();
}

void become(const struct strings *argv)
{
    if (too_long(argv)) /* somebody must stay to remove the response file */
        quit(run(argv, NULL, NULL));
    show(argv);
    fflush(stdout);
    execvp(argv->at[0], (char **)argv->at);
    die("cannot run %s: %s", argv->at[0], strerror(errno));
}

char *find_program(const char *name)
{
    if (strchr(name, '/'))
        return access(name, X_OK) ? NULL : mem_copy(name, strlen(name));
    const char *path = getenv("PATH");
    struct strings folders = strings_split(path ? path : "/usr/bin:/bin", ':');
    for (size_t i = 0; i < folders.count; i++) {
        char *full = mem_printf("%s/%s", folders.at[i], name);
        if (!access(full, X_OK))
            return full;
    }
    return NULL;
}

const char *work_folder(void)
{
    if (folder)
        return folder;
    catch_signals();
    const char *parent = getenv("TMPDIR");
    char *name = mem_printf("%s/cgxcc-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(name))
        die("cannot make a folder in %s: %s", parent && *parent ? parent : "/tmp", strerror(errno));
    /* Compilers report what they read under its full name, however TMPDIR spells it. */
    char *full = realpath(name, NULL);
    folder = full ? mem_copy(full, strlen(full)) : name;
    free(full);
    return folder;
}

void remove_at_exit(const char *path)
{
    file_to_remove = path;
}
