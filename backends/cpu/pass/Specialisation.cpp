// SPDX-License-Identifier: MIT
// Copies of an entry in which the block's size is a constant: loops over the lanes have a known number of rounds, rows
// vanish, and steps are unrolled.
#include "Specialisation.h"
#include "SharedArrays.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
using namespace llvm;

namespace cgx {

namespace {
struct BlockSize {
  unsigned X, Multiple, Y; // X: 0, a multiple of that; Y: 0, any
  const char *Name;
};
const BlockSize Lines[] = {{256, 0, 1, "256"}, {0, 64, 1, "64n"}}, Planes[] = {{16, 0, 16, "16x16"}, {0, 32, 0, "32n"}};

// Where in the block's description a value lies; nothing if it is read from elsewhere.
std::optional<uint64_t> offsetOf(const Kernel &K, const Function &F, const Value *V) {
  auto *L = dyn_cast<LoadInst>(V);
  if (!L || !L->getType()->isIntegerTy(32))
    return std::nullopt;
  APInt Offset(64, 0);
  const Value *From = L->getPointerOperand()->stripAndAccumulateConstantOffsets(K.layout(), Offset, true);
  if (From != F.getArg(0))
    return std::nullopt;
  return Offset.getZExtValue();
}

// Functions of libcgx that get the block and do not look at what its threads exchange.
bool leavesExchange(const CallBase &C) {
  const Function *Callee = C.getCalledFunction();
  return Callee && (Callee->getName() == "cgx__cpu_misuse_of" || Callee->getName() == "cgx__cpu_wide_sync");
}

class Specialiser {
  Kernel &K;
  uint64_t At[4]; // x, y, z, threads

  // Rows of a multiple of S.Multiple threads go in parts of so many: loops whose number of rounds is known, that are
  // unrolled in whole. A loop of four vectors, for each of eight rows, ends when the processor does not expect it to,
  // in some runs of a program and not in others.
  void cutRows(Function &F, const BlockSize &S, ArrayRef<Value *> Lengths) {
    for (BasicBlock &Next : make_early_inc_range(F)) {
      auto *Back = dyn_cast<BranchInst>(Next.getTerminator());
      MDNode *Id = Back ? Back->getMetadata(LLVMContext::MD_loop) : nullptr;
      if (!Id || !findOptionMDForLoopID(Id, "llvm.loop.parallel_accesses") ||
          findOptionMDForLoopID(Id, "llvm.loop.interleave.count"))
        continue;
      auto *Compare = dyn_cast<ICmpInst>(Back->getCondition());
      auto *Step = Compare ? dyn_cast<BinaryOperator>(Compare->getOperand(0)) : nullptr;
      auto *X = Step ? dyn_cast<PHINode>(Step->getOperand(0)) : nullptr;
      if (!X || !is_contained(Lengths, Compare->getOperand(1)) || X->getNumIncomingValues() != 2)
        continue;
      const int From = X->getIncomingBlock(0) == &Next;
      auto *Begin = dyn_cast<ConstantInt>(X->getIncomingValue(From)), *By = dyn_cast<ConstantInt>(Step->getOperand(1));
      if (!Begin || !Begin->isZero() || !By || !By->isOne())
        continue;
      BasicBlock *Lanes = X->getParent(), *Behind = Back->getSuccessor(1), *Before = X->getIncomingBlock(From);
      BasicBlock *Part = BasicBlock::Create(F.getContext(), Lanes->getName() + ".part", &F, Lanes),
                 *PartEnd = BasicBlock::Create(F.getContext(), Lanes->getName() + ".partend", &F, Behind);
      Before->getTerminator()->replaceSuccessorWith(Lanes, Part);
      Behind->replacePhiUsesWith(&Next, PartEnd);
      IRBuilder<> IR(Part);
      PHINode *First = IR.CreatePHI(X->getType(), 2, "first");
      IR.CreateBr(Lanes);
      IR.SetInsertPoint(Lanes, Lanes->getFirstInsertionPt());
      Value *Whole = IR.CreateAdd(First, X, "x", true, true);
      X->replaceUsesWithIf(Whole, [&](Use &U) { return U.getUser() != Whole && U.getUser() != Step; });
      X->setIncomingBlock(From, Part);
      Value *Length = Compare->getOperand(1);
      Compare->setOperand(1, IR.getInt32(S.Multiple));
      Back->setSuccessor(1, PartEnd);
      IR.SetInsertPoint(PartEnd);
      Value *NextFirst = IR.CreateAdd(First, IR.getInt32(S.Multiple), "", true, true);
      IR.CreateCondBr(IR.CreateICmpULT(NextFirst, Length), Part, Behind);
      First->addIncoming(IR.getInt32(0), Before), First->addIncoming(NextFirst, PartEnd);
    }
  }

