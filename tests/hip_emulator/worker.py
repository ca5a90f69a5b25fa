# SPDX-License-Identifier: MIT
"""The worker process of the stand-in for libamdhip64 (README.md): finds machine code for each GPU instruction, in a cache or
else through the emulator of a tinygrad checkout ($TINYGRAD), and lets scheduler.c run it.

Arguments: the scheduler's library, numbers of the socket and of the memory file, address and size of the arena, and the
emulator's name for the instruction set."""
import ctypes
import hashlib
import mmap
import os
import re
import sqlite3
import sys
import time

SCHEDULER = sys.argv[1]
SOCKET, MEMORY, BASE, SIZE = (int(word, 0) for word in sys.argv[2:6])
INSTRUCTIONS = sys.argv[6]
CHECKOUT = os.environ.get('TINYGRAD', '')
VERBOSE = int(os.environ.get('CGX_EMU_VERBOSE', '0') or 0)
START = time.time()
CACHE_FORMAT = b'10'

scheduler = ctypes.CDLL(SCHEDULER)

# As in scheduler.c.
RUN, BARRIER, SLEEP, SKIP, LDS_DMA, DPP, DS, MOVE_PC, COPY, PERMUTE, FLAT, ATOMIC, CLOCK, PRIVATE, LDS_MEMORY, CARRY, MAD = range(17)
PC_LOW, PC_HIGH, SCRATCH_STRIDE, SCALARS, END = 256, 257, 259, 260, 2 ** 64 - 1


class Entry(ctypes.Structure):
    _fields_ = [('run', ctypes.c_uint64), ('copy', ctypes.c_uint64), ('buffer', ctypes.c_uint8 * 6),
                ('kind', ctypes.c_uint16), ('argument', ctypes.c_uint16)]


def say(text):
    if VERBOSE:
        print(f'[emulator] {text}', file=sys.stderr)


def fingerprint():
    """Cached code is compiled for this processor from these files of the emulator."""
    h = hashlib.sha1(CACHE_FORMAT)
    for name in ('test/mockgpu/amd/emu.py', 'test/mockgpu/amd/pcode.py', 'tinygrad/runtime/ops_cpu.py',
                 'tinygrad/renderer/cstyle.py'):
        status = os.stat(os.path.join(CHECKOUT, name))
        h.update(f'{name}{status.st_size}{status.st_mtime_ns}'.encode())
    cpu = (ctypes.c_uint * 8)()
    scheduler.cpu_id(cpu)
    h.update(bytes(cpu))
    return h.hexdigest()[:12]


class Cache:
    """inst: the exact bytes of an instruction -> code; canon: the emulator's patterns without operands -> code."""

    def __init__(self):
        folder = os.environ.get('CGX_EMU_CACHE') or os.path.join(
            os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'cgx-emulator')
        os.makedirs(folder, exist_ok=True)
        self.db = sqlite3.connect(os.path.join(folder, f'{INSTRUCTIONS}-{fingerprint()}.db'), timeout=30,
                                  isolation_level=None)
        self.db.executescript('''pragma journal_mode=wal; pragma synchronous=off;
            create table if not exists code(id text primary key, blob, buffers);
            create table if not exists inst(key blob primary key, kind, code);
            create table if not exists canon(module, class, base, mask, size, code, unique(class, base, mask, size));''')
        self.room = mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                              mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.room))
        self.used = 0
        self.loaded = {}

    def load(self, code):
        """-> address, numbers of the buffers"""
        if code not in self.loaded:
            blob, buffers = self.db.execute('select blob, buffers from code where id=?', (code,)).fetchone()
            self.room[self.used:self.used + len(blob)] = blob
            self.loaded[code] = (self.address + self.used, tuple(buffers))
            self.used += (len(blob) + 63) & ~63
        return self.loaded[code]

    def instruction(self, words):
        """No encoding is the start of another, so that the first hit is the instruction."""
        for size in (4, 8, 12, 16):
            row = self.db.execute('select kind, code from inst where key=?', (words[:size],)).fetchone()
            if row:
                return row
        return None

    def put(self, key, kind, code):
        self.db.execute('insert or ignore into inst values(?,?,?)', (key, kind, code))


