/* Faults for faults/good.spvasm, one each: the text to exchange, the rule that has to find it, once, and where. */
#ifndef SAMEBIT_TESTS_SPIRV_FAULTS_H
#define SAMEBIT_TESTS_SPIRV_FAULTS_H

#include "spirv_audit.h"

typedef struct spirv_fault {
  const char *name;
  const char *from, *to;
  sb_spirv_rule rule;
  const char *place; /* "" for the module */
} spirv_fault;

#define SUM "%sum = OpFAdd %float %product %a"
#define DIFFERENCE "%difference = OpFSub %float %sum %zero"
#define NEGATIVE "%negative = OpFNegate %float %difference"
#define LESS "%less = OpULessThan %bool %bits %total"
#define BEFORE "%before = OpAtomicIAdd %uint %counter %one %nought %larger"
#define TOTAL "%total = OpGroupNonUniformIAdd %uint %subgroup Reduce %before"
#define EXTENDED "%larger = OpExtInst %uint %glsl UMax %bits %i"
#define STORE "OpStore %slot %chosen"
#define GROUP "OpGroupDecorate %group %sum %difference %negative"
#define IN_SUM "step.comp:11, in blend, word "
#define IN_DIFFERENCE "step.comp:12, in blend, word "
#define IN_NEGATIVE "in blend, word "
#define IN_BITS "step.comp:32, in main, word "
#define IN_ATOMIC "step.comp:33, in main, word "
#define IN_END "step.comp:34, in main, word "
#define AT_MODULE "word "

