// SPDX-License-Identifier: MIT
// The marks that cpu_compiled.h leaves in compiled entries, and a kernel as the passes hand it on.
#ifndef CGX_MARKS_H
#define CGX_MARKS_H
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <string>

namespace cgx {

enum class Mark { None, Kernel, Rank, X, Y, Z, Packed, Same, Value, Step, Refuse, Look, Arrive, Unit };
Mark markOf(const llvm::Value *V);
inline bool isMark(const llvm::Value *V, Mark M) { return markOf(V) == M; }
// Differs from thread to thread: the thread's place in its block.
bool isThreadIndex(const llvm::Value *V);
// Whether F is an entry to compile, and the name of its kernel.
bool isEntry(const llvm::Function &F);
std::string kernelName(const llvm::Function &F);

// Operands of a step mark; operands of the function it names follow from them.
enum StepOperand {
  StepFunction,
  StepBlock,
  StepLine,
  StepSize,
  StepKind,
  StepOperation,
  StepType,
  StepCode,
  StepBytes,
  StepApply,
  StepTarget,
  StepScope,
  StepMembers
};
// Values of StepKind, of cpu_group.h.
enum { OperationWait = 19 };
enum WaitKind { WaitBlock, WaitTile, WaitCoalesced, WaitCluster, WaitGrid, WaitPoll, WaitMbarrier, WaitCoalescing };
// Of a step; ~0: found out at run time.
inline unsigned kindOf(const llvm::CallInst *Step) {
  auto *C = llvm::dyn_cast<llvm::ConstantInt>(Step->getArgOperand(StepKind));
  return C ? C->getZExtValue() : ~0u;
}

// Places of pointers in the block's description, of cpu.h.
enum { BlockShared = 96, BlockIn = 160, BlockOut = 168 };
// And of where an entry goes on that waits for the grid: behind it are the wait's line and its operation.
enum { BlockResume = 232 };
// And of a place for shared arrays that all blocks of a worker have in common.
enum { BlockScratch = 248 };
// What an entry returns: its threads have ended, it was not made for the launch, they wait for the grid.
enum { EntryEnded = -1, EntryDeclines = -2, EntryWaits = -3 };
// Of the size among the elements of a cgx__site, of abi.h.
enum { SiteSize = 2 };

// Operands of what is done at an mbarrier by a thread, or once for its unit: the function's follow from them.
enum LookOperand { LookFunction, LookBlock, LookRank, LookBarrier, LookLine };
enum ArriveOperand { ArriveFunction, ArriveBlock, ArriveRank, ArriveBarrier, ArriveCount };

// Where a region ends and, in After, the next begins. Every boundary has a block of its own, which holds the mark, or
// nothing where a region ends for the compiler's sake.
struct Boundary {
  llvm::BasicBlock *Block, *After;
  llvm::CallInst *Step;
};

enum { MaxThreads = 1024 }; // of a block
enum { UnitLanes = 32 };    // aligned in their ranks; the last of a block may be fewer

struct Kernel {
  llvm::Function &F;
  // Block size, as values of the entry block.
  llvm::Value *NX = nullptr, *NY = nullptr, *NZ = nullptr, *Threads = nullptr;
  // Memory for what lives from one region to the next.
  llvm::Value *Frame = nullptr, *Block = nullptr;
  llvm::BasicBlock *Entry = nullptr, *Start = nullptr;
  // Condition under which the launch is not for this entry; null: never.
  llvm::Value *Declines = nullptr;
  llvm::SmallVector<Boundary, 8> Boundaries;
  llvm::DenseMap<llvm::BasicBlock *, unsigned> BoundaryOf;
  // Values that differ from thread to thread, and blocks that not all threads run at the same time.
  llvm::SmallPtrSet<const llvm::Value *, 32> Divergent;
  llvm::SmallPtrSet<llvm::BasicBlock *, 16> DivergentBlocks;
  // Values that live across boundaries.
  llvm::SmallVector<llvm::AllocaInst *, 8> UniformSlots, ThreadSlots, PrivateArrays;
  llvm::DenseMap<const llvm::Value *, llvm::AllocaInst *> SlotOf;
  uint64_t FrameBytes = 0;
  // The largest value that threads give to a collective or get from it.
  uint64_t ExchangeBytes = 8;
  unsigned Regions = 0, Rematerialised = 0, LaneLoops = 0;
  // Lanes go their own ways: every value that lives across a boundary has a slot for each thread.
  bool PerLane = false;
  // Units of lanes go their own ways: what is divergent differs inside of some unit.
  bool Units = false;
  // Threads ask for their place in a row and for the row's.
  bool Planar = false;
  // Where all wait for the grid the entry returns, and is called again.
  bool Resumes = false;
  // Rows that share what they read are run several at a time, which takes code.
  bool Jams = false;
  // Variables can be seen at every line, at whatever cost.
  const bool Debugged;
  std::string Refusal;

  Kernel(llvm::Function &F, bool Debugged) : F(F), Debugged(Debugged) {}
  bool refused() const { return !Refusal.empty(); }
  void refuse(std::string Why) {
    if (Refusal.empty())
      Refusal = std::move(Why);
  }
  const llvm::DataLayout &layout() const { return F.getParent()->getDataLayout(); }
};

// Preparation.cpp: brings the entry into the form the other passes expect. False: refused, or nothing waits in it.
bool prepare(Kernel &K);
// Uniformity.cpp
void analyseUniformity(Kernel &K);
// What is the same in a unit and follows from its threads' places is computed from the unit's.
void rewriteForUnits(Kernel &K);
// Boundaries.cpp
void splitAtMarks(Kernel &K);
// Around what is done at an mbarrier once for a unit.
void splitAtUnitOperations(Kernel &K);
void splitAtUniformBranches(Kernel &K);
// Where regions meet, so that no line is in two of them.
void splitAtJoins(Kernel &K);
void splitAtCommon(Kernel &K);
// Frame.cpp: afterwards no value lives across a boundary but in slots.
void spillAcrossBoundaries(Kernel &K);
// Whether V is cheap to compute again from the thread's index and from what is the same for all.
bool canRematerialise(const Kernel &K, const llvm::Value *V);
// UniformMode.cpp: every region a loop over the lanes.
void emitUniform(Kernel &K);
// PerLaneMode.cpp: every region a loop over the lanes that are ready for it, and libcgx says which.
void emitPerLane(Kernel &K);
// UnitMode.cpp: the same for units of lanes.
void emitUnits(Kernel &K);
// Whether a look or an arrival is one for the unit.
bool isUnitOperation(const Kernel &K, const llvm::Instruction &I);

} // namespace cgx
#endif
