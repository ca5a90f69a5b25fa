// SPDX-License-Identifier: MIT
// A variable of the kernel is many values by the time an entry is compiled, some of them in the frame, at another place
// for each thread. At -O0 and -O1 every one of the user's variables has a home in the frame, where each of its values
// is stored; a pointer to the home of the thread that is being run is on the entry's stack. From -O2 on records follow
// values through copies and slots, and every region begins with where the variables are that its lanes come with.
#include "Debugging.h"
#include "Lanes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
using namespace llvm;

namespace cgx {

// Of an alloca: threes of a variable, which part of it, and where it was declared.
static constexpr const char *Declared = "cgx.declared";

// ---- what is said of variables, in records since LLVM 19 and in calls before it ----

#if LLVM_VERSION_MAJOR >= 19

using Record = DbgVariableRecord;
static bool isValue(Record &R) { return R.isDbgValue(); }
static bool isDeclare(Record &R) { return R.isDbgDeclare(); }
// Of a variable in memory, at a store to it (-O1 and higher).
static bool isAssign(Record &R) { return R.isDbgAssign(); }
static Value *addressOf(Record &R) { return R.getAddress(); }
static Instruction *placeOf(Record &R) { return const_cast<Instruction *>(R.getInstruction()); }

static SmallVector<Record *, 16> recordsIn(BasicBlock &B) {
  SmallVector<Record *, 16> All;
  for (Instruction &I : B)
    for (Record &R : filterDbgVars(I.getDbgRecordRange()))
      All.push_back(&R);
  return All;
}
static void declare(Value *At, DILocalVariable *V, DIExpression *E, const DILocation *Where, Instruction *Before) {
  Before->getParent()->insertDbgRecordBefore(Record::createDVRDeclare(At, V, E, Where), Before->getIterator());
}
static void sayValue(Value *Is, DILocalVariable *V, DIExpression *E, const DILocation *Where, BasicBlock *B,
                     BasicBlock::iterator At) {
  B->insertDbgRecordBefore(Record::createDbgVariableRecord(Is, V, E, Where), At);
}
void remapDebugRecords(Instruction &I, ValueToValueMapTy &Map) {
  RemapDbgRecordRange(I.getModule(), I.getDbgRecordRange(), Map, RF_IgnoreMissingLocals | RF_NoModuleLevelChanges);
}
static SmallVector<Record *, 4> recordsOf(Value *V) {
  SmallVector<Record *, 4> All;
#if LLVM_VERSION_MAJOR >= 22
  findDbgValues(V, All);
#else
  SmallVector<DbgValueInst *, 4> None;
  findDbgValues(None, V, &All);
#endif
  return All;
}

#else

using Record = DbgVariableIntrinsic;
static bool isAssign(const Record &R) { return isa<DbgAssignIntrinsic>(R); }
static bool isValue(const Record &R) { return isa<DbgValueInst>(R) && !isAssign(R); }
static bool isDeclare(const Record &R) { return isa<DbgDeclareInst>(R); }
static Value *addressOf(Record &R) {
  const auto *A = dyn_cast<DbgAssignIntrinsic>(&R);
  return A ? A->getAddress() : cast<DbgDeclareInst>(R).getAddress();
}
static Instruction *placeOf(Record &R) { return &R; }

static SmallVector<Record *, 16> recordsIn(BasicBlock &B) {
  SmallVector<Record *, 16> All;
  for (Instruction &I : B)
    if (auto *R = dyn_cast<Record>(&I))
      All.push_back(R);
  return All;
}
static void declare(Value *At, DILocalVariable *V, DIExpression *E, const DILocation *Where, Instruction *Before) {
  DIBuilder(*Before->getModule(), false).insertDeclare(At, V, E, Where, Before);
}
static void sayValue(Value *Is, DILocalVariable *V, DIExpression *E, const DILocation *Where, BasicBlock *B,
                     BasicBlock::iterator At) {
  DIBuilder DIB(*B->getModule(), false);
  if (At == B->end())
    DIB.insertDbgValueIntrinsic(Is, V, E, Where, B);
  else
    DIB.insertDbgValueIntrinsic(Is, V, E, Where, &*At);
}
void remapDebugRecords(Instruction &, ValueToValueMapTy &) {}
static SmallVector<DbgValueInst *, 4> recordsOf(Value *V) {
  SmallVector<DbgValueInst *, 4> All;
  findDbgValues(All, V);
  return All;
}

#endif

static SmallVector<Record *, 16> recordsIn(Function &F) {
  SmallVector<Record *, 16> All;
  for (BasicBlock &B : F)
    append_range(All, recordsIn(B));
  return All;
}

// ---- homes ----

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

static void addDeclaration(AllocaInst *A, const Record &R) {
  SmallVector<Metadata *, 4> Threes;
  if (const MDNode *N = A->getMetadata(Declared))
    Threes.append(N->op_begin(), N->op_end());
  Threes.append({R.getVariable(), R.getExpression(), R.getDebugLoc().get()});
  A->setMetadata(Declared, MDNode::get(A->getContext(), Threes));
}

void giveHomes(Function &F) {
  const DataLayout &DL = F.getParent()->getDataLayout();
  DenseMap<std::pair<DILocalVariable *, DILocation *>, AllocaInst *> Homes;
  for (Record *R : recordsIn(F)) {
    DILocalVariable *Var = R->getVariable();
    const auto Part = R->getExpression()->getFragmentInfo();
    const bool Plain = R->getExpression()->getNumElements() == (Part ? 3u : 0u);
    Value *V = isValue(*R) && !R->hasArgList() && Plain ? R->getVariableLocationOp(0) : nullptr;
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
      declare(Home, Var, DIExpression::get(F.getContext(), {}), R->getDebugLoc(), F.getEntryBlock().getTerminator());
    }
    Instruction *At = placeOf(*R);
    IRBuilder<> IR(isa<PHINode>(At) ? &*At->getParent()->getFirstInsertionPt() : At);
    IR.SetCurrentDebugLocation(R->getDebugLoc());
    Value *To = Offset ? IR.CreateConstInBoundsGEP1_64(IR.getInt8Ty(), Home, Offset / 8) : Home;
    IR.CreateAlignedStore(V, To, Align(1), true);
    R->eraseFromParent();
  }
}

