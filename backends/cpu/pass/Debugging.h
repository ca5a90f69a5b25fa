// SPDX-License-Identifier: MIT
// What a debugger is told of a kernel's variables in its compiled entry.
#ifndef CGX_DEBUGGING_H
#define CGX_DEBUGGING_H
#include "Marks.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include <memory>

namespace cgx {

// At -O0 and -O1, of an entry whose variables have become values: gives each of the user's variables a home in memory,
// which holds whatever value the variable has at a line. Homes are private arrays of a thread like any other.
void giveHomes(llvm::Function &F);
bool isHome(const llvm::Value *At);
// Variables that live in memory: what their declarations say is kept at their storage, which every region addresses
// anew.
void keepDeclarations(llvm::Function &F);
// Storage is At for the code behind IR's place. Pointers, if given: At is kept on the entry's stack, where a debugger
// finds it at every line.
using StoragePointers = llvm::DenseMap<llvm::AllocaInst *, llvm::AllocaInst *>;
void declareAt(llvm::AllocaInst *Storage, llvm::Value *At, llvm::IRBuilder<> &IR, StoragePointers *Pointers);
// Records of a copied instruction.
void remapDebugRecords(llvm::Instruction &I, llvm::ValueToValueMapTy &Map);
// Again is V, read back from its slot: variables that were V are Again.
void sayAgain(llvm::Value *V, llvm::Instruction *Again);

// Optimised code, before it is vectorised.
void sayInFrontOfLoops(llvm::LoopInfo &LI);

// Variables of optimised code where regions begin: found while values still lie where they were computed, and said when
// it is known what is kept of them and how. What one lane leaves behind is not said to be the next one's.
class VariableValues {
public:
  explicit VariableValues(Kernel &K); // before values are kept
  ~VariableValues();
  void say(); // afterwards

private:
  struct Recipe;
  struct Location {
    llvm::DILocalVariable *Variable;
    llvm::DIExpression *Expression;
    const llvm::DILocation *Where;
    llvm::WeakVH V; // null: unknown
    const Recipe *Again;
  };
  Kernel &K;
  llvm::SmallVector<llvm::SmallVector<Location, 8>, 8> AtStart; // of region I
  llvm::DenseMap<const llvm::Value *, std::unique_ptr<Recipe>> Recipes;

  void find();
  bool canRepeat(const Recipe &R) const;
  llvm::Value *repeat(const Recipe &R, llvm::Instruction *At);
};

} // namespace cgx
#endif
