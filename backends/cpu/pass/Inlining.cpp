// SPDX-License-Identifier: MIT
// Helpers that wait - functions with marks in them, and their callers - are inlined into entries, whatever they are
// declared.
#include "Inlining.h"
#include "Marks.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"
using namespace llvm;

namespace cgx {

void forceInlining(Module &M) {
  SmallPtrSet<Function *, 16> Wait;
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (Function &F : M) {
      if (F.isDeclaration() || Wait.contains(&F))
        continue;
      for (Instruction &I : instructions(F)) {
        auto *C = dyn_cast<CallBase>(&I);
        Function *Callee = C ? C->getCalledFunction() : nullptr;
        if (markOf(&I) != Mark::None || (Callee && Wait.contains(Callee))) {
          Wait.insert(&F);
          Changed = true;
          break;
        }
      }
    }
  }
  for (Function *F : Wait)
    if (!isEntry(*F) && F->hasLocalLinkage()) {
      F->removeFnAttr(Attribute::OptimizeNone); // at -O0: it goes with noinline
      F->removeFnAttr(Attribute::NoInline);
      F->addFnAttr(Attribute::AlwaysInline);
    }
}

namespace {
struct Site {
  CallBase *Call;
  int From; // which of the functions inlined before it came with; -1: it stood in the entry
};
} // namespace

void inlineHelpers(Function &Entry) {
  SmallVector<Site, 32> Work;
  SmallVector<std::pair<Function *, int>, 32> Inlined; // and where its call came from
  for (Instruction &I : instructions(Entry))
    if (auto *C = dyn_cast<CallInst>(&I))
      Work.push_back({C, -1});
  while (!Work.empty()) {
    const Site S = Work.pop_back_val();
    Function *Callee = S.Call->getCalledFunction();
    if (!Callee || Callee->isDeclaration() || !S.Call->hasFnAttr(Attribute::AlwaysInline) ||
        S.Call->getAttributes().hasFnAttr(Attribute::NoInline) || !isInlineViable(*Callee).isSuccess())
      continue;
    bool Recursive = Callee == &Entry;
    for (int At = S.From; At >= 0; At = Inlined[At].second)
      Recursive |= Inlined[At].first == Callee;
    InlineFunctionInfo Info;
    if (Recursive || !InlineFunction(*S.Call, Info, true).isSuccess())
      continue;
    Inlined.push_back({Callee, S.From});
    for (CallBase *C : Info.InlinedCallSites)
      Work.push_back({C, int(Inlined.size()) - 1});
  }
}

} // namespace cgx