void keepDeclarations(Function &F) {
  SmallPtrSet<const Value *, 8> Known; // by an assignment
  for (Record *R : recordsIn(F)) {
    if (!isDeclare(*R) && !isAssign(*R))
      continue;
    auto *A = dyn_cast_or_null<AllocaInst>(addressOf(*R));
    const unsigned Whole = R->getExpression()->getFragmentInfo() ? 3 : 0; // operands of the expression
    if (A && isUsers(R->getVariable()) && R->getExpression()->getNumElements() == Whole &&
        (isDeclare(*R) || Known.insert(A).second))
      addDeclaration(A, *R);
    R->eraseFromParent();
  }
}

void declareAt(AllocaInst *Storage, Value *At, IRBuilder<> &IR, StoragePointers *Pointers) {
  const MDNode *Threes = Storage->getMetadata(Declared);
  if (!Threes)
    return;
  Function *F = IR.GetInsertBlock()->getParent();
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
        declare(Pointer, D.Variable, D.Behind, D.Where, &Entry.back());
    }
    IR.CreateStore(At, Pointer, true);
    return;
  }
  for (const Declaration &D : All)
    sayValue(At, D.Variable, D.Behind, D.Where, IR.GetInsertBlock(), IR.GetInsertBlock()->end());
}

void sayAgain(Value *V, Instruction *Again) {
  for (auto *R : recordsOf(V))
    if (isValue(*R) && !R->hasArgList())
      sayValue(Again, R->getVariable(), R->getExpression(), R->getDebugLoc(), Again->getParent(),
               std::next(Again->getIterator()));
}

// ---- what variables are where a region begins ----

// How a value of a thread is computed again: a copy of its instruction, in no block; of each operand, how it is
// computed again, or which value it is.
struct VariableValues::Recipe {
  Instruction *Copy;
  SmallVector<std::pair<std::unique_ptr<Recipe>, WeakTrackingVH>, 2> Operands;

