/* SPDX-License-Identifier: MIT */
/* Code objects of version 5 (AMDGPU back end of LLVM, "ELF Code Object" and "Code Object V5 Metadata"). */
#include "emulator.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    MACHINE_AMDGPU = 224,
    MACHINE_MASK = 0xff,
    NOTE_METADATA = 32,
    RELOCATION_ABS64 = 3,
    RELOCATION_RELATIVE64 = 13
};

/* ---- metadata: MessagePack ---- */

typedef const unsigned char *packed;

static uint64_t big_endian(packed p, int bytes)
{
    uint64_t v = 0;
    while (bytes--)
        v = v << 8 | *p++;
    return v;
}
/* The first item of an array or map, or NULL if it is something else. */
static packed items(packed p, uint32_t *count, bool map)
{
    const int c = *p;
    if ((c & 0xf0) == (map ? 0x80 : 0x90)) {
        *count = c & 15;
        return p + 1;
    }
    if (c == (map ? 0xde : 0xdc)) {
        *count = (uint32_t)big_endian(p + 1, 2);
        return p + 3;
    }
    if (c == (map ? 0xdf : 0xdd)) {
        *count = (uint32_t)big_endian(p + 1, 4);
        return p + 5;
    }
    return NULL;
}
static const char *string(packed p, uint32_t *length)
{
    if ((*p & 0xe0) == 0xa0) {
        *length = *p & 31;
        return (const char *)p + 1;
    }
    const int width = *p == 0xd9 ? 1 : *p == 0xda ? 2 : *p == 0xdb ? 4 : 0;
    if (!width)
        return NULL;
    *length = (uint32_t)big_endian(p + 1, width);
    return (const char *)p + 1 + width;
}
static uint32_t number(packed p)
{
    if (!p)
        return 0;
    return *p < 0x80 ? *p : *p >= 0xcc && *p <= 0xcf ? (uint32_t)big_endian(p + 1, 1 << (*p - 0xcc)) : 0;
}
static packed skip(packed p)
{
    uint32_t n;
    const char *s;
    packed q;
    if ((s = string(p, &n)))
        return (packed)s + n;
    if ((q = items(p, &n, false))) {
        while (n--)
            q = skip(q);
        return q;
    }
    if ((q = items(p, &n, true))) {
        for (n *= 2; n--;)
            q = skip(q);
        return q;
    }
    if (*p >= 0xcc && *p <= 0xd3)
        return p + 1 + (1 << ((*p - 0xcc) & 3));
    if (*p == 0xca || *p == 0xcb)
        return p + (*p == 0xca ? 5 : 9);
    return p + 1;
}
static bool is(packed p, const char *text)
{
    uint32_t n;
    const char *s = p ? string(p, &n) : NULL;
    return s && n == strlen(text) && !memcmp(s, text, n);
}
static packed value_of(packed map, const char *key)
{
    uint32_t n;
    packed p = map ? items(map, &n, true) : NULL;
    for (; p && n--; p = skip(p)) {
        const bool found = is(p, key);
        p = skip(p);
        if (found)
            return p;
    }
    return NULL;
}

/* ---- modules ---- */

static const Elf64_Sym *symbol(const module *m, const char *name)
{
    for (uint32_t i = 0; i < m->symbol_count; i++)
        if (!strcmp(m->names + m->symbols[i].st_name, name))
            return m->symbols + i;
    return NULL;
}

static void read_notes(module *m, packed p, uint64_t bytes)
{
    for (packed end = p + bytes; p < end;) {
        const Elf64_Nhdr *n = (const void *)p;
        packed text = p + sizeof *n + ((n->n_namesz + 3) & ~3u);
        if (n->n_type == NOTE_METADATA)
            m->metadata = text;
        p = text + ((n->n_descsz + 3) & ~3u);
    }
}

static hip_error relocate(const module *m, const Elf64_Shdr *section)
{
    for (uint64_t at = 0; at < section->sh_size; at += sizeof(Elf64_Rela)) {
        const Elf64_Rela *r = (const void *)(m->image + section->sh_offset + at);
        const uint64_t type = ELF64_R_TYPE(r->r_info);
        uint64_t value = m->at + (uint64_t)r->r_addend;
        if (type == RELOCATION_ABS64)
            value += m->symbols[ELF64_R_SYM(r->r_info)].st_value;
        else if (type != RELOCATION_RELATIVE64)
            return hipErrorInvalidImage;
        memcpy(arena_host(m->at + r->r_offset), &value, sizeof value);
    }
    return hipSuccess;
}

