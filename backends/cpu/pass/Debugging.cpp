// SPDX-License-Identifier: MIT
// A variable of the kernel is many values by the time an entry is compiled, some of them in the frame, at another place
// for each thread. At -O0 every one of the user's variables has a home in the frame, where each of its values is
// stored; a pointer to the home of the thread that is being run is on the entry's stack. From -O1 on records follow
// values through copies and slots, as far as they go.
#include "Debugging.h"
#include "Marks.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
using namespace llvm;

namespace cgx {

// Of an alloca: threes of a variable, which part of it, and where it was declared.
static constexpr const char *Declared = "cgx.declared";

#if LLVM_VERSION_MAJOR >= 19

bool isHome(const Value *At) {
  const auto *A = dyn_cast<AllocaInst>(getUnderlyingObject(At));
  return A && A->getMetadata(Declared) && all_of(A->users(), [](const User *U) {
           const auto *S = dyn_cast<StoreInst>(U);
           return S && S->isVolatile() && S->getPointerOperand() == U->getOperand(1);
         });
}

static bool isUsers(const DILocalVariable *V) {
  const DISubprogram *P = V->getScope()->getSubprogram();
  return P && !P->getName().starts_with("cgx__");
}

// Groups and the thread must stay in registers: what is known of them decides what the entry's text is.
static bool holdsThread(const DIType *T) {
  while (const auto *D = dyn_cast_or_null<DIDerivedType>(T))
    T = D->getBaseType();
  const auto *S = dyn_cast_or_null<DICompositeType>(T);
  if (!S || S->getTag() == dwarf::DW_TAG_enumeration_type)
    return false;
  if (S->getTag() == dwarf::DW_TAG_array_type)
    return holdsThread(S->getBaseType());
  return S->getName().starts_with("cgx_cpu_") || any_of(S->getElements(), [&](const DINode *E) {
           const auto *Member = dyn_cast<DIDerivedType>(E);
           const auto *Pointer = Member ? dyn_cast_or_null<DIDerivedType>(Member->getBaseType()) : nullptr;
           return Pointer && Pointer->getTag() == dwarf::DW_TAG_pointer_type && Member->getName() == "t" &&
                  holdsThread(Pointer);
         });
}

static void addDeclaration(AllocaInst *A, const DbgVariableRecord &R) {
  SmallVector<Metadata *, 4> Threes;
  if (const MDNode *N = A->getMetadata(Declared))
    Threes.append(N->op_begin(), N->op_end());
  Threes.append({R.getVariable(), R.getExpression(), R.getDebugLoc().get()});
  A->setMetadata(Declared, MDNode::get(A->getContext(), Threes));
}

static SmallVector<DbgVariableRecord *, 16> recordsIn(Function &F) {
  SmallVector<DbgVariableRecord *, 16> All;
  for (Instruction &I : instructions(F))
    for (DbgVariableRecord &R : filterDbgVars(I.getDbgRecordRange()))
      All.push_back(&R);
  return All;
}

void giveHomes(Function &F) {
  const DataLayout &DL = F.getParent()->getDataLayout();
  DIBuilder DIB(*F.getParent(), false);
  DenseMap<std::pair<DILocalVariable *, DILocation *>, AllocaInst *> Homes;
  for (DbgVariableRecord *R : recordsIn(F)) {
    DILocalVariable *Var = R->getVariable();
    const auto Part = R->getExpression()->getFragmentInfo();
    const bool Plain = R->getExpression()->getNumElements() == (Part ? 3u : 0u);
    Value *V = R->isDbgValue() && !R->hasArgList() && Plain ? R->getVariableLocationOp(0) : nullptr;
    const auto Bits = Var->getSizeInBits();
    if (!V || !Bits || !isUsers(Var) || holdsThread(Var->getType()) || isa<UndefValue>(V))
      continue;
    const uint64_t Room = Part ? Part->SizeInBits : *Bits, Offset = Part ? Part->OffsetInBits : 0;
    if (DL.getTypeSizeInBits(V->getType()) != Room || Room % 8 || Offset % 8)
      continue;
    AllocaInst *&Home = Homes[{Var, R->getDebugLoc().getInlinedAt()}];
    if (!Home) {
      IRBuilder<> Top(&F.getEntryBlock(), F.getEntryBlock().begin());
      Home = Top.CreateAlloca(ArrayType::get(Top.getInt8Ty(), *Bits / 8), nullptr, Var->getName() + ".home");
      Home->setAlignment(Align(16));
      DIB.insertDeclare(Home, Var, DIB.createExpression(), R->getDebugLoc(), F.getEntryBlock().getTerminator());
    }
    auto *At = const_cast<Instruction *>(R->getInstruction());
    IRBuilder<> IR(isa<PHINode>(At) ? &*At->getParent()->getFirstInsertionPt() : At);
    IR.SetCurrentDebugLocation(R->getDebugLoc());
    Value *To = Offset ? IR.CreateConstInBoundsGEP1_64(IR.getInt8Ty(), Home, Offset / 8) : Home;
    IR.CreateAlignedStore(V, To, Align(1), true);
    R->eraseFromParent();
  }
}

void keepDeclarations(Function &F) {
  for (DbgVariableRecord *R : recordsIn(F)) {
    if (!R->isDbgDeclare())
      continue;
    auto *A = dyn_cast_or_null<AllocaInst>(R->getAddress());
    const unsigned Whole = R->getExpression()->getFragmentInfo() ? 3 : 0; // operands of the expression
    if (A && isUsers(R->getVariable()) && R->getExpression()->getNumElements() == Whole)
      addDeclaration(A, *R);
    R->eraseFromParent();
  }
}

void declareAt(AllocaInst *Storage, Value *At, IRBuilder<> &IR, StoragePointers *Pointers) {
  const MDNode *Threes = Storage->getMetadata(Declared);
  if (!Threes)
    return;
  Function *F = IR.GetInsertBlock()->getParent();
  DIBuilder DIB(*F->getParent(), false);
  struct Declaration {
    DILocalVariable *Variable;
    DIExpression *Behind;
    DILocation *Where;
  };
  SmallVector<Declaration, 2> All;
  for (unsigned I = 0; I < Threes->getNumOperands(); I += 3)
    All.push_back({cast<DILocalVariable>(Threes->getOperand(I)),
                   DIExpression::prepend(cast<DIExpression>(Threes->getOperand(I + 1)), DIExpression::DerefBefore),
                   cast<DILocation>(Threes->getOperand(I + 2))});
  if (Pointers) {
    AllocaInst *&Pointer = (*Pointers)[Storage];
    if (!Pointer) {
      BasicBlock &Entry = F->getEntryBlock();
      IRBuilder<> Top(&Entry, Entry.begin());
      Pointer = Top.CreateAlloca(At->getType());
      for (const Declaration &D : All)
        DIB.insertDeclare(Pointer, D.Variable, D.Behind, D.Where, &Entry.back());
    }
    IR.CreateStore(At, Pointer, true);
    return;
  }
  for (const Declaration &D : All)
    DIB.insertDbgValueIntrinsic(At, D.Variable, D.Behind, D.Where, IR.GetInsertBlock());
}

void remapDebugRecords(Instruction &I, ValueToValueMapTy &Map) {
  RemapDbgRecordRange(I.getModule(), I.getDbgRecordRange(), Map, RF_IgnoreMissingLocals | RF_NoModuleLevelChanges);
}

void sayAgain(Value *V, Instruction *Again) {
  SmallVector<DbgValueInst *, 4> None;
  SmallVector<DbgVariableRecord *, 4> Records;
  findDbgValues(None, V, &Records);
  for (DbgVariableRecord *R : Records) {
    if (R->hasArgList())
      continue;
    DbgVariableRecord *Copy = R->clone();
    Copy->replaceVariableLocationOp(V, Again);
    Again->getParent()->insertDbgRecordAfter(Copy, Again);
  }
}

#else // dbg.value is an instruction, and copied like one

void giveHomes(Function &) {}
bool isHome(const Value *) { return false; }
void keepDeclarations(Function &) {}
void declareAt(AllocaInst *, Value *, IRBuilder<> &, StoragePointers *) {}
void remapDebugRecords(Instruction &, ValueToValueMapTy &) {}
void sayAgain(Value *, Instruction *) {}

#endif

} // namespace cgx