  Recipe(const Kernel &K, Instruction *I) : Copy(I->clone()) {
    for (Use &O : Copy->operands()) {
      auto *In = dyn_cast<Instruction>(O.get());
      const bool Again = In && !isa<AllocaInst>(In) && K.Divergent.contains(In);
      Operands.push_back({Again ? std::make_unique<Recipe>(K, In) : nullptr, In && !Again ? In : nullptr});
      if (In)
        O.set(PoisonValue::get(In->getType()));
    }
  }
  ~Recipe() { Copy->deleteValue(); }
};

VariableValues::VariableValues(Kernel &K) : K(K) {
  if (K.F.getSubprogram() && !K.Debugged)
    find();
}
VariableValues::~VariableValues() = default;

namespace {
struct Said {
  Value *V; // null: unknown
  DIExpression *Expression;
  const DILocation *Where;
  bool operator==(const Said &O) const { return V == O.V && Expression == O.Expression; }
};
using State = MapVector<DebugVariable, Said>;
} // namespace

static DebugVariable keyOf(const Record &R) {
  return DebugVariable(R.getVariable(), R.getExpression(), R.getDebugLoc()->getInlinedAt());
}

// What is known where both ways meet.
static void meet(State &Now, const State &From) {
  for (auto &Known : Now)
    if (auto At = From.find(Known.first); At == From.end() || !(At->second == Known.second))
      Known.second.V = nullptr;
  for (const auto &Known : From)
    Now.insert({Known.first, {nullptr, Known.second.Expression, Known.second.Where}});
}

void VariableValues::find() {
  DenseMap<BasicBlock *, State> Within, AtEnd; // what a block says, and with what comes into it
  State All;
  for (BasicBlock &B : K.F)
    for (Record *R : recordsIn(B)) {
      if (!isValue(*R) || !isUsers(R->getVariable()) || holdsThread(R->getVariable()->getType()))
        continue;
      Value *V = R->hasArgList() ? nullptr : R->getVariableLocationOp(0);
      const Said Is{V && !isa<UndefValue>(V) ? V : nullptr, R->getExpression(), R->getDebugLoc()};
      Within[&B][keyOf(*R)] = Is;
      All.insert({keyOf(*R), {nullptr, Is.Expression, Is.Where}});
    }
  if (All.empty())
    return;
  SetVector<BasicBlock *> Work;
  SmallPtrSet<BasicBlock *, 16> Seen;
  for (BasicBlock *B : ReversePostOrderTraversal<Function *>(&K.F))
    Work.insert(B);
  while (!Work.empty()) {
    BasicBlock *B = Work.front();
    Work.erase(Work.begin());
    State Now;
    bool First = true;
    for (BasicBlock *P : predecessors(B)) {
      if (!Seen.contains(P))
        continue;
      if (First)
        Now = AtEnd[P];
      else
        meet(Now, AtEnd[P]);
      First = false;
    }
    for (auto &Known : Within[B])
      Now[Known.first] = Known.second;
    const State &Before = AtEnd[B];
    const bool Same = Seen.contains(B) && Before.size() == Now.size() && all_of(Now, [&](const auto &Known) {
                        auto At = Before.find(Known.first);
                        return At != Before.end() && At->second == Known.second;
                      });
    Seen.insert(B);
    if (Same)
      continue;
    AtEnd[B] = std::move(Now);
    Work.insert(succ_begin(B), succ_end(B));
  }
  for (unsigned I = 0; I <= K.Boundaries.size(); I++) {
    State Now = All;
    for (const auto &Known : AtEnd[I ? K.Boundaries[I - 1].Block : K.Entry])
      Now[Known.first] = Known.second;
    AtStart.emplace_back();
    for (const auto &Known : Now) {
      const Said &Is = Known.second;
      auto *In = dyn_cast_or_null<Instruction>(Is.V);
      const bool Again = In && In->getParent() != K.Entry && K.Divergent.contains(In) && canRematerialise(K, In);
      if (Again && !Recipes.count(In))
        Recipes[In] = std::make_unique<Recipe>(K, In);
      AtStart.back().push_back({const_cast<DILocalVariable *>(Known.first.getVariable()), Is.Expression, Is.Where, Is.V,
                                Again ? Recipes[In].get() : nullptr});
    }
  }
}

