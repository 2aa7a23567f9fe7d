/* What is allowed in SPIR-V, by number. */
#include "spirv_rules.h"

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

bool sb_spirv_is_float_arithmetic(uint32_t opcode)
{
  switch (opcode) {
  case SpvOpFNegate:
  case SpvOpFAdd:
  case SpvOpFSub:
  case SpvOpFMul:
  case SpvOpFDiv:
  case SpvOpFRem:
  case SpvOpFMod:
  case SpvOpVectorTimesScalar:
  case SpvOpMatrixTimesScalar:
  case SpvOpVectorTimesMatrix:
  case SpvOpMatrixTimesVector:
  case SpvOpMatrixTimesMatrix:
  case SpvOpOuterProduct:
  case SpvOpDot:
    return true;
  default:
    return false;
  }
}

bool sb_spirv_is_float_comparison(uint32_t opcode)
{
  return (opcode >= SpvOpFOrdEqual && opcode <= SpvOpFUnordGreaterThanEqual) ||
         (opcode >= SpvOpIsNan && opcode <= SpvOpUnordered);
}

spirv_form spirv_form_of(uint32_t opcode, uint32_t *least_words)
{
  /* Name without Op, form, least words. Operations with a verdict of their own stand here too, for their form. */
  switch (opcode) {
#define OP(name, form, least)                                                                                          \
  case SpvOp##name:                                                                                                    \
    *least_words = least;                                                                                              \
    return SPIRV_##form;
    /* the module */
    OP(Nop, PLAIN, 1)
    OP(SourceContinued, PLAIN, 2)
    OP(Source, PLAIN, 3)
    OP(SourceExtension, PLAIN, 2)
    OP(Name, PLAIN, 3)
    OP(MemberName, PLAIN, 4)
    OP(String, RESULT, 3)
    OP(Line, PLAIN, 4)
    OP(NoLine, PLAIN, 1)
    OP(ModuleProcessed, PLAIN, 2)
    OP(Extension, PLAIN, 2)
    OP(ExtInstImport, RESULT, 3)
    OP(ExtInst, TYPED, 5)
    OP(MemoryModel, PLAIN, 3)
    OP(EntryPoint, PLAIN, 4)
    OP(ExecutionMode, PLAIN, 3)
    OP(ExecutionModeId, PLAIN, 3)
    OP(Capability, PLAIN, 2)
    OP(Decorate, PLAIN, 3)
    OP(MemberDecorate, PLAIN, 4)
    OP(DecorationGroup, RESULT, 2)
    OP(GroupDecorate, PLAIN, 2)
    OP(GroupMemberDecorate, PLAIN, 2)
    OP(DecorateId, PLAIN, 3)
    OP(DecorateString, PLAIN, 4)
    OP(MemberDecorateString, PLAIN, 5)
    /* types and constants */
    OP(TypeVoid, RESULT, 2)
    OP(TypeBool, RESULT, 2)
    OP(TypeInt, RESULT, 4)
    OP(TypeFloat, RESULT, 3)
    OP(TypeVector, RESULT, 4)
    OP(TypeMatrix, RESULT, 4)
    OP(TypeArray, RESULT, 4)
    OP(TypeRuntimeArray, RESULT, 3)
    OP(TypeStruct, RESULT, 2)
    OP(TypePointer, RESULT, 4)
    OP(TypeForwardPointer, PLAIN, 3)
    OP(TypeFunction, RESULT, 3)
    OP(ConstantTrue, TYPED, 3)
    OP(ConstantFalse, TYPED, 3)
    OP(Constant, TYPED, 4)
    OP(ConstantComposite, TYPED, 3)
    OP(ConstantNull, TYPED, 3)
    OP(SpecConstantTrue, TYPED, 3)
    OP(SpecConstantFalse, TYPED, 3)
    OP(SpecConstant, TYPED, 4)
    OP(SpecConstantComposite, TYPED, 3)
    OP(SpecConstantOp, TYPED, 4)
    OP(Undef, TYPED, 3)
    /* functions and memory */
    OP(Function, TYPED, 5)
    OP(FunctionParameter, TYPED, 3)
    OP(FunctionEnd, PLAIN, 1)
    OP(FunctionCall, TYPED, 4)
    OP(Variable, TYPED, 4)
    OP(Load, TYPED, 4)
    OP(Store, PLAIN, 3)
    OP(CopyMemory, PLAIN, 3)
    OP(AccessChain, TYPED, 4)
    OP(InBoundsAccessChain, TYPED, 4)
    OP(PtrAccessChain, TYPED, 5)
    OP(ArrayLength, TYPED, 5)
    OP(CopyObject, TYPED, 4)
    OP(CopyLogical, TYPED, 4)
    /* composites */
    OP(VectorExtractDynamic, TYPED, 5)
    OP(VectorInsertDynamic, TYPED, 6)
    OP(VectorShuffle, TYPED, 5)
    OP(CompositeConstruct, TYPED, 3)
    OP(CompositeExtract, TYPED, 4)
    OP(CompositeInsert, TYPED, 5)
    OP(Transpose, TYPED, 4)
    /* conversions: exact, or of integers; with RoundingModeRTE to floats as well */
    OP(ConvertSToF, TYPED, 4)
    OP(ConvertUToF, TYPED, 4)
    OP(UConvert, TYPED, 4)
    OP(SConvert, TYPED, 4)
    OP(ConvertUToPtr, TYPED, 4)
    OP(Bitcast, TYPED, 4)
    /* integers */
    OP(SNegate, TYPED, 4)
    OP(IAdd, TYPED, 5)
    OP(ISub, TYPED, 5)
    OP(IMul, TYPED, 5)
    OP(UDiv, TYPED, 5)
    OP(SDiv, TYPED, 5)
    OP(UMod, TYPED, 5)
    OP(SRem, TYPED, 5)
    OP(SMod, TYPED, 5)
    OP(IAddCarry, TYPED, 5)
    OP(ISubBorrow, TYPED, 5)
    OP(UMulExtended, TYPED, 5)
    OP(SMulExtended, TYPED, 5)
    OP(ShiftRightLogical, TYPED, 5)
    OP(ShiftRightArithmetic, TYPED, 5)
    OP(ShiftLeftLogical, TYPED, 5)
    OP(BitwiseOr, TYPED, 5)
    OP(BitwiseXor, TYPED, 5)
    OP(BitwiseAnd, TYPED, 5)
    OP(Not, TYPED, 4)
    OP(BitFieldInsert, TYPED, 7)
    OP(BitFieldSExtract, TYPED, 6)
    OP(BitFieldUExtract, TYPED, 6)
    OP(BitReverse, TYPED, 4)
    OP(BitCount, TYPED, 4)
    OP(IEqual, TYPED, 5)
    OP(INotEqual, TYPED, 5)
    OP(UGreaterThan, TYPED, 5)
    OP(SGreaterThan, TYPED, 5)
    OP(UGreaterThanEqual, TYPED, 5)
    OP(SGreaterThanEqual, TYPED, 5)
    OP(ULessThan, TYPED, 5)
    OP(SLessThan, TYPED, 5)
    OP(ULessThanEqual, TYPED, 5)
    OP(SLessThanEqual, TYPED, 5)
    /* logic */
    OP(Any, TYPED, 4)
    OP(All, TYPED, 4)
    OP(LogicalEqual, TYPED, 5)
    OP(LogicalNotEqual, TYPED, 5)
    OP(LogicalOr, TYPED, 5)
    OP(LogicalAnd, TYPED, 5)
    OP(LogicalNot, TYPED, 4)
    OP(Select, TYPED, 6)
    /* floats, decorated */
    OP(FNegate, TYPED, 4)
    OP(FAdd, TYPED, 5)
    OP(FSub, TYPED, 5)
    OP(FMul, TYPED, 5)
    OP(VectorTimesScalar, TYPED, 5)
    /* floats, with a verdict of their own */
    OP(FDiv, TYPED, 5)
    OP(FRem, TYPED, 5)
    OP(FMod, TYPED, 5)
    OP(Dot, TYPED, 5)
    OP(MatrixTimesScalar, TYPED, 5)
    OP(VectorTimesMatrix, TYPED, 5)
    OP(MatrixTimesVector, TYPED, 5)
    OP(MatrixTimesMatrix, TYPED, 5)
    OP(OuterProduct, TYPED, 5)
    OP(ConvertFToU, TYPED, 4)
    OP(ConvertFToS, TYPED, 4)
    OP(FConvert, TYPED, 4)
    OP(QuantizeToF16, TYPED, 4)
    OP(ConvertPtrToU, TYPED, 4)
    OP(DPdx, TYPED, 4)
    OP(DPdy, TYPED, 4)
    OP(Fwidth, TYPED, 4)
    OP(DPdxFine, TYPED, 4)
    OP(DPdyFine, TYPED, 4)
    OP(FwidthFine, TYPED, 4)
    OP(DPdxCoarse, TYPED, 4)
    OP(DPdyCoarse, TYPED, 4)
    OP(FwidthCoarse, TYPED, 4)
    OP(AtomicFAddEXT, TYPED, 7)
    OP(AtomicFMinEXT, TYPED, 7)
    OP(AtomicFMaxEXT, TYPED, 7)
    OP(GroupNonUniformFAdd, TYPED, 6)
    OP(GroupNonUniformFMul, TYPED, 6)
    OP(GroupNonUniformFMin, TYPED, 6)
    OP(GroupNonUniformFMax, TYPED, 6)
    /* barriers and atomics */
    OP(ControlBarrier, PLAIN, 4)
    OP(MemoryBarrier, PLAIN, 3)
    OP(AtomicLoad, TYPED, 6)
    OP(AtomicStore, PLAIN, 5)
    OP(AtomicExchange, TYPED, 7)
    OP(AtomicCompareExchange, TYPED, 9)
    OP(AtomicIIncrement, TYPED, 6)
    OP(AtomicIDecrement, TYPED, 6)
    OP(AtomicIAdd, TYPED, 7)
    OP(AtomicISub, TYPED, 7)
    OP(AtomicSMin, TYPED, 7)
    OP(AtomicUMin, TYPED, 7)
    OP(AtomicSMax, TYPED, 7)
    OP(AtomicUMax, TYPED, 7)
    OP(AtomicAnd, TYPED, 7)
    OP(AtomicOr, TYPED, 7)
    OP(AtomicXor, TYPED, 7)
    /* control flow */
    OP(Phi, TYPED, 3)
    OP(LoopMerge, PLAIN, 4)
    OP(SelectionMerge, PLAIN, 3)
    OP(Label, RESULT, 2)
    OP(Branch, PLAIN, 2)
    OP(BranchConditional, PLAIN, 4)
    OP(Switch, PLAIN, 3)
    OP(Return, PLAIN, 1)
    OP(ReturnValue, PLAIN, 2)
    OP(Unreachable, PLAIN, 1)
    /* subgroups: moves, votes, integers */
    OP(GroupNonUniformElect, TYPED, 4)
    OP(GroupNonUniformAll, TYPED, 5)
    OP(GroupNonUniformAny, TYPED, 5)
    OP(GroupNonUniformAllEqual, TYPED, 5)
    OP(GroupNonUniformBroadcast, TYPED, 6)
    OP(GroupNonUniformBroadcastFirst, TYPED, 5)
    OP(GroupNonUniformBallot, TYPED, 5)
    OP(GroupNonUniformInverseBallot, TYPED, 5)
    OP(GroupNonUniformBallotBitExtract, TYPED, 6)
    OP(GroupNonUniformBallotBitCount, TYPED, 6)
    OP(GroupNonUniformBallotFindLSB, TYPED, 5)
    OP(GroupNonUniformBallotFindMSB, TYPED, 5)
    OP(GroupNonUniformShuffle, TYPED, 6)
    OP(GroupNonUniformShuffleXor, TYPED, 6)
    OP(GroupNonUniformShuffleUp, TYPED, 6)
    OP(GroupNonUniformShuffleDown, TYPED, 6)
    OP(GroupNonUniformIAdd, TYPED, 6)
    OP(GroupNonUniformIMul, TYPED, 6)
    OP(GroupNonUniformSMin, TYPED, 6)
    OP(GroupNonUniformUMin, TYPED, 6)
    OP(GroupNonUniformSMax, TYPED, 6)
    OP(GroupNonUniformUMax, TYPED, 6)
    OP(GroupNonUniformBitwiseAnd, TYPED, 6)
    OP(GroupNonUniformBitwiseOr, TYPED, 6)
    OP(GroupNonUniformBitwiseXor, TYPED, 6)
    OP(GroupNonUniformLogicalAnd, TYPED, 6)
    OP(GroupNonUniformLogicalOr, TYPED, 6)
    OP(GroupNonUniformLogicalXor, TYPED, 6)
#undef OP
  default:
    *least_words = 1;
    if (!sb_spirv_is_float_comparison(opcode)) return SPIRV_NOT_KNOWN;
    *least_words = 4;
    return SPIRV_TYPED;
  }
}

