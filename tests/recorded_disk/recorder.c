/* Records what a process and its children write below a folder, call by call; see recording.py.

   Loaded by LD_PRELOAD. The folder is in the variable RECORDED_FOLDER, the file that records are appended to in
   RECORDED_CALLS. A record is a line "CALL INODE OFFSET LENGTH PATH<tab>PATH" and LENGTH bytes. A call and its record
   are made under one lock, so that records of a process are in the order of its calls. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define HIGH_HANDLE 700 /* out of the way of programs that close handles by number */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static size_t folder_length;
static int records = -1;

static void after_fork(void) { pthread_mutex_init(&lock, NULL); }

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("RECORDED_CALLS");
    folder = getenv("RECORDED_FOLDER");
    if (!file || !folder) return;
    folder_length = strlen(folder);
    int handle = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    records = fcntl(handle, F_DUPFD_CLOEXEC, HIGH_HANDLE);
    syscall(SYS_close, handle);
    pthread_atfork(NULL, NULL, after_fork);
}

static int is_inside(const char *path) {
    return records >= 0 && !strncmp(path, folder, folder_length) &&
           (path[folder_length] == '/' || !path[folder_length]);
}

static int path_of(int handle, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    return length > 0;
}

/* The absolute path of a call's arguments; whether it is in the folder. */
static int resolve(int at, const char *given, char *path) {
    if (given[0] == '/') {
        snprintf(path, PATH_MAX, "%s", given);
    } else {
        char base[PATH_MAX];
        if (at == AT_FDCWD ? !getcwd(base, sizeof base) : !path_of(at, base)) return 0;
        if (snprintf(path, PATH_MAX, "%s/%s", base, given) >= PATH_MAX) return 0;
    }
    return is_inside(path);
}

static void record(char call, unsigned long inode, long offset, const char *path, const char *other,
                   const void *content, size_t length) {
    char head[2 * PATH_MAX + 100];
    int size = snprintf(head, sizeof head, "%c %lu %ld %zu %s\t%s\n", call, inode, offset, length, path, other);
    struct iovec parts[2] = {{head, size}, {(void *)content, length}};
    int before = errno;
    if (syscall(SYS_writev, records, parts, 2) != (long)(size + length)) abort();
    errno = before;
}

static int inode_of(int handle, char *path, struct stat *found) {
    int before = errno;
    int is_ours = records >= 0 && path_of(handle, path) && is_inside(path) && !fstat(handle, found);
    errno = before;
    return is_ours;
}

/* ---- files ------------------------------------------------------------------------------------------- */

static int opened(int at, const char *given, int flags, mode_t mode) {
    char path[PATH_MAX];
    struct stat found;
    if (!(flags & (O_CREAT | O_TRUNC)) || !resolve(at, given, path))
        return syscall(SYS_openat, at, given, flags, mode);
    pthread_mutex_lock(&lock);
    int handle = syscall(SYS_openat, at, given, flags, mode);
    if (handle >= 0 && !fstat(handle, &found))
        record(flags & O_TRUNC ? 'T' : 'O', found.st_ino, 0, path, "", "", 0);
    pthread_mutex_unlock(&lock);
    return handle;
}

#define MODE(flags)                                                                                          \
    mode_t mode = 0;                                                                                         \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                                   \
        va_list more;                                                                                        \
        va_start(more, flags);                                                                               \
        mode = va_arg(more, mode_t);                                                                         \
        va_end(more);                                                                                        \
    }

