/*
 * The yardstick of a question and its answer: two processes that touch, create,
 * rename and read the files that the protocol has, with nothing in between but
 * the system calls.
 *
 *	pingpong DIR ROUNDS BYTES STEP
 *
 * STEP 0 waits for inotify; above it both sides look every STEP microseconds,
 * the answering one begun at a random moment of the asker's step. One line a
 * round: nanoseconds from before the question to after the answer was read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static long step;
static size_t bytes;
static char *answer, events[4096];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* watch returns -1 where there is nothing to watch for. */
static int watch(unsigned mask)
{
	int in;
	if (step)
		return -1;
	if ((in = inotify_init1(IN_CLOEXEC)) < 0 || inotify_add_watch(in, ".", mask) < 0)
		fail("inotify");
	return in;
}

/* await returns when an event about the file has come, or after a step. */
static void await(int in, const char *file)
{
	if (in < 0) {
		usleep(step);
		return;
	}
	for (;;) {
		ssize_t n = read(in, events, sizeof events);
		if (n < 0)
			fail("read events");
		for (char *p = events; p < events + n;) {
			struct inotify_event *e = (struct inotify_event *)p;
			if (e->len && !strcmp(e->name, file))
				return;
			p += sizeof *e + e->len;
		}
	}
}

static ssize_t slurp(const char *file, char *into, size_t most)
{
	struct stat st;
	int f = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (f < 0)
		return -1;
	if (fstat(f, &st) < 0)
		fail("fstat");
	ssize_t n = read(f, into, most);
	close(f);
	return n;
}

static void publish(const char *temp, const char *file, const char *data, size_t n)
{
	int f = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (f < 0 || write(f, data, n) != (ssize_t)n || close(f) < 0 || rename(temp, file) < 0)
		fail(file);
}

static long long marker(void)
{
	struct stat st;
	if (lstat("queue-request", &st) < 0)
		return 0;
	return st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec;
}

static long long done(void)
{
	char stamp[64];
	ssize_t n = slurp("queue-done", stamp, sizeof stamp - 1);
	if (n < 0)
		return 0;
	stamp[n] = 0;
	return atoll(stamp);
}

static void serve(int in)
{
	char stamp[64];
	if (step)
		usleep(rand() % step);
	for (;;) {
		long long asked = marker();
		if (asked <= done()) {
			await(in, "queue-request");
			continue;
		}
		publish(".tmp-1", "queue.json", answer, bytes);
		publish(".tmp-2", "queue-done", stamp, snprintf(stamp, sizeof stamp, "%lld", asked));
	}
}

static long long ask(int in, char *into)
{
	long long began = now();
	int f = open("queue-request", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	struct timespec at[2];
	clock_gettime(CLOCK_REALTIME, &at[1]);
	at[0] = at[1];
	if (f < 0 || futimens(f, at) < 0)
		fail("queue-request");
	close(f);
	long long stamp = marker();
	while (done() < stamp)
		await(in, "queue-done");
	if (slurp("queue.json", into, bytes) < 0)
		fail("queue.json");
	return now() - began;
}

int main(int argc, char **argv)
{
	if (argc != 5 || chdir(argv[1]) < 0)
		fail("usage: pingpong DIR ROUNDS BYTES STEP");
	long rounds = atol(argv[2]);
	bytes = atol(argv[3]);
	step = atol(argv[4]);
	answer = malloc(bytes + 1);
	char *into = malloc(bytes + 1);
	long long *took = malloc(rounds * sizeof *took);
	if (!answer || !into || !took)
		fail("malloc");
	memset(answer, 'x', bytes);
	srand(getpid());

	int kernel = watch(IN_ATTRIB | IN_CREATE), session = watch(IN_MOVED_TO | IN_CLOSE_WRITE);
	pid_t child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(kernel);
	}
	for (long i = 0; i < rounds; i++)
		took[i] = ask(session, into);
	kill(child, SIGKILL);
	for (long i = 0; i < rounds; i++)
		printf("%lld\n", took[i]);
	return 0;
}