hip_error module_load(const unsigned char *image, module **out)
{
    const Elf64_Ehdr *h = (const void *)image;
    if (memcmp(image, ELFMAG, SELFMAG) || h->e_machine != MACHINE_AMDGPU)
        return hipErrorInvalidImage;
    if ((h->e_flags & MACHINE_MASK) != the_chip->machine)
        return hipErrorNoBinaryForGpu;
    module *m = calloc(1, sizeof *m);
    const uint64_t bytes = h->e_shoff + (uint64_t)h->e_shnum * sizeof(Elf64_Shdr); /* the table of sections is last */
    m->image = memcpy(malloc(bytes), image, bytes);
    const Elf64_Phdr *segments = (const void *)(m->image + h->e_phoff);
    const Elf64_Shdr *sections = (const void *)(m->image + h->e_shoff);
    uint64_t end = 0;
    for (int i = 0; i < h->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr + segments[i].p_memsz > end)
            end = segments[i].p_vaddr + segments[i].p_memsz;
    m->bytes = (end + 8191) & ~(uint64_t)4095;
    hip_error e = arena_alloc_code(m->bytes, &m->at);
    for (int i = 0; !e && i < h->e_phnum; i++) {
        const Elf64_Phdr *s = segments + i;
        if (s->p_type == PT_LOAD)
            memcpy(arena_host(m->at + s->p_vaddr), m->image + s->p_offset, s->p_filesz);
        if (s->p_type == PT_NOTE)
            read_notes(m, m->image + s->p_offset, s->p_filesz);
    }
    for (int i = 0; !e && i < h->e_shnum; i++)
        if (sections[i].sh_type == SHT_DYNSYM) {
            m->symbols = (const void *)(m->image + sections[i].sh_offset);
            m->symbol_count = (uint32_t)(sections[i].sh_size / sizeof *m->symbols);
            m->names = (const char *)m->image + sections[sections[i].sh_link].sh_offset;
        }
    if (!e && (!m->metadata || !m->symbols))
        e = hipErrorInvalidImage;
    for (int i = 0; !e && i < h->e_shnum; i++)
        if (sections[i].sh_type == SHT_RELA)
            e = relocate(m, sections + i);
    if (e) {
        free(m->image);
        free(m);
        return e;
    }
    *out = m;
    return hipSuccess;
}

void module_free(module *m)
{
    arena_protect(m->at, m->bytes, PROT_NONE);
    for (function *f = m->functions, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    free(m->image);
    free(m);
}

static uint32_t argument_kind(packed argument)
{
    static const struct {
        uint32_t kind;
        const char *name;
    } hidden[] = {
#define ROW(kind, name) { ARGUMENT_##kind, name },
        FOREACH_HIDDEN_ARGUMENT(ROW)
#undef ROW
    };
    uint32_t length;
    packed value = value_of(argument, ".value_kind");
    const char *name = value ? string(value, &length) : NULL;
    if (!name || length < 7 || memcmp(name, "hidden_", 7))
        return ARGUMENT_USER;
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (is(value, hidden[i].name))
            return hidden[i].kind;
    return ARGUMENT_ZERO;
}

hip_error module_function(module *m, const char *name, function **out)
{
    for (*out = m->functions; *out; *out = (*out)->next)
        if (!strcmp((*out)->name, name))
            return hipSuccess;
    uint32_t n = 0;
    packed kernels = value_of(m->metadata, "amdhsa.kernels"), kernel = kernels ? items(kernels, &n, false) : NULL;
    if (!kernel)
        return hipErrorInvalidImage;
    while (n && !is(value_of(kernel, ".name"), name)) {
        kernel = skip(kernel);
        n--;
    }
    char descriptor_name[264];
    snprintf(descriptor_name, sizeof descriptor_name, "%s.kd", name);
    const Elf64_Sym *s = symbol(m, descriptor_name);
    if (!n || !s)
        return hipErrorNotFound;
    function *f = calloc(1, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    packed d = arena_host(m->at + s->st_value);
    int64_t entry;
    memcpy(&f->lds, d, 4);
    memcpy(&f->scratch, d + 4, 4);
    memcpy(&f->argument_bytes, d + 8, 4);
    memcpy(&entry, d + 16, 8);
    memcpy(&f->rsrc1, d + 48, 4);
    memcpy(&f->rsrc2, d + 52, 4);
    f->properties = d[56] | d[57] << 8;
    f->entry = m->at + s->st_value + (uint64_t)entry;
    f->vgprs = number(value_of(kernel, ".vgpr_count"));
    f->most_threads = number(value_of(kernel, ".max_flat_workgroup_size"));
    packed list = value_of(kernel, ".args"), argument = list ? items(list, &n, false) : NULL;
    for (; argument && n-- && f->arguments < MAX_ARGUMENTS; argument = skip(argument), f->arguments++) {
        f->argument[f->arguments].offset = number(value_of(argument, ".offset"));
        f->argument[f->arguments].size = number(value_of(argument, ".size"));
        f->argument[f->arguments].kind = argument_kind(argument);
    }
    f->next = m->functions;
    m->functions = f;
    *out = f;
    return hipSuccess;
}

hip_error module_variable(module *m, const char *name, uint64_t *address, size_t *bytes)
{
    const Elf64_Sym *s = symbol(m, name);
    if (!s)
        return hipErrorNotFound;
    *address = m->at + s->st_value;
    *bytes = s->st_size;
    return hipSuccess;
}
