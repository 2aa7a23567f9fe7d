# What a solver plugin needs to be built right: the floating-point flags, objects for each lane width, and the module.
include_guard()

# The compiler switches of the number rules (docs/numbers.md). Everything that computes simulation state links this.
if(NOT TARGET samebit_fp_flags)
  add_library(samebit_fp_flags INTERFACE)
  target_compile_options(samebit_fp_flags INTERFACE -ffp-contract=off -fno-fast-math -fno-math-errno -Wno-psabi)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(i.86|x86)$")
    target_compile_options(samebit_fp_flags INTERFACE -msse2 -mfpmath=sse)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "s390x")
    target_compile_options(samebit_fp_flags INTERFACE -fexcess-precision=fast)
  endif()
endif()

# samebit_lane_objects(NAME SOURCES [LINK lib...])
# Compiles kernel sources (one, or a list in quotes) three times, with SB_LANES 1, 4 and 8, into object libraries NAME_lanes1, _lanes4, _lanes8.
# On x86-64 the 8-lane object uses AVX2 (without fused operations) and must only be called where the CPU has it.
function(samebit_lane_objects name sources)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  foreach(lanes 1 4 8)
    set(target ${name}_lanes${lanes})
    add_library(${target} OBJECT ${sources})
    target_compile_definitions(${target} PRIVATE SB_LANES=${lanes})
    target_link_libraries(${target} PRIVATE samebit_fp_flags ${arg_LINK})
    set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden) # a plugin exports its entry alone
    if(lanes EQUAL 8 AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
      target_compile_options(${target} PRIVATE -mavx2 -mno-fma)
    endif()
  endforeach()
endfunction()

# samebit_add_solver(NAME source... [LANES source])
# Builds the plugin module NAME.so. LANES: one kernel source, compiled for each lane width as samebit_lane_objects does.
function(samebit_add_solver name)
  cmake_parse_arguments(arg "" "LANES" "" ${ARGN})
  set(objects)
  if(arg_LANES)
    samebit_lane_objects(${name} ${arg_LANES} LINK samebit::plugin_api)
    foreach(lanes 1 4 8)
      set_target_properties(${name}_lanes${lanes} PROPERTIES POSITION_INDEPENDENT_CODE ON)
      list(APPEND objects $<TARGET_OBJECTS:${name}_lanes${lanes}>)
    endforeach()
  endif()
  add_library(${name} MODULE ${arg_UNPARSED_ARGUMENTS} ${objects})
  set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden C_STANDARD 17 C_EXTENSIONS OFF)
  target_link_libraries(${name} PRIVATE samebit::plugin_api)
  target_link_options(${name} PRIVATE -Wl,--no-undefined -Wl,-z,relro,-z,now)
endfunction()
