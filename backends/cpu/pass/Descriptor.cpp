// SPDX-License-Identifier: MIT
// What the rest of the object learns: frame sizes and refused entries in the kernel's table of entries, and the remark
// in its descriptor (api/cgx/abi.h).
#include "Descriptor.h"
#include "llvm/IR/Constants.h"
using namespace llvm;

namespace cgx {

static Constant *withField(Constant *Struct, unsigned Index, Constant *Value) {
  SmallVector<Constant *, 16> Fields;
  for (unsigned I = 0; I < Struct->getType()->getStructNumElements(); I++)
    Fields.push_back(I == Index ? Value : Struct->getAggregateElement(I));
  return ConstantStruct::get(cast<StructType>(Struct->getType()), Fields);
}

// cgx__entry: level, engine, frame_bytes, run.
enum EntryField { EntryFrameBytes = 2, EntryRun = 3 };

GlobalVariable *patchEntry(Module &M, Function &F, uint64_t FrameBytes, bool Refused) {
  for (GlobalVariable &G : M.globals()) {
    if (!G.hasInitializer())
      continue;
    auto *Rows = dyn_cast<ConstantArray>(G.getInitializer());
    if (!Rows || !Rows->getType()->getElementType()->isStructTy() ||
        Rows->getType()->getElementType()->getStructNumElements() != 4)
      continue;
    bool Found = false;
    SmallVector<Constant *, 8> New;
    for (const Use &U : Rows->operands()) {
      auto *Row = cast<Constant>(U.get());
      Constant *Run = Row->getAggregateElement(EntryRun);
      if (Run && Run->stripPointerCasts() == &F) {
        Found = true;
        if (Refused)
          Row = withField(Row, EntryRun, ConstantPointerNull::get(cast<PointerType>(Run->getType())));
        else
          Row = withField(Row, EntryFrameBytes, ConstantInt::get(Type::getInt32Ty(M.getContext()), FrameBytes));
      }
      New.push_back(Row);
    }
    if (Found) {
      G.setInitializer(ConstantArray::get(Rows->getType(), New));
      return &G;
    }
  }
  return nullptr;
}

void setRemark(Module &M, GlobalVariable *Entries, StringRef Text) {
  for (GlobalVariable &G : M.globals()) {
    auto *S = G.hasInitializer() ? dyn_cast<ConstantStruct>(G.getInitializer()) : nullptr;
    if (!S || is_contained(S->operands(), Entries) == false)
      continue;
    // The remark is the only pointer that is still null behind the table of entries.
    bool Behind = false;
    for (unsigned I = 0; I < S->getNumOperands(); I++) {
      Behind |= S->getOperand(I) == Entries;
      if (!Behind || !isa<ConstantPointerNull>(S->getOperand(I)))
        continue;
      Constant *Chars = ConstantDataArray::getString(M.getContext(), Text);
      auto *String = new GlobalVariable(M, Chars->getType(), true, GlobalValue::PrivateLinkage, Chars, "cgx.remark");
      String->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
      G.setInitializer(withField(S, I, String));
      return;
    }
  }
}

} // namespace cgx