  Function *copyFor(const BlockSize &S) {
    SmallVector<Value *, 4> Lengths;
    ValueToValueMapTy Map;
    Function *Copy = CloneFunction(&K.F, Map);
    Copy->setName(K.F.getName() + "." + S.Name);
    Copy->setLinkage(GlobalValue::InternalLinkage);
    for (Instruction &I : make_early_inc_range(instructions(*Copy))) {
      const auto Offset = offsetOf(K, *Copy, &I);
      if (!Offset)
        continue;
      IRBuilder<> IR(I.getNextNode());
      Value *Is = nullptr;
      if (*Offset == At[2]) {
        Is = IR.getInt32(1);
      } else if (*Offset == At[1] && S.Y) {
        Is = IR.getInt32(S.Y);
      } else if (*Offset != At[0] && *Offset != At[3]) {
        continue;
      } else if (S.X) {
        Is = IR.getInt32(*Offset == At[0] ? S.X : S.X * S.Y);
      } else { // says so
        I.setMetadata(LLVMContext::MD_range,
                      MDBuilder(IR.getContext()).createRange(APInt(32, S.Multiple), APInt(32, MaxThreads + 1)));
        Is = IR.CreateAnd(&I, IR.getInt32(~(S.Multiple - 1)));
        if (*Offset == At[0])
          Lengths.push_back(Is);
      }
      I.replaceUsesWithIf(Is, [&](Use &U) { return U.getUser() != Is; });
    }
    if (K.Planar && !S.X)
      cutRows(*Copy, S, Lengths);
    if (S.X) {
      keepExchangeLocal(*Copy, S.X * S.Y, K.ExchangeBytes);
      if (!K.Resumes)
        keepSharedLocal(*Copy, S.X * S.Y);
    }
    return Copy;
  }
  Value *read(IRBuilder<> &IR, uint64_t Offset) {
    return IR.CreateLoad(IR.getInt32Ty(), IR.CreateConstInBoundsGEP1_64(IR.getInt8Ty(), K.F.getArg(0), Offset));
  }