bool VariableValues::canRepeat(const Recipe &R) const {
  return all_of(R.Operands, [&](const auto &O) {
    auto *I = dyn_cast_or_null<Instruction>(static_cast<Value *>(O.second));
    return (!O.first || canRepeat(*O.first)) && (!I || (I->getParent() == K.Entry && !isa<AllocaInst>(I)));
  });
}

Value *VariableValues::repeat(const Recipe &R, Instruction *At) {
  Instruction *C = R.Copy->clone();
  for (unsigned I = 0; I < R.Operands.size(); I++) {
    const auto &O = R.Operands[I];
    if (O.first)
      C->setOperand(I, repeat(*O.first, At));
    else if (Value *V = O.second)
      C->setOperand(I, V);
  }
  C->insertInto(At->getParent(), At->getIterator());
  K.Divergent.insert(C);
  return C;
}

// What is the same for all threads: itself, or what its slot holds. Null: it is not kept.
static Value *uniformAt(const Kernel &K, Value *V, Instruction *At) {
  auto *I = dyn_cast_or_null<Instruction>(V);
  if (!I || (I->getParent() == K.Entry && !isa<AllocaInst>(I)))
    return V;
  AllocaInst *Slot = K.SlotOf.lookup(I);
  if (!Slot || !is_contained(K.UniformSlots, Slot))
    return nullptr;
  IRBuilder<> IR(At);
  return IR.CreateTrunc(IR.CreateLoad(Slot->getAllocatedType(), Slot), I->getType());
}

void VariableValues::say() {
  for (unsigned I = 0; I < AtStart.size(); I++) {
    BasicBlock *Start = I ? K.Boundaries[I - 1].After : K.Start;
    const bool Lanes = K.PerLane || !isScalar(K, regionFrom(K, Start));
    Instruction *At = &*Start->getFirstInsertionPt();
    for (const Location &L : AtStart[I]) {
      auto Say = [&](Value *V, DIExpression *E, Instruction *Before) {
        sayValue(V, L.Variable, E, L.Where, Before->getParent(), Before->getIterator());
      };
      const unsigned Whole = L.Expression->getFragmentInfo() ? 3 : 0;
      Value *V = L.V;
      AllocaInst *Slot = V ? K.SlotOf.lookup(V) : nullptr;
      if (Lanes && Slot && is_contained(K.ThreadSlots, Slot) && L.Expression->getNumElements() == Whole) {
        Say(Slot, DIExpression::prepend(L.Expression, DIExpression::DerefBefore), At);
      } else if (Lanes && L.Again && canRepeat(*L.Again)) {
        Say(repeat(*L.Again, At), L.Expression, At);
      } else if (Value *Uniform = uniformAt(K, V, At)) {
        Say(Uniform, L.Expression, At);
      } else { // of the lane before, or of nobody
        Say(PoisonValue::get(Type::getInt32Ty(K.F.getContext())), L.Expression, At);
      }
    }
  }
}

// A loop that is vectorised loses what is said in it. What is the same for all its lanes can be said in front of it.
void sayInFrontOfLoops(LoopInfo &LI) {
  for (Loop *L : LI.getLoopsInPreorder()) {
    BasicBlock *Front = L->getLoopPreheader();
    const MDNode *Id = L->getLoopID();
    if (!Front || !Id || !findOptionMDForLoopID(L->getLoopID(), "llvm.loop.parallel_accesses"))
      continue;
    State InLoop;
    for (BasicBlock *B : L->blocks())
      for (Record *R : recordsIn(*B)) {
        Value *V = isValue(*R) && !R->hasArgList() ? R->getVariableLocationOp(0) : nullptr;
        if (!V || isa<UndefValue>(V))
          continue;
        const Said Is{L->isLoopInvariant(V) ? V : nullptr, R->getExpression(), R->getDebugLoc()};
        auto [At, New] = InLoop.insert({keyOf(*R), Is});
        if (!New && !(At->second == Is))
          At->second.V = nullptr;
      }
    for (const auto &Known : InLoop)
      if (Known.second.V)
        sayValue(Known.second.V, const_cast<DILocalVariable *>(Known.first.getVariable()), Known.second.Expression,
                 Known.second.Where, Front, Front->getTerminator()->getIterator());
  }
}

} // namespace cgx