static spirv_verdict refused(sb_spirv_rule rule, const char *text, const char *advice)
{
  return (spirv_verdict){text, advice, rule};
}
static const spirv_verdict allowed = {0};

spirv_verdict spirv_operation_verdict(uint32_t opcode)
{
  if (sb_spirv_is_float_comparison(opcode))
    return refused(SB_SPIRV_COMPARISON, "a comparison of floats: devices may take subnormals for zeros",
                   "Compare scalars, not vectors, and let the shader build write them as integer operations.");
  switch (opcode) {
  case SpvOpFDiv:
    return refused(SB_SPIRV_OPERATION, "OpFDiv is not correctly rounded on every device", "Divide with f_div.");
  case SpvOpFRem:
  case SpvOpFMod:
    return refused(SB_SPIRV_OPERATION, "OpFRem and OpFMod differ between devices", "Use f_fmod.");
  case SpvOpDot:
    return refused(SB_SPIRV_OPERATION, "OpDot leaves the order of its sum open",
                   "Write the sum out, or use v3_dot and its like.");
  case SpvOpMatrixTimesScalar:
  case SpvOpVectorTimesMatrix:
  case SpvOpMatrixTimesVector:
  case SpvOpMatrixTimesMatrix:
  case SpvOpOuterProduct:
    return refused(SB_SPIRV_OPERATION, "matrix products leave the order of their sums open",
                   "Write them out, or use m33_mul and its like.");
  case SpvOpConvertFToU:
  case SpvOpConvertFToS:
    return refused(SB_SPIRV_OPERATION, "float to integer conversion differs between devices", "Use f_to_i.");
  case SpvOpFConvert:
  case SpvOpQuantizeToF16:
    return refused(SB_SPIRV_OPERATION, "conversion between float widths leaves binary32", "Stay in 32-bit floats.");
  case SpvOpConvertPtrToU:
    return refused(SB_SPIRV_OPERATION, "an address as a number: no result may depend on addresses", "Use indices.");
  case SpvOpDPdx:
  case SpvOpDPdy:
  case SpvOpFwidth:
  case SpvOpDPdxFine:
  case SpvOpDPdyFine:
  case SpvOpFwidthFine:
  case SpvOpDPdxCoarse:
  case SpvOpDPdyCoarse:
  case SpvOpFwidthCoarse:
    return refused(SB_SPIRV_OPERATION, "derivatives depend on the device", "Write differences out.");
  case SpvOpAtomicFAddEXT:
  case SpvOpAtomicFMinEXT:
  case SpvOpAtomicFMaxEXT:
    return refused(SB_SPIRV_ATOMIC, "float atomics work in the order of arrival",
                   "Gather in a fixed order, or sum integers.");
  case SpvOpGroupNonUniformFAdd:
  case SpvOpGroupNonUniformFMul:
  case SpvOpGroupNonUniformFMin:
  case SpvOpGroupNonUniformFMax:
    return refused(SB_SPIRV_OPERATION, "float reductions over a subgroup have an open order and size",
                   "Sum in a fixed order through shared memory.");
  default:
    return allowed;
  }
}

