/* SPDX-License-Identifier: MIT */
/* The lanes of a block on their own ways through a compiled entry: who waits for whom, without a stack for each. The rules are those of
 * the fibers (schedule.c): a thread that has ended counts as arrived at the block's barrier and at tiles up to the warp, collectives need
 * every member, coalesced groups form when nothing else can go on, and who polls runs again when the others have run. */
#include <string.h>
#include "fiber.h"

typedef struct {
    lane_states s; /* first */
    cgx_cpu_block *b;
    int threads, regions;
    int *group;
} lanes;

static int waits(const lanes *l, int i)
{
    return l->s.state[i] >= 0 && l->s.state[i] < CGX__LANE_READY;
}
static const cgx__boundary *at(const lanes *l, int i)
{
    return l->s.boundaries + l->s.state[i];
}
static void release(const lanes *l, int i)
{
    l->s.state[i] = (l->s.state[i] + 1) | CGX__LANE_READY; /* the region behind boundary k is k + 1 */
}

void cgx__cpu_lanes_start(cgx_cpu_block *b, int *state)
{
    for (int i = 0; i < b->shape.threads; i++)
        state[i] = CGX__LANE_READY;
}

/* ---- runs of lanes in the same state: most of the time there are few ---- */

/* The first lane behind FROM whose state is another. */
static inline int run_end(const int *state, int from, int count)
{
    const uint64_t v = (uint32_t)state[from] | (uint64_t)(uint32_t)state[from] << 32;
    int i = from + 1;
    for (; i + 8 <= count; i += 8) {
        uint64_t s[4];
        memcpy(s, state + i, sizeof s);
        if ((s[0] ^ v) | (s[1] ^ v) | (s[2] ^ v) | (s[3] ^ v))
            break;
    }
    while (i < count && state[i] == state[from])
        i++;
    return i;
}

uint64_t cgx__cpu_lanes_run(const int *state, int from, int count, int which)
{
    while (from < count && state[from] != which)
        from = run_end(state, from, count);
    return (uint64_t)(unsigned)from | (uint64_t)(unsigned)(from < count ? run_end(state, from, count) : count) << 32;
}

static void release_run(const lanes *l, int first, int end)
{
    const int next = (l->s.state[first] + 1) | CGX__LANE_READY;
    for (int i = first; i < end; i++)
        l->s.state[i] = next;
}

/* Releases the groups all of whose members stand in one run: the boundary whose step is to be run first, for all of them; -1 if there is
 * none, -2 if there were no such groups. */
static int resolve_runs(const lanes *l)
{
    int did = -2;
    for (int i = 0, end; i < l->threads; i = end) {
        end = run_end(l->s.state, i, l->threads);
        if (!waits(l, i))
            continue;
        const cgx__boundary *b = at(l, i);
        const int boundary = l->s.state[i];
        int first = i, behind = end;
        if (b->kind == CGX__TILE && b->size) {
            first = (i + b->size - 1) & ~(b->size - 1);
            behind = end & ~(b->size - 1);
        } else if (b->kind != CGX__BLOCK || i || end < l->threads) {
            continue;
        }
        if (first >= behind)
            continue;
        release_run(l, first, behind);
        if (b->step >= 0) {
            l->group[0] = first;
            l->group[1] = behind - first;
            return boundary;
        }
        did = -1;
    }
    return did;
}

/* Lanes of the group that lane I waits in: FIRST and those behind it whose bits are set, 64 at most, or SIZE of them. */
static int is_member(int first, int i, cgx_mask members)
{
    return !members || (i >= first && i < first + 64 && members >> (i - first) & 1);
}

/* Whether all members of the group of COUNT lanes from FIRST on wait where lane I does. */
static int complete(const lanes *l, int i, int first, int count, cgx_mask members)
{
    const cgx__boundary *mine = at(l, i);
    for (int j = first; j < first + count && j < l->threads; j++) {
        if (!is_member(first, j, members))
            continue;
        if (l->s.state[j] == CGX__LANE_ENDED && mine->step < 0 && mine->kind == CGX__TILE && count <= l->b->shape.lanes)
            continue;
        if (!waits(l, j))
            return 0;
        const cgx__boundary *other = at(l, j);
        if (other->kind != mine->kind)
            return 0;
        if ((mine->kind == CGX__TILE && cgx__lane_group_size(&l->s, j) != cgx__lane_group_size(&l->s, i)) ||
            (mine->kind == CGX__COALESCED && l->s.members[j] != l->s.members[i]))
            return 0;
        /* The block's sync and its collectives do not meet; those of one tile or coalesced group do. */
        if (other->operation != mine->operation && (mine->kind != CGX__BLOCK || (mine->step >= 0 && other->step >= 0)))
            cgx__cpu_misuse_of(l->b, j, other->line, "a collective of a group in which other threads call another one");
        if (other->step != mine->step)
            return 0;
    }
    return 1;
}

