// SPDX-License-Identifier: MIT
#include "Marks.h"
#include "llvm/ADT/StringSwitch.h"
using namespace llvm;

namespace cgx {

static constexpr StringLiteral EntryPrefix = "cgx__compiled_";

Mark markOf(const Value *V) {
  const auto *C = dyn_cast<CallInst>(V);
  const Function *F = C ? C->getCalledFunction() : nullptr;
  if (!F || !F->getName().starts_with("cgx__mark_"))
    return Mark::None;
  return StringSwitch<Mark>(F->getName().drop_front(strlen("cgx__mark_")))
      .Case("kernel", Mark::Kernel)
      .Case("rank", Mark::Rank)
      .Case("x", Mark::X)
      .Case("y", Mark::Y)
      .Case("z", Mark::Z)
      .Case("packed", Mark::Packed)
      .Case("same", Mark::Same)
      .Case("value", Mark::Value)
      .Case("step", Mark::Step)
      .Case("refuse", Mark::Refuse)
      .Case("look", Mark::Look)
      .Case("arrive", Mark::Arrive)
      .Case("unit", Mark::Unit)
      .Default(Mark::None);
}

bool isThreadIndex(const Value *V) {
  const Mark M = markOf(V);
  return M == Mark::Rank || M == Mark::X || M == Mark::Y || M == Mark::Z;
}

// C++ puts more around the name of a static function.
bool isEntry(const Function &F) {
  if (F.isDeclaration() || F.arg_size() != 2)
    return false;
  for (const BasicBlock &B : F)
    for (const Instruction &I : B)
      if (isMark(&I, Mark::Kernel))
        return F.getName().contains(EntryPrefix);
  return false;
}

std::string kernelName(const Function &F) {
  StringRef Name = F.getName();
  Name = Name.drop_front(Name.find(EntryPrefix) + EntryPrefix.size());
  Name = Name.split('_').second; // the level
  if (F.getName().starts_with("_Z"))
    Name = Name.take_front(Name.find("P13cgx_cpu_block"));
  return Name.str();
}

} // namespace cgx
