// SPDX-License-Identifier: MIT
// What both modes emit: frame addresses, regions as copies of the blocks between boundaries, loops over the lanes.
#ifndef CGX_LANES_H
#define CGX_LANES_H
#include "Debugging.h"
#include "Marks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace cgx {

// Lays out the frame: gives each thread slot and private array its base, an address that lane 0 owns, in the entry
// block.
class FrameLayout {
  llvm::MapVector<llvm::AllocaInst *, llvm::Value *> Base;
  llvm::Value *Lanes; // in the frame
  bool Debugged;
  StoragePointers Pointers; // to those of the lane that is run

public:
  explicit FrameLayout(Kernel &K);
  // An array with an element for each lane.
  llvm::Value *addArray(Kernel &K, llvm::Type *Element, const llvm::Twine &Name);
  // An array with as many bytes, rounded up, for each unit.
  llvm::Value *addUnitArray(Kernel &K, uint64_t &Bytes, const llvm::Twine &Name);
  // Memory of the block.
  llvm::Value *addShared(Kernel &K, uint64_t Bytes, const llvm::Twine &Name);
  // Maps slots and arrays to those of a lane; Declare: and tells debuggers.
  void mapLane(llvm::IRBuilder<> &IR, llvm::Value *Lane, llvm::ValueToValueMapTy &Map, bool Declare = false);
};

// Blocks from Start on up to the boundaries, and where they lead.
struct Region {
  llvm::BasicBlock *Start;
  llvm::SmallVector<llvm::BasicBlock *, 8> Blocks;
  llvm::SmallPtrSet<llvm::BasicBlock *, 16> Inside;
  llvm::SmallVector<unsigned, 2> Exits; // boundaries
  bool Returns = false;
};
Region regionFrom(const Kernel &K, llvm::BasicBlock *Start);

// Whether the region does the same for all threads and has no effect but on uniform slots: once will do.
bool isScalar(const Kernel &K, const Region &R);

// A loop over all threads of the block, x innermost, a row cut into one or more ranges.
struct LaneLoop {
  llvm::BasicBlock *Head, *Row, *Exit;
  llvm::Value *First, *Y, *Z; // rank of the row's first thread, as of Row's end
  llvm::MDNode *Accesses;     // those of all bodies, which do not depend on each other
  llvm::BasicBlock *Tail, *RowEnd;
  unsigned Interleave = 0; // vectors of lanes to run side by side; 0: as many as the compiler finds right
  unsigned Unroll = 0;     // rounds to run as one where there are no vectors; 0: none
};
// The body of one range goes between Body's end and Latch.
struct LaneRange {
  llvm::BasicBlock *Body, *Latch;
  llvm::Value *Rank, *X, *Y, *Z, *Lane; // Lane is the rank as an index
  llvm::Value *Unit = nullptr;          // rank of the first lane of its unit
};
// Of each plane the rows from Begin to End - 1, which may be none; null: all. Step at a time, of which End - Begin is a
// multiple.
struct LaneRows {
  llvm::Value *Begin = nullptr, *End = nullptr;
  unsigned Step = 1;
};
LaneLoop createLaneLoop(Kernel &K, const llvm::Twine &Name, const LaneRows &Rows);
// Only the rows that have lanes First to End - 1 in them.
LaneLoop createLaneLoopOf(Kernel &K, const llvm::Twine &Name, llvm::Value *First, llvm::Value *End);
// Lanes First to First + Count - 1, where nobody asks for more than the rank, or X, Y and Z as long as ByRows.
LaneLoop createUnitLoop(Kernel &K, const llvm::Twine &Name, llvm::Value *First, llvm::Value *Count, bool ByRows);
// Adds the loop over lanes From to To - 1 of the row; null: its begin and its end. OneLane: there are no more than
// that.
LaneRange addRange(Kernel &K, LaneLoop &L, llvm::Value *From, llvm::Value *To, uint32_t Step, const llvm::Twine &Name);
// After the last range.
void closeLaneLoop(LaneLoop &L);

// Copies the region's blocks into the function. Map says where boundaries, slots and arrays are.
void cloneRegion(Kernel &K, const Region &R, llvm::ValueToValueMapTy &Map, const llvm::Twine &Suffix,
                 llvm::SmallVectorImpl<llvm::BasicBlock *> &Copies);
// In a lane's copies: marks become the lane's values, memory accesses independent, returns go to End.
void finishLane(const LaneRange &L, llvm::MDNode *Accesses, llvm::ArrayRef<llvm::BasicBlock *> Copies);
// Copies what boundary B computes for its mark behind IR's place; the copy of the mark, or null.
llvm::CallInst *cloneBoundary(const Boundary &B, llvm::IRBuilder<> &IR, llvm::ValueToValueMapTy &Map);

// The step at the end of a region, for the groups among COUNT threads from FIRST on.
void emitStep(llvm::IRBuilder<> &IR, llvm::CallInst *Mark, bool Packed, llvm::Value *First, llvm::Value *Count);
enum { LaneReady = 0x10000, LaneEnded = -1 }; // states, as in cpu_group.h
// What libcgx is told of boundaries; and the size of a mark's group if it is known, else 0.
llvm::Constant *boundaryTable(Kernel &K);
uint64_t constantSize(const llvm::CallInst *Mark);
// A look or an arrival of COUNT lanes from FIRST on, in the place of its mark.
void lowerOperation(llvm::CallInst *Mark, llvm::Value *First, llvm::Value *Count);
// Removes the original blocks, of which copies have been made, and the slots they used.
void removeOriginals(Kernel &K, llvm::ArrayRef<llvm::BasicBlock *> Originals);

} // namespace cgx
#endif
