// SPDX-License-Identifier: MIT
// Branches that a range of lanes takes: t < d, x == 0, i < n and y == 7. The loop over the lanes is then cut at the
// range's ends, so that no lane asks.
#ifndef CGX_GUARDS_H
#define CGX_GUARDS_H
#include "Lanes.h"
#include "llvm/IR/InstrTypes.h"

namespace cgx {

// A thread's place in its block, compared with what is the same for all: Index Predicate Bound - sum of Offsets; or,
// with a mask of low bits, Index & Mask == Bound.
struct RangeCondition {
  Mark Index;
  uint32_t Mask = 0;
  llvm::CmpInst::Predicate Predicate;
  bool ZeroExtended; // Bound, where the types differ
  llvm::Value *Bound;
  llvm::SmallVector<llvm::Value *, 2> Offsets;
};

struct Guard {
  llvm::BranchInst *Branch = nullptr;
  unsigned Inside = 0; // successor that lanes in the range take
  llvm::SmallVector<RangeCondition, 2> Conditions;
  // Only lanes of one place in the row can be in the range.
  bool oneLane() const;
  // Every how many lanes of the range one is meant: t % 32 == 0.
  uint32_t step() const;
  // Whether the range's end, or its begin, is that of the row.
  bool toEnd() const;
  bool fromBegin() const;
};

// Whether lanes of a range take one way at the end of B and the others another.
bool findGuard(const Kernel &K, llvm::BasicBlock *B, Guard &G);
// A branch and the way that lanes go there.
struct Way {
  Guard G;
  unsigned Successor;
};
// The next branch at which the loop over those lanes of R is best cut that go Ways. Its bounds can be computed in front
// of the region.
bool chooseGuard(const Kernel &K, const Region &R, llvm::ArrayRef<Way> Ways, Guard &G);
// Whether lanes that go Ways do nothing at all in R.
bool idles(const Region &R, llvm::ArrayRef<Way> Ways);
// The rows of a plane in which the guard can hold, as values behind IR's place, in front of the loop over them; null:
// all.
LaneRows emitRows(const Kernel &K, const Region &R, const Guard &G, llvm::IRBuilder<> &IR);
// The part of lanes From to To - 1 of a row (null: its begin and its end) that is in the guard's range, as values
// behind IR's place; null: all of them. OfRows: the row is one of emitRows.
std::pair<llvm::Value *, llvm::Value *> emitRange(const Kernel &K, const Region &R, const Guard &G, const LaneLoop &L,
                                                  llvm::Value *From, llvm::Value *To, bool OfRows,
                                                  llvm::IRBuilder<> &IR);
// Ends regions in front of and behind branches that few lanes take or that hold a region up from being vectorised.
void splitAtGuards(Kernel &K);

} // namespace cgx
#endif