bool spirv_may_specialise(uint32_t opcode)
{
  uint32_t least;
  return spirv_form_of(opcode, &least) == SPIRV_TYPED && !sb_spirv_is_float_arithmetic(opcode) &&
         opcode != SpvOpConvertSToF && opcode != SpvOpConvertUToF && !spirv_operation_verdict(opcode).text;
}

spirv_verdict spirv_extended_verdict(uint32_t instruction)
{
  switch (instruction) {
  /* Integers: exact everywhere. */
  case GLSLstd450SAbs:
  case GLSLstd450SSign:
  case GLSLstd450UMin:
  case GLSLstd450SMin:
  case GLSLstd450UMax:
  case GLSLstd450SMax:
  case GLSLstd450UClamp:
  case GLSLstd450SClamp:
  case GLSLstd450FindILsb:
  case GLSLstd450FindSMsb:
  case GLSLstd450FindUMsb:
    return allowed;
  case GLSLstd450Fma:
    return refused(SB_SPIRV_EXTENDED, "Fma rounds once, or twice, as the device likes",
                   "Write a * b + c; if you did, decorate before anything optimises.");
  case GLSLstd450Sqrt:
  case GLSLstd450InverseSqrt:
    return refused(SB_SPIRV_EXTENDED, "Sqrt and InverseSqrt are not correctly rounded on every device",
                   "Use f_sqrt and f_rsqrt.");
  case GLSLstd450FMin:
  case GLSLstd450FMax:
  case GLSLstd450FClamp:
  case GLSLstd450NMin:
  case GLSLstd450NMax:
  case GLSLstd450NClamp:
    return refused(SB_SPIRV_EXTENDED, "minimum, maximum and clamp of floats differ in zeros, NaN and subnormals",
                   "Use f_min, f_max and f_clamp.");
  case GLSLstd450Length:
  case GLSLstd450Distance:
  case GLSLstd450Normalize:
  case GLSLstd450Reflect:
  case GLSLstd450Refract:
  case GLSLstd450Cross:
  case GLSLstd450FMix:
  case GLSLstd450Determinant:
  case GLSLstd450MatrixInverse:
    return refused(SB_SPIRV_EXTENDED, "a sum or product of floats that leaves its order open",
                   "Write it out, or use the shared routines of samebit/linear.h.");
  default:
    return refused(SB_SPIRV_EXTENDED, "an extended instruction whose result devices differ in",
                   "Use the shared routine of samebit/maths.h.");
  }
}

