/* SPDX-License-Identifier: MIT */
/* load PLUGIN: opens, runs and closes a plug-in 1000 times and looks at the memory that is left. */
#include <cgx/host.h>
#include <dlfcn.h>
#include <stdio.h>

static long resident_pages(void)
{
    long all = 0, resident = -1;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%ld %ld", &all, &resident) != 2)
            resident = -1;
        fclose(f);
    }
    return resident;
}

int main(int argc, char **argv)
{
    long before = 0;
    cgx_queue *q = NULL;
    if (argc < 2)
        return 2;
    CGX_TRY(cgx_queue_open("cpu", &q));
    for (int i = 0; i < 1000; i++) {
        void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        int (*plug_run)(cgx_queue *) = NULL;
        if (!plugin) {
            puts(dlerror());
            return 1;
        }
        *(void **)&plug_run = dlsym(plugin, "plug_run");
        if (!plug_run || plug_run(q))
            return 1;
        dlclose(plugin);
        if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD)) {
            puts("the plug-in stays loaded after dlclose");
            return 1;
        }
        if (i == 500)
            before = resident_pages();
    }
    CGX_TRY(cgx_queue_close(&q));
    long grown = resident_pages() - before;
    printf("1000 rounds, %+ld resident pages in the last 500\n", grown);
    return grown >= 100;
}