int open(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return opened(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return opened(at, path, flags, mode); }

/* Make a call that writes to a handle, and record what it wrote, read back from the file. */
#define WRITES(handle, offset, call)                                                                         \
    char path[PATH_MAX];                                                                                     \
    struct stat found;                                                                                       \
    if (!inode_of(handle, path, &found)) return call;                                                        \
    pthread_mutex_lock(&lock);                                                                               \
    ssize_t written = call;                                                                                  \
    if (written > 0) record_written(handle, offset, path, found.st_ino, written);                            \
    pthread_mutex_unlock(&lock);                                                                             \
    return written;

static void record_written(int handle, long offset, const char *path, unsigned long inode, ssize_t written) {
    char own[64];
    void *content = malloc(written);
    if (offset < 0) offset = lseek(handle, 0, SEEK_CUR) - written;
    snprintf(own, sizeof own, "/proc/self/fd/%d", handle);
    int again = syscall(SYS_openat, AT_FDCWD, own, O_RDONLY);
    if (syscall(SYS_pread64, again, content, written, offset) != written) abort();
    syscall(SYS_close, again);
    record('W', inode, offset, path, "", content, written);
    free(content);
}

ssize_t write(int handle, const void *content, size_t length) {
    WRITES(handle, -1, syscall(SYS_write, handle, content, length))
}
ssize_t pwrite(int handle, const void *content, size_t length, off_t offset) {
    WRITES(handle, offset, syscall(SYS_pwrite64, handle, content, length, offset))
}
ssize_t pwrite64(int handle, const void *content, size_t length, off64_t offset) {
    WRITES(handle, offset, syscall(SYS_pwrite64, handle, content, length, offset))
}
ssize_t writev(int handle, const struct iovec *parts, int count) {
    WRITES(handle, -1, syscall(SYS_writev, handle, parts, count))
}

static int resized(int handle, off64_t length) {
    char path[PATH_MAX];
    struct stat found;
    if (!inode_of(handle, path, &found)) return syscall(SYS_ftruncate, handle, length);
    pthread_mutex_lock(&lock);
    int result = syscall(SYS_ftruncate, handle, length);
    if (!result) record('S', found.st_ino, length, path, "", "", 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate(int handle, off_t length) { return resized(handle, length); }
int ftruncate64(int handle, off64_t length) { return resized(handle, length); }

static int synced(int handle, long number) {
    char path[PATH_MAX];
    struct stat found;
    if (!inode_of(handle, path, &found)) return syscall(number, handle);
    pthread_mutex_lock(&lock);
    int result = syscall(number, handle);
    if (!result) record(S_ISDIR(found.st_mode) ? 'D' : 'F', found.st_ino, 0, path, "", "", 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int fsync(int handle) { return synced(handle, SYS_fsync); }
int fdatasync(int handle) { return synced(handle, SYS_fdatasync); }

/* ---- names ------------------------------------------------------------------------------------------- */

/* Make a call on one name or two, and record it if it succeeds. */
#define NAMED(letter, at, given, has_other, other_at, other_given, call)                                     \
    char path[PATH_MAX], other[PATH_MAX] = "";                                                               \
    int is_ours = resolve(at, given, path);                                                                  \
    is_ours |= has_other && resolve(other_at, other_given, other);                                           \
    if (!is_ours) return call;                                                                               \
    pthread_mutex_lock(&lock);                                                                               \
    int result = call;                                                                                       \
    if (!result) record(letter, 0, 0, path, other, "", 0);                                                   \
    pthread_mutex_unlock(&lock);                                                                             \
    return result;

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
    NAMED('R', from_at, from, 1, to_at, to, syscall(SYS_renameat2, from_at, from, to_at, to, flags))
}
int renameat(int from_at, const char *from, int to_at, const char *to) {
    return renameat2(from_at, from, to_at, to, 0);
}
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
    NAMED('L', from_at, from, 1, to_at, to, syscall(SYS_linkat, from_at, from, to_at, to, flags))
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
int unlinkat(int at, const char *given, int flags) {
    NAMED('U', at, given, 0, 0, "", syscall(SYS_unlinkat, at, given, flags))
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int mkdirat(int at, const char *given, mode_t mode) {
    NAMED('M', at, given, 0, 0, "", syscall(SYS_mkdirat, at, given, mode))
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
