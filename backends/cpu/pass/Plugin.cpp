// SPDX-License-Identifier: MIT
// The plug-in: its place in clang's pipeline, and the order of its passes.
#include "Debugging.h"
#include "Descriptor.h"
#include "Guards.h"
#include "Inlining.h"
#include "Marks.h"
#include "SharedArrays.h"
#include "Simplification.h"
#include "Specialisation.h"
#include "Strides.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#if __has_include("llvm/Plugins/PassPlugin.h") // since LLVM 22
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif
#include "llvm/Transforms/Utils/Cloning.h"
using namespace llvm;
using namespace cgx;

namespace {

bool isModeMark(const Value *V) { return isMark(V, Mark::Packed) || isMark(V, Mark::Same) || isMark(V, Mark::Value); }

// Marks that ask for the mode.
void replaceModeMarks(Kernel &K) {
  const bool Packed = !K.PerLane && !K.Units;
  SmallVector<std::pair<WeakTrackingVH, WeakTrackingVH>, 8> Answers;
  for (Instruction &I : instructions(K.F))
    if (auto *C = dyn_cast<CallInst>(&I)) {
      const Mark M = markOf(C);
      const bool Same = Packed && C->arg_size() && !K.Divergent.contains(C->getArgOperand(0));
      if (M == Mark::Packed)
        Answers.push_back({C, ConstantInt::get(C->getType(), Packed)});
      else if (M == Mark::Same)
        Answers.push_back({C, ConstantInt::get(C->getType(), Same)});
      else if (M == Mark::Value)
        Answers.push_back({C, Same ? C->getArgOperand(0) : ConstantInt::get(C->getType(), 0)});
    }
  for (auto &A : Answers)
    if (auto *C = dyn_cast_or_null<CallInst>(static_cast<Value *>(A.first)); C && isModeMark(C))
      replaceAndRecursivelySimplify(C, A.second);
  analyseUniformity(K);
}

// Steps run once for a block, at the entry's level.
void inlineSteps(Function &F) {
  SmallVector<CallInst *, 8> Calls;
  for (Instruction &I : instructions(F))
    if (auto *C = dyn_cast<CallInst>(&I))
      if (Function *Callee = C->getCalledFunction())
        if (isStep(*Callee))
          Calls.push_back(C);
  for (CallInst *C : Calls) {
    InlineFunctionInfo Info;
    InlineFunction(*C, Info);
  }
}

// Whether threads can go their own ways to some mark, or what a mark asks for differs from thread to thread.
bool needsLanes(const Kernel &K) {
  return any_of(K.Boundaries, [&](const Boundary &B) {
    return K.DivergentBlocks.contains(B.Block) ||
           (B.Step && (kindOf(B.Step) == WaitCoalesced || kindOf(B.Step) >= WaitPoll ||
                       any_of(B.Step->args(), [&](const Use &U) { return K.Divergent.contains(U.get()); })));
  });
}

// What lanes on their own ways cannot do.
void checkLanes(Kernel &K) {
  for (const Boundary &B : K.Boundaries) {
    auto *Operation = dyn_cast<ConstantInt>(B.Step->getArgOperand(StepOperation));
    if (kindOf(B.Step) == ~0u || !Operation || !isa<ConstantInt>(B.Step->getArgOperand(StepLine)))
      K.refuse("a group of a kind that is not known here");
    else if (Operation->getZExtValue() == OperationWait)
      K.refuse("barrier_arrive and barrier_wait where threads go different ways");
    else if (!isa<Constant>(B.Step->getArgOperand(StepFunction)))
      K.refuse("a collective that is not known here");
  }
}

// Whether the lanes of a unit stay together up to every mark.
bool fitsUnits(const Kernel &K) {
  return all_of(K.Boundaries, [&](const Boundary &B) {
    const unsigned Kind = kindOf(B.Step);
    auto *Size = dyn_cast<ConstantInt>(B.Step->getArgOperand(StepSize));
    return !K.DivergentBlocks.contains(B.Block) && Kind != WaitCoalesced && Kind != WaitCoalescing &&
           (Kind != WaitTile || Size);
  });
}

// Looks and arrivals that each thread makes for itself.
void lowerLaneOperations(Kernel &K) {
  for (Instruction &I : make_early_inc_range(instructions(K.F)))
    if (auto *C = dyn_cast<CallInst>(&I);
        C && (isMark(C, Mark::Look) || isMark(C, Mark::Arrive)) && !isUnitOperation(K, *C)) {
      Value *Rank = C->getArgOperand(isMark(C, Mark::Look) ? unsigned(LookRank) : unsigned(ArriveRank));
      lowerOperation(C, Rank, ConstantInt::get(Rank->getType(), 1));
    }
  analyseUniformity(K);
}

// Whether the entry can return where it waits for the grid. What its stack holds is gone then, debuggers see it there,
// and blocks that decline have to do so before any other has begun.
bool canResume(const Kernel &K) {
  auto waits = [&](unsigned Kind) {
    return any_of(K.Boundaries, [&](const Boundary &B) { return B.Step && kindOf(B.Step) == Kind; });
  };
  return !K.PerLane && !K.Units && !K.Debugged && !K.Declines && waits(WaitGrid) && !waits(WaitCluster) && !waits(~0u);
}

// What became of the entry, in words.
std::string compile(Kernel &K) {
  if (!prepare(K))
    return K.refused() ? "fibers: " + K.Refusal : "loop: never waits";
  splitAtMarks(K);
  analyseUniformity(K);
  K.PerLane = needsLanes(K);
  if (K.PerLane)
    checkLanes(K);
  if (K.refused())
    return "fibers: " + K.Refusal;
  if (K.PerLane && !K.Debugged) {
    K.PerLane = false;
    K.Units = true;
    analyseUniformity(K);
  }
  replaceModeMarks(K);
  if (K.Units && !fitsUnits(K)) {
    K.PerLane = true;
    K.Units = false;
    analyseUniformity(K);
  }
  lowerLaneOperations(K);
  for (const Boundary &B : K.Boundaries) {
    enum { Most = 32 }; // CGX__VALUE_BYTES
    auto *Bytes = B.Step ? dyn_cast<ConstantInt>(B.Step->getArgOperand(StepBytes)) : nullptr;
    K.ExchangeBytes = std::max<uint64_t>(K.ExchangeBytes, Bytes ? Bytes->getZExtValue() : B.Step ? Most : 0);
  }
  if (K.Units) {
    rewriteForUnits(K);
    splitAtUnitOperations(K);
  }
  if (!K.PerLane) {
    splitAtUniformBranches(K);
    if (!K.Debugged) // a line is what a thread does
      splitAtCommon(K);
    if (!K.Units)
      splitAtGuards(K);
  }
  if (K.Debugged)
    splitAtJoins(K);
  K.Resumes = canResume(K);
  if (K.Resumes)
    shareBetweenBlocks(K);
  VariableValues Variables(K);
  spillAcrossBoundaries(K);
  Variables.say();
  if (K.PerLane)
    emitPerLane(K);
  else if (K.Units)
    emitUnits(K);
  else
    emitUniform(K);
  return std::string("compiled: ") +
         (K.PerLane ? "threads on their own ways, "
          : K.Units ? "units of 32 threads on their own ways, "
                    : "uniform, ") +
         std::to_string(K.LaneLoops) + " loops over the threads, " + std::to_string(K.FrameBytes) +
         " bytes a thread between them";
}

// Where the level of a fibers' entry is no constant the text of compiled entries is still there. It never runs.
bool removeMarks(Module &M) {
  bool Any = false;
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (markOf(&I) != Mark::None) {
        if (!I.getType()->isVoidTy())
          I.replaceAllUsesWith(Constant::getNullValue(I.getType()));
        I.eraseFromParent();
        Any = true;
      }
  return Any;
}

// A refused entry's code is not wanted, only its name.
void empty(Function &F) {
  F.deleteBody();
  F.setLinkage(GlobalValue::InternalLinkage);
  LLVMContext &C = F.getContext();
  new UnreachableInst(C, BasicBlock::Create(C, "", &F));
}

// The baseline of x86-64 is there for machines that are hardly found any more: it has the general entry alone.
bool isWide(const Function &F) {
  return !Triple(F.getParent()->getTargetTriple()).isX86() ||
         F.getFnAttribute("target-features").getValueAsString().contains("+avx2");
}

// CGX_PASS_DUMP=before,after: entries as the passes find and as they leave them.
bool dumps(StringRef When) {
  const char *Asked = getenv("CGX_PASS_DUMP");
  return Asked && StringRef(Asked).contains(When);
}

// CGX_PASS_GENERAL=1: no entries for sizes of blocks, to find out what they cost (bench/compile_cost.py).
bool generalOnly() { return getenv("CGX_PASS_GENERAL") != nullptr; }

class CompileEntries : public PassInfoMixin<CompileEntries> {
  OptimizationLevel Level;
  StringSet<> Reported;

public:
  explicit CompileEntries(OptimizationLevel Level) : Level(Level) {}
  static bool isRequired() { return true; }
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    SmallVector<Function *, 16> Entries, Steps;
    for (Function &F : M) {
      if (isEntry(F)) {
        Entries.push_back(&F);
      } else if (isStep(F)) { // at -O0 its variables would not fit on a thread's stack
        Steps.push_back(&F);
        simplifyStep(F, FAM);
      }
    }
    for (Function *F : Entries) {
      // -Rpass alone makes lines, too, in a unit that says that nobody will see them: remarks change no code.
      const bool Debugged = (Level == OptimizationLevel::O0 || Level == OptimizationLevel::O1) && F->getSubprogram() &&
                            F->getSubprogram()->getUnit()->getEmissionKind() != DICompileUnit::NoDebug;
      simplifyEntry(*F, FAM, Debugged);
      if (dumps("before"))
        F->print(errs());
      Kernel K(*F, Debugged);
      K.Jams = Level.getSpeedupLevel() >= 2 && Level.getSizeLevel() == 0 && isWide(*F);
      const std::string Name = kernelName(*F);
      std::string Remark = compile(K);
      const bool Compiled = StringRef(Remark).starts_with("compiled");
      FAM.invalidate(*F, PreservedAnalyses::none());
      if (GlobalVariable *Table = patchEntry(M, *F, K.FrameBytes, !Compiled))
        setRemark(M, Table, Remark);
      report(*F, Name, Remark, Compiled);
      if (!Compiled) {
        empty(*F);
        continue;
      }
      inlineSteps(*F);
      if (verifyFunction(*F, &errs()))
        report_fatal_error(Twine("cgx: the compiled entry of kernel ") + Name + " is broken");
      if (dumps("after"))
        F->print(errs());
      SmallVector<Function *, 4> Made;
      if (!K.PerLane && !K.Units && Level.getSpeedupLevel() >= 2 && Level.getSizeLevel() == 0) {
        if (K.Jams && !generalOnly())
          Made = specialise(K);
        if (auto *Declared = dyn_cast<ConstantInt>(K.Threads)) {
          keepExchangeLocal(*F, Declared->getZExtValue(), K.ExchangeBytes);
          if (!K.Resumes)
            keepSharedLocal(*F, Declared->getZExtValue());
        }
      }
      Made.push_back(F);
      for (Function *G : Made)
        if (!Debugged) // which would copy lines: a breakpoint stands at one
          simplifyCompiled(*G, FAM);
    }
    const bool Changed = removeMarks(M) || !Entries.empty() || !Steps.empty();
    for (Function *F : Steps)
      if (F->use_empty() &&
          F->hasLocalLinkage()) { // inlined where it is wanted, and not worth to be compiled once more
        FAM.clear(*F, F->getName());
        F->eraseFromParent();
      }
    return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }

private:
  // -Rpass=cgx and -Rpass-missed=cgx
  void report(Function &F, const std::string &Name, const std::string &Text, bool Compiled) {
    if (!Reported.insert(Name + ": " + Text).second)
      return; // of the entry for another level
    OptimizationRemarkEmitter Emitter(&F);
    const DiagnosticLocation Where(F.getSubprogram());
    const std::string Whole = "kernel " + Name + ": " + Text;
    if (Compiled)
      Emitter.emit(OptimizationRemark("cgx", "Compiled", Where, &F.getEntryBlock()) << Whole);
    else
      Emitter.emit(OptimizationRemarkMissed("cgx", "Fibers", Where, &F.getEntryBlock()) << Whole);
  }
};

struct InlineHelpers : PassInfoMixin<InlineHelpers> {
  static bool isRequired() { return true; }
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    forceInlining(M);
    return PreservedAnalyses::none();
  }
};

struct HoldBackEntries : PassInfoMixin<HoldBackEntries> {
  static bool isRequired() { return true; }
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    holdBackEntries(M);
    return PreservedAnalyses::none();
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "cgx", LLVM_VERSION_STRING, [](PassBuilder &PB) {
            // Since LLVM 20 some of these are told the phase of link-time optimisation.
            PB.registerPipelineStartEPCallback([](ModulePassManager &P, auto &&...) { P.addPass(InlineHelpers()); });
            PB.registerPipelineEarlySimplificationEPCallback(
                [](ModulePassManager &P, auto &&...) { P.addPass(HoldBackEntries()); });
            PB.registerOptimizerEarlyEPCallback(
                [](ModulePassManager &P, OptimizationLevel L, auto &&...) { P.addPass(CompileEntries(L)); });
            if (LLVM_VERSION_MAJOR < 22)
              PB.registerVectorizerStartEPCallback(
                  [](FunctionPassManager &P, OptimizationLevel) { P.addPass(HideWrappingStrides()); });
          }};
}