bool spirv_capability_is_known(uint32_t capability)
{
  switch (capability) {
  case SpvCapabilityMatrix:
  case SpvCapabilityShader:
  case SpvCapabilityInt64:
  case SpvCapabilityInt64Atomics:
  case SpvCapabilityInt16:
  case SpvCapabilityInt8:
  case SpvCapabilityGroupNonUniform:
  case SpvCapabilityGroupNonUniformVote:
  case SpvCapabilityGroupNonUniformArithmetic:
  case SpvCapabilityGroupNonUniformBallot:
  case SpvCapabilityGroupNonUniformShuffle:
  case SpvCapabilityGroupNonUniformShuffleRelative:
  case SpvCapabilityStorageBuffer16BitAccess:
  case SpvCapabilityStorageBuffer8BitAccess:
  case SpvCapabilityVulkanMemoryModel:
  case SpvCapabilityVulkanMemoryModelDeviceScope:
  case SpvCapabilityPhysicalStorageBufferAddresses:
  case SpvCapabilityDenormPreserve:
  case SpvCapabilitySignedZeroInfNanPreserve:
  case SpvCapabilityRoundingModeRTE:
    return true;
  default:
    return false;
  }
}

spirv_verdict spirv_decoration_verdict(uint32_t decoration)
{
  switch (decoration) {
  case SpvDecorationSpecId:
  case SpvDecorationBlock:
  case SpvDecorationBufferBlock:
  case SpvDecorationRowMajor:
  case SpvDecorationColMajor:
  case SpvDecorationArrayStride:
  case SpvDecorationMatrixStride:
  case SpvDecorationBuiltIn:
  case SpvDecorationInvariant:
  case SpvDecorationRestrict:
  case SpvDecorationAliased:
  case SpvDecorationVolatile:
  case SpvDecorationCoherent:
  case SpvDecorationNonWritable:
  case SpvDecorationNonReadable:
  case SpvDecorationUniform:
  case SpvDecorationUniformId:
  case SpvDecorationLocation:
  case SpvDecorationBinding:
  case SpvDecorationDescriptorSet:
  case SpvDecorationOffset:
  case SpvDecorationNoContraction:
  case SpvDecorationNonUniform:
  case SpvDecorationRestrictPointer:
  case SpvDecorationAliasedPointer:
  case SpvDecorationCounterBuffer:
  case SpvDecorationUserSemantic:
  case SpvDecorationUserTypeGOOGLE:
    return allowed;
  case SpvDecorationRelaxedPrecision:
    return refused(SB_SPIRV_DECORATION, "RelaxedPrecision lets a device compute in 16 bits", "Drop mediump and lowp.");
  case SpvDecorationFPFastMathMode:
    return refused(SB_SPIRV_DECORATION, "FPFastMathMode lets a device change results", "Remove it.");
  case SpvDecorationFPRoundingMode:
    return refused(SB_SPIRV_DECORATION, "FPRoundingMode changes how a conversion rounds", "Remove it.");
  case SpvDecorationNoSignedWrap:
  case SpvDecorationNoUnsignedWrap:
    return refused(SB_SPIRV_DECORATION, "NoSignedWrap and NoUnsignedWrap leave overflow open", "Remove it.");
  default:
    return refused(SB_SPIRV_DECORATION, "a decoration that nobody has checked against the number rules", "Remove it.");
  }
}

