// SPDX-License-Identifier: MIT
// Copies of an entry in which the block's size is a constant: loops over the lanes have a known number of rounds, rows
// vanish, and steps are unrolled.
#include "Specialisation.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"
using namespace llvm;

namespace cgx {

namespace {
struct BlockSize {
  unsigned X, Y; // X a multiple of 64: 0
  const char *Name;
};
const BlockSize Lines[] = {{256, 1, "256"}, {0, 1, "64n"}}, Planes[] = {{16, 16, "16x16"}};

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

class Specialiser {
  Kernel &K;
  uint64_t At[4]; // x, y, z, threads

  Function *copyFor(const BlockSize &S) {
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
      if (*Offset == At[2])
        Is = IR.getInt32(1);
      else if (*Offset == At[1])
        Is = IR.getInt32(S.Y);
      else if (*Offset != At[0] && *Offset != At[3])
        continue;
      else if (S.X)
        Is = IR.getInt32(*Offset == At[0] ? S.X : S.X * S.Y);
      else
        Is = IR.CreateAnd(&I, IR.getInt32(~63u)); // says so
      I.replaceUsesWithIf(Is, [&](Use &U) { return U.getUser() != Is; });
    }
    return Copy;
  }
  Value *read(IRBuilder<> &IR, uint64_t Offset) {
    return IR.CreateLoad(IR.getInt32Ty(), IR.CreateConstInBoundsGEP1_64(IR.getInt8Ty(), K.F.getArg(0), Offset));
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
    const ArrayRef<BlockSize> Sizes = K.Planar ? ArrayRef(Planes) : ArrayRef(Lines);
    for (const BlockSize &S : Sizes)
      Copies.push_back(copyFor(S));
    BasicBlock *General = K.Entry->splitBasicBlock(K.Entry->getFirstNonPHIOrDbgOrAlloca(), "general");
    K.Entry->getTerminator()->eraseFromParent();
    IRBuilder<> IR(K.Entry);
    Value *X = read(IR, At[0]), *Y = read(IR, At[1]), *Z = read(IR, At[2]);
    for (unsigned I = 0; I < Sizes.size(); I++) {
      const BlockSize &S = Sizes[I];
      BasicBlock *Call = BasicBlock::Create(IR.getContext(), S.Name, &K.F),
                 *Other = BasicBlock::Create(IR.getContext(), "other", &K.F);
      Value *Fits = S.X ? IR.CreateICmpEQ(X, IR.getInt32(S.X))
                        : IR.CreateICmpEQ(IR.CreateAnd(X, IR.getInt32(63)), IR.getInt32(0));
      Fits = IR.CreateAnd(Fits, IR.CreateICmpEQ(Y, IR.getInt32(S.Y)));
      IR.CreateCondBr(IR.CreateAnd(Fits, IR.CreateICmpEQ(Z, IR.getInt32(1))), Call, Other);
      IR.SetInsertPoint(Call);
      CallInst *C = IR.CreateCall(Copies[I], {K.F.getArg(0), K.F.getArg(1)});
      if (DISubprogram *P = K.F.getSubprogram())
        C->setDebugLoc(DILocation::get(IR.getContext(), P->getLine(), 0, P));
      IR.CreateRet(C);
      IR.SetInsertPoint(Other);
    }
    IR.CreateBr(General);
    return Copies;
  }
};
} // namespace

SmallVector<Function *, 4> specialise(Kernel &K) { return Specialiser(K).run(); }

} // namespace cgx