/* Releases the group that lane I waits in, if it is complete; the boundary whose step is to be run first, -1 if there is none, -2 if
 * nothing happened. */
static int resolve(const lanes *l, int i)
{
    const cgx__boundary *mine = at(l, i);
    const int size = cgx__lane_group_size(&l->s, i);
    int first = 0, count = l->threads;
    cgx_mask members = 0;
    if (mine->kind == CGX__TILE) {
        count = size;
        first = i & ~(count - 1);
    } else if (mine->kind == CGX__COALESCED) {
        first = i & ~63;
        count = 64;
        members = l->s.members[i];
    }
    if (!complete(l, i, first, count, members))
        return -2;
    const int boundary = l->s.state[i];
    for (int j = first; j < first + count && j < l->threads; j++)
        if (is_member(first, j, members) && l->s.state[j] != CGX__LANE_ENDED)
            release(l, j);
    if (mine->step < 0)
        return -1;
    l->group[0] = members ? first + __builtin_ctzll(members) : first;
    l->group[1] = members ? size : count < l->threads ? count : l->threads;
    return boundary;
}

/* Of each warp, the lanes at the call site of the lowest rank that waits at one. */
static int coalesce(const lanes *l)
{
    const int width = l->b->shape.lanes;
    int any = 0;
    for (int warp = 0; warp < l->threads; warp += width) {
        int line = -1;
        cgx_mask mask = 0;
        for (int i = warp; i < warp + width && i < l->threads; i++)
            if (waits(l, i) && at(l, i)->kind == CGX__COALESCING) {
                if (line < 0)
                    line = at(l, i)->line;
                if (at(l, i)->line == line)
                    mask |= (cgx_mask)1 << (i & 63);
            }
        for (int i = warp; mask && i < warp + width && i < l->threads; i++)
            if (mask >> (i & 63) & 1 && waits(l, i)) {
                memcpy(l->b->out + (size_t)i * CGX__VALUE_BYTES, &mask, sizeof mask);
                release(l, i);
            }
        any |= mask != 0;
    }
    return any;
}

/* Lanes that wait at boundaries of this kind run again; the line of one of them, or 0. */
static int release_kind(const lanes *l, int kind)
{
    int line = 0;
    for (int i = 0, end; i < l->threads; i = end) {
        end = run_end(l->s.state, i, l->threads);
        if (waits(l, i) && at(l, i)->kind == kind) {
            line = at(l, i)->line;
            release_run(l, i, end);
        }
    }
    return line;
}

static __attribute__((noreturn)) void deadlock(const lanes *l)
{
    worker *w = (worker *)l->b->worker;
    char text[900];
    const cgx_status status = cgx__report_lanes(l->b, &l->s, text, sizeof text);
    cgx__launch_fail(w->launch, status, "%s: %s", w->launch->kernel->name, text);
    cgx__worker_abandon(w);
}

int cgx__cpu_lanes_next(cgx_cpu_block *b, int *state, const int *size, const cgx_mask *members,
                        const cgx__boundary *boundaries, int count, int *group)
{
    const lanes l = { { state, size, members, boundaries }, b, b->shape.threads, count + 1, group };
    for (;;) {
        /* The lowest region that lanes are ready for: those behind catch up. */
        int lowest = -1, alive = 0, at_block = 0, in_groups = 0, coalescing = 0, any = 0;
        for (int i = 0, end; i < l.threads; i = end) {
            end = run_end(state, i, l.threads);
            if (state[i] >= CGX__LANE_READY) {
                if (lowest < 0 || state[i] < lowest)
                    lowest = state[i];
            } else if (state[i] >= 0) {
                alive += end - i;
                const cgx__boundary *where = at(&l, i);
                if (where->kind == CGX__BLOCK && where->step < 0)
                    at_block += end - i;
                else if (where->kind <= CGX__GRID)
                    in_groups = 1;
                else if (where->kind == CGX__COALESCING)
                    coalescing = 1;
            }
        }
        if (lowest >= 0)
            return lowest & (CGX__LANE_READY - 1);
        if (!alive)
            return -1;

        /* Nobody can run: whose group is complete? All lanes that have not ended at some sync of the block are one group. */
        if (at_block == alive) {
            release_kind(&l, CGX__BLOCK);
            continue;
        }
        const int whole = in_groups ? resolve_runs(&l) : -2;
        if (whole >= 0)
            return l.regions + whole;
        if (whole == -1)
            continue;
        for (int i = 0; in_groups && i < l.threads; i++)
            if (waits(&l, i) && at(&l, i)->kind == CGX__GRID && !b->worker->grid.expected)
                cgx__cpu_misuse_of(b, i, at(&l, i)->line, NOT_COOPERATIVE);
        for (int i = 0; in_groups && i < l.threads; i++) {
            if (!waits(&l, i))
                continue;
            const int kind = at(&l, i)->kind;
            if (kind > CGX__GRID || (kind == CGX__BLOCK && at(&l, i)->step < 0))
                continue;
            const int boundary = resolve(&l, i);
            if (boundary >= 0)
                return l.regions + boundary;
            any |= boundary == -1;
        }
        if (any || (coalescing && coalesce(&l)))
            continue;
        /* A lane that waits at an mbarrier has looked at it; it looks again when a phase has ended since the last time. */
        const int phases = (int)((block *)b)->barrier_phases, at_mbarriers = group[2] != phases;
        group[2] = phases;
        if (at_mbarriers && release_kind(&l, CGX__AT_MBARRIER))
            continue;
        const int line = release_kind(&l, CGX__POLL);
        if (!line)
            deadlock(&l);
        cgx_cpu_thread t = { .block = b, .forked = 1, .shape = &b->shape };
        cgx__cpu_yield(&t, line);
    }
}