bool spirv_built_in_is_known(uint32_t built_in)
{
  switch (built_in) {
  case SpvBuiltInNumWorkgroups:
  case SpvBuiltInWorkgroupSize:
  case SpvBuiltInWorkgroupId:
  case SpvBuiltInLocalInvocationId:
  case SpvBuiltInGlobalInvocationId:
  case SpvBuiltInLocalInvocationIndex:
  case SpvBuiltInSubgroupSize:
  case SpvBuiltInNumSubgroups:
  case SpvBuiltInSubgroupId:
  case SpvBuiltInSubgroupLocalInvocationId:
  case SpvBuiltInSubgroupEqMask:
  case SpvBuiltInSubgroupGeMask:
  case SpvBuiltInSubgroupGtMask:
  case SpvBuiltInSubgroupLeMask:
  case SpvBuiltInSubgroupLtMask:
    return true;
  default:
    return false;
  }
}

spirv_verdict spirv_mode_verdict(uint32_t mode)
{
  switch (mode) {
  case SpvExecutionModeLocalSize:
  case SpvExecutionModeLocalSizeId:
  case SpvExecutionModeDenormPreserve:
  case SpvExecutionModeSignedZeroInfNanPreserve:
  case SpvExecutionModeRoundingModeRTE:
    return allowed;
  case SpvExecutionModeDenormFlushToZero:
    return refused(SB_SPIRV_MODE, "DenormFlushToZero makes subnormals zero", "Remove it.");
  case SpvExecutionModeRoundingModeRTZ:
    return refused(SB_SPIRV_MODE, "RoundingModeRTZ rounds towards zero", "Remove it.");
  default:
    return refused(SB_SPIRV_MODE, "an execution mode that nobody has checked against the number rules", "Remove it.");
  }
}

bool spirv_ends_block(uint32_t opcode)
{
  switch (opcode) {
  case SpvOpBranch:
  case SpvOpBranchConditional:
  case SpvOpSwitch:
  case SpvOpReturn:
  case SpvOpReturnValue:
  case SpvOpUnreachable:
  case SpvOpFunctionEnd:
    return true;
  default:
    return false;
  }
}