class Compiler:
    """The emulator itself, imported at the first instruction that the cache does not have."""

    def __init__(self, cache):
        start = time.time()
        sys.path.insert(0, CHECKOUT)
        import test.mockgpu.amd.emu as emulator
        from tinygrad.runtime import ops_cpu
        from tinygrad.runtime.support.elf import jit_loader
        assert (emulator.PC_LO_IDX, emulator.PC_HI_IDX, emulator.SCRATCH_STRIDE_IDX, emulator.SGPR_COUNT,
                emulator.ENDPGM_PC) == (PC_LOW, PC_HIGH, SCRATCH_STRIDE, SCALARS, END), \
            "the emulator's registers have moved"
        self.cache, self.ids, self.libraries = cache, {}, {}
        self.emulator, self.program, self.jit_loader = emulator, ops_cpu.CPUProgram, jit_loader
        load, libraries = self.program._load, self.libraries

        def keep(program, library, base=0):
            libraries[base] = library
            return load(program, library, base)
        self.program._load = keep
        # Atomics of gfx940 return with SC0, where the emulator looks for GLC.
        attribute = emulator._iattr
        emulator._iattr = lambda inst, name, *default: attribute(
            inst, 'sc0' if name == 'glc' and hasattr(inst, 'sc0') else name, *default)
        # Integer SDWA instructions lack their saturation.
        sdwa, parse = emulator._compile_sdwa, emulator.parse_pcode

        def saturating_sdwa(inst, ctx):
            if not attribute(inst, 'clmp') or 'F' in inst.op.name:
                return sdwa(inst, ctx)

            def saturated(pcode, srcs):
                env, assigns = parse(pcode, srcs)
                value = emulator._int_clamp(inst.op.name, srcs)
                assert value is not None, f'{inst.op.name} with saturation'
                return env, [(to, value if to.startswith('D0') and '[' not in to else v) for to, v in assigns]
            emulator.parse_pcode = saturated
            try:
                return sdwa(inst, ctx)
            finally:
                emulator.parse_pcode = parse
        for cls, handler in emulator._INST_HANDLERS.items():
            if handler is sdwa:
                emulator._INST_HANDLERS[cls] = saturating_sdwa
        for module, cls, base, mask, size, code in cache.db.execute('select * from canon'):
            emulator._canonical_runner_cache.append(
                (getattr(sys.modules[module], cls), int(base), int(mask), size, (code, None)))
        self.known = len(emulator._canonical_runner_cache)
        say(f'tinygrad imported in {time.time() - start:.2f} s, {self.known} known patterns')

    def store(self, program, runtime):
        """New machine code goes into the cache. -> its id, or None if it is tied to its address"""
        if isinstance(program, str):
            return program
        if id(runtime) in self.ids:
            return self.ids[id(runtime)]
        libraries, library, code = [self.program.libm, self.program.rt_lib], self.libraries[runtime.addr], None
        here, there = (bytes(self.jit_loader(library, at, libraries)) for at in (0, 1 << 20))
        if here == there:
            buffers = bytes(program.arg.globals)
            code = hashlib.sha1(here + buffers).hexdigest()[:20]
            self.cache.db.execute('insert or ignore into code values(?,?,?)', (code, here, buffers))
        self.ids[id(runtime)] = code
        return code

    def compile(self, address):
        """-> id or None, address, numbers of the buffers"""
        emulator = self.emulator
        (program, runtime), _ = emulator._decode_at(address, INSTRUCTIONS)
        code = self.store(program, runtime)
        for cls, base, mask, size, (p, r) in emulator._canonical_runner_cache[self.known:]:
            pattern = self.store(p, r)
            if pattern:
                self.cache.db.execute('insert or ignore into canon values(?,?,?,?,?,?)',
                                      (cls.__module__, cls.__qualname__, str(base), str(mask), size, pattern))
        self.known = len(emulator._canonical_runner_cache)
        if code:
            return (code, *self.cache.load(code))
        return None, runtime.addr, tuple(program.arg.globals)

    @staticmethod
    def reach(inst):
        """Bytes from a lane's address to the end of what a DS instruction touches."""
        name = inst.op.name
        size = next(int(bits) // 8 for bits in re.findall(r'_[BUIF](\d+)', name) + ['32'])
        if not re.search(r'(READ|WRITE|LOAD|STORE|XCHG_RTN?|WRXCHG)_?2|2ADDR', name):
            return (inst.offset1 << 8 | inst.offset0) + size
        stride = size * (64 if 'ST64' in name or 'STRIDE64' in name else 1)
        return max(inst.offset0, inst.offset1) * stride + size

    def kind(self, inst):
        e, op = self.emulator, getattr(inst, 'op', None)
        if isinstance(inst, (e.ir3.DS, e.ir4.DS, e.irc.DS)):
            touches_no_lds = any(word in op.name for word in ('PERMUTE', 'SWIZZLE', 'APPEND', 'CONSUME', 'GWS'))
            return RUN if touches_no_lds else DS | self.reach(inst) << 8
        if not isinstance(inst, (e.ir3.SOPP, e.ir4.SOPP, e.irc.SOPP)):
            return RUN
        if op in (e.ir3.SOPPOp.S_BARRIER, e.irc.SOPPOp.S_BARRIER, e.ir4.SOPPOp.S_BARRIER_WAIT):
            return BARRIER
        if op in (e.ir3.SOPPOp.S_SLEEP, e.irc.SOPPOp.S_SLEEP, e.ir4.SOPPOp.S_SLEEP):
            return SLEEP
        return RUN


def form(size, store=0, sign=0, half=0):
    return size | store << 5 | sign << 6 | half << 7


UPPER, LOWER = 1, 2
LOADS = {16: form(1), 17: form(1, sign=1), 18: form(2), 19: form(2, sign=1), 20: form(4), 21: form(8), 22: form(12),
         23: form(16)}
# Opcodes of loads and stores, of gfx9 in flat and buffer instructions alike.
FORMS = LOADS | ({24: form(1, 1), 25: form(1, 1, 0, UPPER), 26: form(2, 1), 27: form(2, 1, 0, UPPER), 28: form(4, 1),
                  29: form(8, 1), 30: form(12, 1), 31: form(16, 1), 32: form(1, 0, 0, LOWER), 33: form(1, 0, 0, UPPER),
                  34: form(1, 0, 1, LOWER), 35: form(1, 0, 1, UPPER), 36: form(2, 0, 0, LOWER), 37: form(2, 0, 0, UPPER)}
                 if INSTRUCTIONS == 'cdna' else
                 {24: form(1, 1), 25: form(2, 1), 26: form(4, 1), 27: form(8, 1), 28: form(12, 1), 29: form(16, 1),
                  30: form(1, 0, 0, LOWER), 31: form(1, 0, 1, LOWER), 32: form(2, 0, 0, LOWER), 33: form(1, 0, 0, UPPER),
                  34: form(1, 0, 1, UPPER), 35: form(2, 0, 0, UPPER), 36: form(1, 1, 0, UPPER), 37: form(2, 1, 0, UPPER)})
# Opcodes of loads and stores of LDS.
LDS_FORMS = ({13: form(4, 1), 30: form(1, 1), 31: form(2, 1), 54: form(4), 57: form(1, sign=1), 58: form(1), 59: form(2, sign=1),
              60: form(2), 77: form(8, 1), 118: form(8), 222: form(12, 1), 223: form(16, 1), 254: form(12), 255: form(16)} |
             {op + (84 if INSTRUCTIONS == 'cdna' else 160): f for op, f in enumerate(
                 (form(1, 1, 0, UPPER), form(2, 1, 0, UPPER), form(1, 0, 0, LOWER), form(1, 0, 0, UPPER),
                  form(1, 0, 1, LOWER), form(1, 0, 1, UPPER), form(2, 0, 0, LOWER), form(2, 0, 0, UPPER)))})


def special(w, second):
    """Instructions that the emulator lacks: moves of the program counter, cache maintenance, for which there is nothing to
    do here, loads to LDS, clocks, and private memory through the buffer in s[0:3]; permutations, which read beyond its
    registers for inactive lanes; loads and stores, whose addresses it takes for aligned; two
    atomics of 8 bytes, which store or return something else there. -> kind, argument, copy"""
    cdna = INSTRUCTIONS == 'cdna'
    if w >> 26 == 0x36 and (w >> (17 if cdna else 18) & 0xff) in ((62, 63) if cdna else (178, 179)):
        return PERMUTE, w >> (17 if cdna else 18) & 1, 0
    if w >> 26 == 0x36 and w >> (17 if cdna else 18) & 0xff in LDS_FORMS:
        return LDS_MEMORY, LDS_FORMS[w >> (17 if cdna else 18) & 0xff], 0
    if cdna and w >> 16 == 0xd1c1 and not w >> 11 & 0x1f and not second >> 27 & 3:  # v_mad_f32 without clamp and factor
        return MAD, 0, 0
    if cdna and w >> 25 == 22 and w & 0x1ff not in (249, 250):  # v_mac_f32, neither SDWA nor DPP
        return MAD, 1, 0
    if cdna and w >> 26 == 0x30 and w >> 18 & 0xff in (36, 37):  # s_memtime, s_memrealtime
        return CLOCK, w >> 6 & 0x7f | 8 << 8, 0
    if not cdna and w & 0xff80ffff == 0xbe804d83:  # s_sendmsg_rtn_b64 of MSG_RTN_GET_REALTIME
        return CLOCK, w >> 16 & 0x7f | 4 << 8, 0
    if w >> 23 == 0x17d and 0 <= (w >> 8 & 0xff) - (28 if cdna else 71) < 3:
        return MOVE_PC, w >> 16 & 0x7f | (w & 0xff) << 8, (w >> 8 & 0xff) - (28 if cdna else 71)
    if w & 0xff80ff00 == 0xbe800100 and w & 0xff in (0xeb, 0xed):  # s_mov_b64 of src_shared_base, src_private_base
        return MOVE_PC, w >> 16 & 0x7f | (w & 0xff) << 8, 3
    if INSTRUCTIONS == 'rdna3' and w & 0xffff0000 in (0xe0ac0000, 0xe0b00000):
        return SKIP, 8, 0
    if cdna and w & 0xfffc0000 in (0xe0a00000, 0xe0a40000, 0xe0fc0000):
        return SKIP, 8, 0
    if cdna and w >> 26 == 0x38 and not second >> 16 & 0x1f and w >> 18 & 0x7f in FORMS:
        return PRIVATE, FORMS[w >> 18 & 0x7f], 0
    if cdna and w >> 26 == 0x37 and w >> 14 & 3 == 2:
        op = w >> 18 & 0x7f
        if op == 42 or (op == 20 and w >> 13 & 1):
            return LDS_DMA, 1, 0
        if op in (125, 126):
            return LDS_DMA, 4 if op == 125 else 3, 0
    if w >> 26 == 0x37 and w >> (14 if cdna else 16) & 3 in (0, 2) and w >> 18 & 0x7f in FORMS:
        return FLAT, FORMS[w >> 18 & 0x7f], 0
    if w >> 26 == 0x37 and w >> (14 if cdna else 16) & 3 in (0, 2) and w >> 18 & 0x7f in ((97, 79) if cdna else (66,)):
        return ATOMIC, w >> 18 & 0x7f == 79, 0
    return None


def carries(w):
    """The scalar register of the carries that a vector addition or subtraction, or a 64-bit product, writes, or None."""
    cdna = INSTRUCTIONS == 'cdna'
    if w >> 25 in ((25, 26, 27, 28, 29, 30) if cdna else (32, 33, 34)):
        return 106  # VCC
    if w >> 26 == (0x34 if cdna else 0x35) and w >> 16 & 0x3ff in (
            (0x119, 0x11a, 0x11b, 0x11c, 0x11d, 0x11e, 0x1e8, 0x1e9) if cdna else
            (0x120, 0x121, 0x122, 0x2fe, 0x2ff, 0x300, 0x301, 0x302)):
        return w >> 8 & 0x7f
    return None


cache, compiler, kept = Cache(), None, []


def fill(pc, e):
    global compiler
    words = ctypes.string_at(pc, 16)
    w, second = int.from_bytes(words[:4], 'little'), int.from_bytes(words[4:8], 'little')
    found = special(w, second)
    if found:
        e.kind, e.argument, e.copy = found
        return
    # DPP whose destination is its source: the emulator would read lanes it has just written, so the copy reads v255.
    # Flat instructions of CDNA have no scalar base, yet the emulator takes the zero in its field for s[0:1]: the copy
    # says "off".
    altered = {DPP: second & ~0xff | 255, COPY: second | 0x7f0000}
    address = 0

    def copy(word):
        code = (ctypes.c_uint32 * 4)(w, word, 0xbf800000, 0xbf800000)
        kept.append(code)
        return ctypes.addressof(code)

    hit = cache.instruction(words)
    if hit:
        kind, code = hit
        run, buffers = cache.load(code)
        if kind in altered:
            address = copy(altered[kind])
    else:
        if compiler is None:
            compiler = Compiler(cache)
        inst = compiler.emulator.decode_inst(words, INSTRUCTIONS)
        kind = compiler.kind(inst)
        if type(inst).__name__ in ('VOP1_DPP16', 'VOP2_DPP16') and w >> 17 & 0xff == words[4]:
            kind = DPP
        if INSTRUCTIONS == 'cdna' and w >> 26 == 0x37 and w >> 14 & 3 == 0 and not second >> 16 & 0x7f:
            kind = COPY
        if kind in altered:
            address = copy(altered[kind])
        code, run, buffers = compiler.compile(address or pc)
        if code:
            cache.put(words[:inst.size()], kind, code)
    e.run, e.kind, e.copy, e.argument = run, kind & 0xff, address or kind >> 8, w >> 17 & 0xff
    if kind == RUN and carries(w) is not None:
        e.kind, e.argument = CARRY, carries(w)
    for i, buffer in enumerate(buffers):
        e.buffer[i] = buffer


def decode(pc, wave, e, error, error_bytes):
    try:
        fill(pc, e.contents)
        return 0
    except Exception as problem:  # pylint: disable=broad-except
        text = f'{type(problem).__name__}: {problem}'.encode()[:error_bytes - 1] + b'\0'
        ctypes.memmove(error, text, len(text))
        return 1


Decoder = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_uint32, ctypes.POINTER(Entry), ctypes.c_void_p,
                           ctypes.c_int)
decoder = Decoder(decode)
say(f'worker ready, {1000 * (time.time() - START):.0f} ms after Python started')
scheduler.serve.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64, Decoder]
sys.exit(scheduler.serve(SOCKET, MEMORY, BASE, SIZE, decoder))