static const spirv_fault spirv_faults[] = {
    /* float operations that a device may fuse */
    {"undecorated product", "OpDecorate %product NoContraction", "", SB_SPIRV_UNDECORATED,
     "step.comp:10, in blend, word "},
    {"undecorated sum", GROUP, "OpGroupDecorate %group %difference %negative", SB_SPIRV_UNDECORATED, IN_SUM},
    {"undecorated difference", GROUP, "OpGroupDecorate %group %sum %negative", SB_SPIRV_UNDECORATED, IN_DIFFERENCE},
    {"undecorated negation", GROUP, "OpGroupDecorate %group %sum %difference", SB_SPIRV_UNDECORATED, IN_NEGATIVE},
    {"undecorated vector product", NEGATIVE, "%both = OpVectorTimesScalar %float2 %pair %difference\n" NEGATIVE,
     SB_SPIRV_UNDECORATED, IN_NEGATIVE},
    {"group without the decoration", "OpDecorate %group NoContraction",
     "OpDecorate %group Restrict\nOpDecorate %difference "
     "NoContraction\nOpDecorate %negative NoContraction",
     SB_SPIRV_UNDECORATED, IN_SUM},
    /* extended instructions */
    {"Fma", NEGATIVE, "%fused = OpExtInst %float %glsl Fma %a %b %a\n" NEGATIVE, SB_SPIRV_EXTENDED, IN_NEGATIVE},
    {"Sqrt", EXTENDED, EXTENDED "\n%e = OpExtInst %float %glsl Sqrt %y", SB_SPIRV_EXTENDED, IN_BITS},
    {"InverseSqrt", EXTENDED, EXTENDED "\n%e = OpExtInst %float %glsl InverseSqrt %y", SB_SPIRV_EXTENDED, IN_BITS},
    {"FMin", EXTENDED, EXTENDED "\n%e = OpExtInst %float %glsl FMin %x %y", SB_SPIRV_EXTENDED, IN_BITS},
    {"NClamp", EXTENDED, EXTENDED "\n%e = OpExtInst %float %glsl NClamp %x %y %y", SB_SPIRV_EXTENDED, IN_BITS},
    {"FMix", EXTENDED, EXTENDED "\n%e = OpExtInst %float %glsl FMix %x %y %y", SB_SPIRV_EXTENDED, IN_BITS},
    {"Normalize", EXTENDED, EXTENDED "\n%e = OpExtInst %float2 %glsl Normalize %pair", SB_SPIRV_EXTENDED, IN_BITS},
    {"Length", EXTENDED, EXTENDED "\n%e = OpExtInst %float %glsl Length %pair", SB_SPIRV_EXTENDED, IN_BITS},
    {"Sin", EXTENDED, EXTENDED "\n%e = OpExtInst %float %glsl Sin %y", SB_SPIRV_EXTENDED, IN_BITS},
    {"Exp2", EXTENDED, EXTENDED "\n%e = OpExtInst %float %glsl Exp2 %y", SB_SPIRV_EXTENDED, IN_BITS},
    {"RoundEven", EXTENDED, EXTENDED "\n%e = OpExtInst %float %glsl RoundEven %y", SB_SPIRV_EXTENDED, IN_BITS},
    {"PackHalf2x16", EXTENDED, EXTENDED "\n%e = OpExtInst %uint %glsl PackHalf2x16 %pair", SB_SPIRV_EXTENDED, IN_BITS},
    {"another set", "\"GLSL.std.450\"",
     "\"GLSL.std.450\"\n%other = OpExtInstImport \"OpenCL.std\"\n%unused = OpExtInst %uint "
     "%other fabs %unused",
     SB_SPIRV_EXTENDED, AT_MODULE},
    /* operations */
    {"OpFDiv", "%sum = OpFAdd", "%sum = OpFDiv", SB_SPIRV_OPERATION, IN_SUM},
    {"OpFRem", "%sum = OpFAdd", "%sum = OpFRem", SB_SPIRV_OPERATION, IN_SUM},
    {"OpFMod", "%sum = OpFAdd", "%sum = OpFMod", SB_SPIRV_OPERATION, IN_SUM},
    {"OpDot", SUM, "%sum = OpDot %float %pair %pair", SB_SPIRV_OPERATION, IN_SUM},
    {"matrix times vector", SUM, "%sum = OpMatrixTimesVector %float2 %square %pair", SB_SPIRV_OPERATION, IN_SUM},
    {"vector times matrix", SUM, "%sum = OpVectorTimesMatrix %float2 %pair %square", SB_SPIRV_OPERATION, IN_SUM},
    {"matrix times matrix", SUM, "%sum = OpMatrixTimesMatrix %matrix2 %square %square", SB_SPIRV_OPERATION, IN_SUM},
    {"matrix times scalar", SUM, "%sum = OpMatrixTimesScalar %matrix2 %square %a", SB_SPIRV_OPERATION, IN_SUM},
    {"outer product", SUM, "%sum = OpOuterProduct %matrix2 %pair %pair", SB_SPIRV_OPERATION, IN_SUM},
    {"OpConvertFToS", "%bits = OpBitcast %uint", "%bits = OpConvertFToS %int", SB_SPIRV_OPERATION, IN_BITS},
    {"OpConvertFToU", "%bits = OpBitcast %uint", "%bits = OpConvertFToU %uint", SB_SPIRV_OPERATION, IN_BITS},
    {"OpFConvert", "%bits = OpBitcast %uint", "%bits = OpFConvert %float", SB_SPIRV_OPERATION, IN_BITS},
    {"OpQuantizeToF16", "%bits = OpBitcast %uint", "%bits = OpQuantizeToF16 %float", SB_SPIRV_OPERATION, IN_BITS},
    {"OpConvertPtrToU", "%bits = OpBitcast %uint %y", "%bits = OpConvertPtrToU %uint %slot", SB_SPIRV_OPERATION,
     IN_BITS},
    {"derivative", "%bits = OpBitcast %uint", "%bits = OpFwidth %float", SB_SPIRV_OPERATION, IN_BITS},
    {"subgroup sum of floats", TOTAL, "%total = OpGroupNonUniformFAdd %float %subgroup Reduce %x", SB_SPIRV_OPERATION,
     IN_ATOMIC},
    {"subgroup maximum of floats", TOTAL, "%total = OpGroupNonUniformFMax %float %subgroup Reduce %x", SB_SPIRV_OPERATION,
     IN_ATOMIC},
    {"specialised sum", "OpSpecConstantOp %uint IAdd %choice %one", "OpSpecConstantOp %float FAdd %two %two",
     SB_SPIRV_OPERATION, AT_MODULE},
    {"specialised conversion", "OpSpecConstantOp %uint IAdd %choice %one",
     "OpSpecConstantOp %float ConvertUToF %choice", SB_SPIRV_OPERATION, AT_MODULE},
    /* comparisons */
    {"OpFOrdLessThan", LESS, "%less = OpFOrdLessThan %bool %x %y", SB_SPIRV_COMPARISON, IN_END},
    {"OpFUnordNotEqual", LESS, "%less = OpFUnordNotEqual %bool %x %y", SB_SPIRV_COMPARISON, IN_END},
    {"OpIsNan", LESS, "%less = OpIsNan %bool %x", SB_SPIRV_COMPARISON, IN_END},
    {"OpIsInf", LESS, "%less = OpIsInf %bool %x", SB_SPIRV_COMPARISON, IN_END},
    {"equal floats in a subgroup", LESS, "%less = OpGroupNonUniformAllEqual %bool %subgroup %x", SB_SPIRV_COMPARISON,
     IN_END},
    /* atomics */
    {"OpAtomicFAddEXT", BEFORE, BEFORE "\n%f = OpAtomicFAddEXT %float %slot %one %nought %x", SB_SPIRV_ATOMIC,
     IN_ATOMIC},
    {"OpAtomicFMinEXT", BEFORE, BEFORE "\n%f = OpAtomicFMinEXT %float %slot %one %nought %x", SB_SPIRV_ATOMIC,
     IN_ATOMIC},
    {"OpAtomicFMaxEXT", BEFORE, BEFORE "\n%f = OpAtomicFMaxEXT %float %slot %one %nought %x", SB_SPIRV_ATOMIC,
     IN_ATOMIC},
    {"exchange of floats", BEFORE, BEFORE "\n%f = OpAtomicExchange %float %slot %one %nought %x", SB_SPIRV_ATOMIC,
     IN_ATOMIC},
    /* what drivers fold */
    {"sum with zero", SUM, "%sum = OpFAdd %float %product %zero", SB_SPIRV_CONSTANT, IN_SUM},
    {"sum with negative zero", SUM, "%sum = OpFAdd %float %negative_zero %product", SB_SPIRV_CONSTANT, IN_SUM},
    {"zero less something", DIFFERENCE, "%difference = OpFSub %float %zero %sum", SB_SPIRV_CONSTANT, IN_DIFFERENCE},
    {"product with zero", SUM, "%sum = OpFMul %float %zero %product", SB_SPIRV_CONSTANT, IN_SUM},
    {"sum with a vector that has a zero", SUM, "%sum = OpFAdd %float2 %pair %zeros", SB_SPIRV_CONSTANT, IN_SUM},
    {"vector times zero", SUM, "%sum = OpVectorTimesScalar %float2 %pair %zero", SB_SPIRV_CONSTANT, IN_SUM},
    {"null constant", "%zero = OpConstant %float 0\n",
     "%zero = OpConstantNull %float\n%more = OpConstantNull %float\n%nil = "
     "OpFAdd %float %two %more\nOpDecorate %nil NoContraction\n",
     SB_SPIRV_CONSTANT, AT_MODULE},
    {"specialised float", "%two = OpConstant", "%two = OpSpecConstant", SB_SPIRV_CONSTANT, AT_MODULE},
    /* execution modes */
    {"without SignedZeroInfNanPreserve", "OpExecutionMode %main SignedZeroInfNanPreserve 32\n", "", SB_SPIRV_MODE,
     AT_MODULE},
    {"without RoundingModeRTE", "OpExecutionMode %main RoundingModeRTE 32\n", "", SB_SPIRV_MODE, AT_MODULE},
    {"SignedZeroInfNanPreserve for 16 bits", "SignedZeroInfNanPreserve 32", "SignedZeroInfNanPreserve 16",
     SB_SPIRV_MODE, AT_MODULE},
    {"RoundingModeRTE for 64 bits", "RoundingModeRTE 32", "RoundingModeRTE 64", SB_SPIRV_MODE, AT_MODULE},
    {"RoundingModeRTZ too", "%source =", "OpExecutionMode %main RoundingModeRTZ 16\n%source =", SB_SPIRV_MODE,
     AT_MODULE},
    {"DenormFlushToZero", "%source =", "OpExecutionMode %main DenormFlushToZero 32\n%source =", SB_SPIRV_MODE,
     AT_MODULE},
    {"an unknown mode", "%source =", "OpExecutionMode %main ContractionOff\n%source =", SB_SPIRV_MODE, AT_MODULE},
    {"a fragment shader", "OpEntryPoint GLCompute", "OpEntryPoint Fragment", SB_SPIRV_MODE, AT_MODULE},
    {"another memory model", "Logical GLSL450", "Logical OpenCL", SB_SPIRV_MODE, AT_MODULE},
    /* capabilities, types, decorations */
    {"Float64", "OpCapability Shader", "OpCapability Shader\nOpCapability Float64", SB_SPIRV_CAPABILITY, AT_MODULE},
    {"Float16", "OpCapability Shader", "OpCapability Shader\nOpCapability Float16", SB_SPIRV_CAPABILITY, AT_MODULE},
    {"AtomicFloat32AddEXT", "OpCapability Shader", "OpCapability Shader\nOpCapability AtomicFloat32AddEXT",
     SB_SPIRV_CAPABILITY, AT_MODULE},
    {"ShaderClockKHR", "OpCapability Shader", "OpCapability Shader\nOpCapability ShaderClockKHR", SB_SPIRV_CAPABILITY,
     AT_MODULE},
    {"Linkage", "OpCapability Shader", "OpCapability Shader\nOpCapability Linkage", SB_SPIRV_CAPABILITY, AT_MODULE},
    {"a double", "%bool =", "%double = OpTypeFloat 64\n%bool =", SB_SPIRV_TYPE, AT_MODULE},
    {"a half", "%bool =", "%half = OpTypeFloat 16\n%bool =", SB_SPIRV_TYPE, AT_MODULE},
    {"RelaxedPrecision", "OpDecorate %product NoContraction",
     "OpDecorate %product NoContraction\nOpDecorate %product "
     "RelaxedPrecision",
     SB_SPIRV_DECORATION, AT_MODULE},
    {"RelaxedPrecision of a member", "OpDecorate %block Block",
     "OpDecorate %block Block\nOpMemberDecorate %block 1 "
     "RelaxedPrecision",
     SB_SPIRV_DECORATION, AT_MODULE},
    {"FPFastMathMode", "OpDecorate %product NoContraction",
     "OpDecorate %product NoContraction\nOpDecorate %product "
     "FPFastMathMode Fast",
     SB_SPIRV_DECORATION, AT_MODULE},
    {"FPRoundingMode", "OpDecorate %block Block", "OpDecorate %block Block\nOpDecorate %y FPRoundingMode RTZ",
     SB_SPIRV_DECORATION, AT_MODULE},
    {"NoSignedWrap", "OpDecorate %block Block", "OpDecorate %block Block\nOpDecorate %choices NoSignedWrap",
     SB_SPIRV_DECORATION, AT_MODULE},
    {"an unknown decoration", "OpDecorate %block Block", "OpDecorate %block Block\nOpDecorate %block CPacked",
     SB_SPIRV_DECORATION, AT_MODULE},
    {"an unknown built-in", "BuiltIn GlobalInvocationId", "BuiltIn DeviceIndex", SB_SPIRV_DECORATION, AT_MODULE},
    /* what nobody has checked */
    {"the device's clock", STORE, "%now = OpReadClockKHR %int3 %one\n" STORE, SB_SPIRV_UNKNOWN, IN_END},
    {"OpKill", "OpReturn\n", "OpKill\n", SB_SPIRV_UNKNOWN, IN_END},
    {"an image", STORE, "OpImageWrite %x %y %y\n" STORE, SB_SPIRV_UNKNOWN, IN_END},
    {"a sampled image", STORE, "%texel = OpImageSampleExplicitLod %float %x %y Lod %two\n" STORE, SB_SPIRV_UNKNOWN,
     IN_END},
    /* shape */
    {"no entry point", "OpEntryPoint GLCompute %main \"main\" %index %data\n", "", SB_SPIRV_DAMAGED, AT_MODULE},
    {"an entry point without function", "OpEntryPoint GLCompute %main",
     "OpEntryPoint GLCompute %source \"other\"\nOpExecutionMode %source "
     "SignedZeroInfNanPreserve 32\nOpExecutionMode %source RoundingModeRTE 32\nOpEntryPoint GLCompute %main",
     SB_SPIRV_DAMAGED, AT_MODULE},
    {"a function without end", "OpReturn\nOpFunctionEnd\n", "OpReturn\n", SB_SPIRV_DAMAGED, "in main, word "},
    {"a function in a function", "OpReturnValue %negative\nOpFunctionEnd\n", "OpReturnValue %negative\n",
     SB_SPIRV_DAMAGED, "in blend, word "},
    {"an end without function", "OpReturn\nOpFunctionEnd\n", "OpReturn\nOpFunctionEnd\nOpFunctionEnd\n",
     SB_SPIRV_DAMAGED, AT_MODULE},
};

#endif
