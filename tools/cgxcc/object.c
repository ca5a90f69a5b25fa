/* SPDX-License-Identifier: MIT */
#include "object.h"
#include <cgx/abi.h>
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "cgxcc writes ELF structures as they lie in memory and knows little-endian ones only"
#endif

#define IMAGE_SECTION ".rodata.cgx_images"

struct elf {
    unsigned char *bytes;
    size_t size;
    Elf64_Shdr *sections;
    size_t count, names;
};

static bool inside(const struct elf *e, uint64_t offset, uint64_t size, uint64_t alignment)
{
    return offset % alignment == 0 && offset <= e->size && size <= e->size - offset;
}

static bool elf_open(const struct object *o, struct elf *e)
{
    *e = (struct elf){ o->bytes.data, o->bytes.size, NULL, 0, 0 };
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)(void *)e->bytes;
    if (e->size < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_REL || h->e_shentsize != sizeof(Elf64_Shdr) ||
        !inside(e, h->e_shoff, sizeof(Elf64_Shdr), 8))
        return false;
    /* Above 65,279 sections the numbers move into the first, otherwise unused, section header. */
    e->sections = (Elf64_Shdr *)(void *)(e->bytes + h->e_shoff);
    e->count = h->e_shnum ? h->e_shnum : e->sections[0].sh_size;
    e->names = h->e_shstrndx == SHN_XINDEX ? e->sections[0].sh_link : h->e_shstrndx;
    return e->count <= e->size / sizeof(Elf64_Shdr) && e->names < e->count &&
           inside(e, h->e_shoff, e->count * sizeof(Elf64_Shdr), 8);
}

/* Content of a section, NULL if it has none or reaches beyond the file. */
static void *section(const struct elf *e, size_t index, uint64_t alignment)
{
    const Elf64_Shdr *s = index < e->count ? e->sections + index : NULL;
    if (!s || s->sh_type == SHT_NOBITS || !inside(e, s->sh_offset, s->sh_size, alignment))
        return NULL;
    return e->bytes + s->sh_offset;
}

static const char *string(const struct elf *e, size_t table, uint64_t offset)
{
    const char *text = section(e, table, 1);
    if (!text || offset >= e->sections[table].sh_size || !memchr(text + offset, 0, e->sections[table].sh_size - offset))
        return "";
    return text + offset;
}

struct symbols {
    Elf64_Sym *at;
    size_t count;
    uint32_t strings;
    const uint32_t *wide; /* section numbers that do not fit a symbol */
    size_t wide_count;
};

static struct symbols symbols(const struct elf *e)
{
    struct symbols s = { 0 };
    for (size_t i = 1; i < e->count; i++) {
        const Elf64_Shdr *h = e->sections + i;
        if (h->sh_type == SHT_SYMTAB && (s.at = section(e, i, 8))) {
            s.count = h->sh_size / sizeof *s.at;
            s.strings = h->sh_link;
        } else if (h->sh_type == SHT_SYMTAB_SHNDX && (s.wide = section(e, i, 4))) {
            s.wide_count = h->sh_size / sizeof *s.wide;
        }
    }
    return s;
}

bool object_load(const char *path, struct object *out)
{
    char *real = realpath(path, NULL);
    struct elf e;
    if (!real)
        return false;
    out->path = mem_copy(real, strlen(real));
    free(real);
    return file_read(out->path, &out->bytes, &out->mode) && elf_open(out, &e);
}

bool object_has_function(const struct object *o, const char *mark)
{
    struct elf e;
    if (!elf_open(o, &e))
        return false;
    struct symbols s = symbols(&e);
    for (size_t i = 0; i < s.count; i++)
        if (ELF64_ST_TYPE(s.at[i].st_info) == STT_FUNC &&
            strstr(string(&e, s.strings, s.at[i].st_name), mark)) /* C++ puts more around the name */
            return true;
    return false;
}

bool object_knows(const struct object *o, const char *name)
{
    struct elf e;
    if (!elf_open(o, &e))
        return false;
    struct symbols s = symbols(&e);
    for (size_t i = 0; i < s.count; i++)
        if (!strcmp(string(&e, s.strings, s.at[i].st_name), name))
            return true;
    return false;
}

/* The new bytes go to the end of the file and the section header points there: nothing else moves. */
void object_put_images(struct object *o, const struct buffer *images)
{
    struct elf e;
    size_t at = 0;
    if (!elf_open(o, &e))
        die("%s: damaged object", o->path);
    for (size_t i = 1; i < e.count; i++)
        if (!strcmp(string(&e, e.names, e.sections[i].sh_name), IMAGE_SECTION))
            at = i;
    const cgx__images *old = at ? section(&e, at, 8) : NULL;
    if (!old || e.sections[at].sh_size != sizeof *old || memcmp(old->magic, "CGXI", 4) || old->version != CGX__ABI)
        die("%s: no place for device images; was it compiled with the cgx.h of another release?", o->path);

    struct symbols s = symbols(&e);
    for (size_t i = 0; i < s.count; i++) {
        size_t in = s.at[i].st_shndx;
        if (in == SHN_XINDEX)
            in = i < s.wide_count ? s.wide[i] : 0;
        if (in == at && s.at[i].st_value == 0 && ELF64_ST_TYPE(s.at[i].st_info) == STT_OBJECT)
            s.at[i].st_size = images->size;
    }
    Elf64_Shdr *h = e.sections + at;
    h->sh_addralign = IMAGE_ALIGNMENT;
    h->sh_offset = (e.size + IMAGE_ALIGNMENT - 1) / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
    h->sh_size = images->size;
    buffer_pad(&o->bytes, IMAGE_ALIGNMENT);
    buffer_add(&o->bytes, images->data, images->size);
}