  // The entry itself only asks, so it saves no registers.
  void dispatch(ArrayRef<BlockSize> Sizes, ArrayRef<Function *> Copies) {
    for (BasicBlock &B : K.F)
      B.dropAllReferences();
    while (!K.F.empty())
      K.F.begin()->eraseFromParent();
    K.Entry = BasicBlock::Create(K.F.getContext(), "", &K.F);
    IRBuilder<> IR(K.Entry);
    auto Go = [&](Function *To) {
      CallInst *C = IR.CreateCall(To, {K.F.getArg(0), K.F.getArg(1)});
      C->setTailCall();
      if (DISubprogram *P = K.F.getSubprogram())
        C->setDebugLoc(DILocation::get(IR.getContext(), P->getLine(), 0, P));
      IR.CreateRet(C);
    };
    Value *X = read(IR, At[0]), *Y = read(IR, At[1]), *Z = read(IR, At[2]);
    for (unsigned I = 0; I < Sizes.size(); I++) {
      const BlockSize &S = Sizes[I];
      BasicBlock *Call = BasicBlock::Create(IR.getContext(), S.Name, &K.F),
                 *Other = BasicBlock::Create(IR.getContext(), "other", &K.F);
      Value *Fits = S.X ? IR.CreateICmpEQ(X, IR.getInt32(S.X))
                        : IR.CreateICmpEQ(IR.CreateAnd(X, IR.getInt32(S.Multiple - 1)), IR.getInt32(0));
      if (S.Y)
        Fits = IR.CreateAnd(Fits, IR.CreateICmpEQ(Y, IR.getInt32(S.Y)));
      IR.CreateCondBr(IR.CreateAnd(Fits, IR.CreateICmpEQ(Z, IR.getInt32(1))), Call, Other);
      IR.SetInsertPoint(Call);
      Go(Copies[I]);
      IR.SetInsertPoint(Other);
    }
    Go(Copies.back());
  }

public:
  explicit Specialiser(Kernel &K) : K(K) {}
  SmallVector<Function *, 4> run() {
    SmallVector<Function *, 4> Copies;
    for (unsigned I = 0; I < 4; I++) {
      const auto Offset = offsetOf(K, K.F, std::array<Value *, 4>{K.NX, K.NY, K.NZ, K.Threads}[I]);
      if (!Offset)
        return Copies; // declared at the kernel
      At[I] = *Offset;
    }
    enum { SmallAtMost = 400 }; // instructions. With more of them the overhead of a row does not count
    ArrayRef<BlockSize> Sizes = K.Planar ? ArrayRef(Planes) : ArrayRef(Lines);
    if (K.Planar && K.F.getInstructionCount() > SmallAtMost)
      Sizes = Sizes.drop_back();
    for (const BlockSize &S : Sizes)
      Copies.push_back(copyFor(S));
    ValueToValueMapTy Map;
    Copies.push_back(CloneFunction(&K.F, Map));
    Copies.back()->setName(K.F.getName() + ".any");
    Copies.back()->setLinkage(GlobalValue::InternalLinkage);
    dispatch(Sizes, Copies);
    return Copies;
  }
};
} // namespace

void keepExchangeLocal(Function &F, unsigned Threads, uint64_t Bytes) {
  enum { MostThreads = 256, Apart = 2048 + 64 }; // as in schedule.c
  if (Threads > MostThreads)
    return;
  const DataLayout &Layout = F.getParent()->getDataLayout();
  SmallVector<LoadInst *, 8> Loads[2];
  for (Instruction &I : instructions(F)) {
    if (auto *C = dyn_cast<CallBase>(&I); C && is_contained(C->args(), F.getArg(0)) && !leavesExchange(*C))
      return;
    auto *L = dyn_cast<LoadInst>(&I);
    if (!L || !L->getType()->isPointerTy())
      continue;
    APInt Offset(64, 0);
    if (L->getPointerOperand()->stripAndAccumulateConstantOffsets(Layout, Offset, true) != F.getArg(0))
      continue;
    if (Offset == BlockIn || Offset == BlockOut)
      Loads[Offset == BlockOut].push_back(L);
  }
  // Steps move values of four bytes as integers that threads left and read as floats. In memory that others may see
  // that goes; what lies on the stack nobody would have written, by the types.
  if (!Loads[0].empty() || !Loads[1].empty())
    for (Instruction &I : instructions(F))
      I.setMetadata(LLVMContext::MD_tbaa, nullptr);
  IRBuilder<> IR(&F.getEntryBlock(), F.getEntryBlock().begin());
  for (auto &Of : Loads) {
    if (Of.empty())
      continue;
    AllocaInst *A = IR.CreateAlloca(ArrayType::get(IR.getInt8Ty(), Threads * Bytes + Apart));
    A->setAlignment(Align(64));
    for (LoadInst *L : Of) {
      L->replaceAllUsesWith(A);
      L->eraseFromParent();
    }
  }
}

SmallVector<Function *, 4> specialise(Kernel &K) { return Specialiser(K).run(); }

} // namespace cgx
