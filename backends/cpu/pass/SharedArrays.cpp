// SPDX-License-Identifier: MIT
// Shared arrays whose addresses go no further than the entry.
#include "SharedArrays.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
using namespace llvm;

namespace cgx {

namespace {
struct SharedArray {
  uint64_t Bytes;
  SmallVector<LoadInst *, 2> Places; // of where libcgx has put it
  SmallVector<GetElementPtrInst *, 2> Addresses;
  SmallVector<Instruction *, 32> Accesses;
};

// Whether what is at an address is read and written by the entry alone, and by what instructions.
bool collectAccesses(Value *Address, SmallVectorImpl<Instruction *> &Accesses) {
  SmallVector<Value *, 16> Work{Address};
  SmallPtrSet<Value *, 32> Seen;
  while (!Work.empty()) {
    Value *V = Work.pop_back_val();
    if (!Seen.insert(V).second)
      continue;
    for (Use &U : V->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      if (isa<GetElementPtrInst>(I) || isa<PHINode>(I) || isa<SelectInst>(I)) {
        Work.push_back(I);
        continue;
      }
      const bool Here = isa<LoadInst>(I) || isa<MemIntrinsic>(I) ||
                        (isa<StoreInst>(I) && U.getOperandNo() == StoreInst::getPointerOperandIndex()) ||
                        (isa<AtomicRMWInst>(I) && U.getOperandNo() == AtomicRMWInst::getPointerOperandIndex()) ||
                        (isa<AtomicCmpXchgInst>(I) && U.getOperandNo() == AtomicCmpXchgInst::getPointerOperandIndex());
      if (!Here)
        return false;
      Accesses.push_back(I);
    }
  }
  return true;
}

bool isShared(const Function &F, const Value *V) {
  auto *L = dyn_cast<LoadInst>(V);
  APInt Offset(64, 0);
  return L &&
         L->getPointerOperand()->stripAndAccumulateConstantOffsets(F.getParent()->getDataLayout(), Offset, true) ==
             F.getArg(0) &&
         Offset == BlockShared;
}

SmallVector<SharedArray, 4> privateArrays(Function &F) {
  const DataLayout &Layout = F.getParent()->getDataLayout();
  SmallMapVector<GlobalVariable *, SharedArray, 4> All;
  for (Instruction &I : instructions(F)) {
    auto *L = dyn_cast<LoadInst>(&I);
    if (!L)
      continue;
    APInt Offset(64, 0);
    auto *Site =
        dyn_cast<GlobalVariable>(L->getPointerOperand()->stripAndAccumulateConstantOffsets(Layout, Offset, true));
    if (Site && Site->getSection() == "cgx_sites")
      All[Site].Places.push_back(L);
  }
  SmallVector<SharedArray, 4> Private;
  for (auto &[Site, A] : All) {
    auto *Size = dyn_cast_or_null<ConstantInt>(
        Site->hasInitializer() ? Site->getInitializer()->getAggregateElement(SiteSize) : nullptr);
    if (!Size)
      continue;
    A.Bytes = Size->getZExtValue();
    const bool Known = all_of(A.Places, [&, &A = A](LoadInst *L) {
      return all_of(L->users(), [&](User *U) {
        auto *G = dyn_cast<GetElementPtrInst>(U);
        if (!G || G->getNumOperands() != 2 || G->getOperand(1) != L || !G->getSourceElementType()->isIntegerTy(8) ||
            !isShared(F, G->getPointerOperand()))
          return false;
        A.Addresses.push_back(G);
        return collectAccesses(G, A.Accesses);
      });
    });
    if (Known && !A.Addresses.empty())
      Private.push_back(A);
  }
  return Private;
}

// A store of every thread to its own element.
bool isOwnElement(const SharedArray &A, const StoreInst *S) {
  auto *G = dyn_cast<GetElementPtrInst>(S->getPointerOperand());
  if (!G || G->getNumOperands() != 2 || !is_contained(A.Addresses, G->getPointerOperand()) ||
      G->getSourceElementType() != S->getValueOperand()->getType())
    return false;
  const Value *Index = G->getOperand(1);
  if (isa<ZExtInst>(Index) || isa<SExtInst>(Index))
    Index = cast<CastInst>(Index)->getOperand(0);
  return isMark(Index, Mark::Rank);
}

// Whether on every way from a barrier of the grid all threads write the array before any reads it.
bool isWrittenAnew(const Kernel &K, const SharedArray &A, BasicBlock *From) {
  SmallVector<BasicBlock *, 16> Work{From};
  SmallPtrSet<BasicBlock *, 32> Seen;
  while (!Work.empty()) {
    BasicBlock *B = Work.pop_back_val();
    if (!Seen.insert(B).second)
      continue;
    bool Written = false;
    for (Instruction &I : *B)
      if (is_contained(A.Accesses, &I)) {
        if (!isa<StoreInst>(I))
          return false;
        Written |= !K.DivergentBlocks.contains(B);
        if (Written)
          break;
      }
    if (!Written)
      Work.append(succ_begin(B), succ_end(B));
  }
  return true;
}
} // namespace

void keepSharedLocal(Function &F, unsigned Threads) {
  enum { MostThreads = 256, MostBytes = 8192 }; // of a stack that is no smaller than 16 KiB
  if (Threads > MostThreads || F.hasFnAttribute(Attribute::SanitizeAddress))
    return;
  uint64_t Bytes = 0;
  for (SharedArray &S : privateArrays(F)) {
    if (Bytes + S.Bytes > MostBytes)
      continue;
    Bytes += S.Bytes;
    IRBuilder<> IR(&F.getEntryBlock(), F.getEntryBlock().begin());
    AllocaInst *A = IR.CreateAlloca(ArrayType::get(IR.getInt8Ty(), S.Bytes));
    A->setAlignment(Align(64));
    for (GetElementPtrInst *G : S.Addresses) {
      G->replaceAllUsesWith(A);
      G->eraseFromParent();
    }
    for (Instruction *I : S.Accesses) // of a type that another access does not have it would be as if it were not there
      I->setMetadata(LLVMContext::MD_tbaa, nullptr);
    for (LoadInst *L : S.Places)
      L->eraseFromParent();
  }
}

void shareBetweenBlocks(Kernel &K) {
  for (SharedArray &S : privateArrays(K.F)) {
    const Type *Element = nullptr; // one for all stores: a narrower one would leave bytes of a wider one's as they were
    const bool OwnElements = all_of(S.Accesses, [&](Instruction *I) {
      auto *Store = dyn_cast<StoreInst>(I);
      if (!Store)
        return isa<LoadInst>(I);
      if (!Element)
        Element = Store->getValueOperand()->getType();
      return Element == Store->getValueOperand()->getType() && isOwnElement(S, Store);
    });
    if (!OwnElements || !all_of(K.Boundaries, [&](const Boundary &B) {
          return !B.Step || kindOf(B.Step) != WaitGrid || isWrittenAnew(K, S, B.After);
        }))
      continue;
    for (GetElementPtrInst *G : S.Addresses) {
      IRBuilder<> IR(G);
      Value *At = IR.CreateConstInBoundsGEP1_64(IR.getInt8Ty(), K.F.getArg(0), BlockScratch);
      G->setOperand(0, IR.CreateLoad(G->getType(), At));
    }
  }
}

} // namespace cgx
