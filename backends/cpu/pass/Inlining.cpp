// SPDX-License-Identifier: MIT
// Helpers that wait - functions with marks in them, and their callers - are inlined into entries, whatever they are
// declared.
#include "Inlining.h"
#include "Marks.h"
#include "llvm/IR/InstIterator.h"
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

} // namespace cgx