void cgx__cpu_units_start(cgx_cpu_block *b, int *units)
{
    for (int i = 0; i * CGX__UNIT < b->shape.threads; i++)
        units[i] = CGX__LANE_READY;
}

/* All that wait, to the region behind; a bit for each. */
static unsigned release_units(int *units, int n)
{
    unsigned ready = 0;
    for (int i = 0; i < n; i++)
        if (units[i] >= 0) {
            units[i] = (units[i] + 1) | CGX__LANE_READY;
            ready |= 1u << i;
        }
    return ready;
}

int cgx__cpu_units_next(cgx_cpu_block *b, int *units, int *state, int *size, const cgx__boundary *boundaries, int count,
                        int *group)
{
    CGX__STATIC_ASSERT(CGX__MAX_THREADS <= 32 * CGX__UNIT, "units of a block are bits of a number");
    const int threads = b->shape.threads, n = (threads + CGX__UNIT - 1) / CGX__UNIT;
    for (;;) {
        int waiting = 0, one = -1;
        unsigned ready = 0, kinds = 0, steps = 0;
        for (int i = 0; i < n; i++) {
            if (units[i] >= CGX__LANE_READY) {
                ready |= 1u << i;
            } else if (units[i] >= 0) {
                const cgx__boundary *where = boundaries + units[i];
                kinds |= 1u << where->kind;
                steps |= where->step >= 0;
                one = !waiting++ || one == units[i] ? units[i] : -1;
            }
        }
        /* What most kernels wait for: an mbarrier, a sync of the block, or a collective of it to which all have come. */
        const int phases = (int)((block *)b)->barrier_phases;
        if (!ready && kinds == 1u << CGX__AT_MBARRIER && group[2] != phases) {
            group[2] = phases;
            ready = release_units(units, n);
        } else if (!ready && kinds == 1u << CGX__BLOCK && !steps) {
            ready = release_units(units, n);
        }
        if (ready) {
            group[3] = (int)ready;
            return 0;
        }
        if (!waiting)
            return -1;
        if (kinds == 1u << CGX__BLOCK && one >= 0 && waiting == n) {
            release_units(units, n);
            group[0] = 0;
            group[1] = threads;
            return count + 1 + one;
        }
        /* The lanes of a unit wait in one place, and their groups are released together: tiles in a unit are no waits or run along with
         * the others in it, larger ones and the block have whole units. */
        for (int i = 0; i < threads; i++) {
            state[i] = units[i / CGX__UNIT];
            size[i] = threads;
        }
        const int next = cgx__cpu_lanes_next(b, state, size, NULL, boundaries, count, group);
        for (int i = 0; i < n; i++)
            units[i] = state[i * CGX__UNIT];
        if (next > count)
            return next;
    }
}

void cgx__cpu_wide_sync(cgx_cpu_block *b, int packed, int first, int count, int size, int kind, int operation, int type,
                        int code, size_t bytes, void (*apply)(void *, const void *, const void *), void *target,
                        int scope, cgx_mask members)
{
    cgx_cpu_worker *w = b->worker;
    cgx_cpu_thread t; /* the rest is nobody's concern, and clearing it took a third of this function's time */
    cgx_cpu_barrier *q = kind == CGX__CLUSTER ? b->cluster : &w->grid;
    (void)packed, (void)first, (void)size, (void)type, (void)bytes, (void)apply, (void)target, (void)scope,
        (void)members;
    if (!q->expected)
        cgx__cpu_misuse_of(b, 0, code, NOT_COOPERATIVE);
    t.block = b;
    t.forked = 1;
    t.shape = &b->shape;
    t.rank = -1; /* all of them */
    q->arrived += count;
    if (q->arrived == q->expected) {
        if (kind == CGX__CLUSTER) {
            cgx__cpu_release(w, q);
            return;
        }
        cgx__cpu_grid_arrived(w);
    }
    cgx__cpu_park(&t, q, NULL, operation, code, -1);
}
