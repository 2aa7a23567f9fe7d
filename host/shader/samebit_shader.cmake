# Shaders built with the project's shader path (docs/numbers.md). In the project it is included by the top folder before any other, so
# that collision/, solvers/ and host/ alike can call these; the program that they run is built in host/shader. The installed package
# includes it too, and says where that program and the folders for #include are.
include_guard()
find_program(SAMEBIT_GLSLC glslc DOC "shaderc's GLSL compiler")
find_program(SAMEBIT_SPIRV_OPT spirv-opt DOC "SPIRV-Tools' optimiser; shaders stay unoptimised without it")
if(NOT SAMEBIT_SHADER_BUILD)
  set(SAMEBIT_SHADER_BUILD samebit_shader_build)
  set(SAMEBIT_SHADER_FOLDERS ${PROJECT_SOURCE_DIR}/plugin_api/include ${PROJECT_SOURCE_DIR}/shaders ${PROJECT_SOURCE_DIR})
endif()

# samebit_shader_command(OUTPUT SOURCE [ARRAY name] [DEFINES name=value...] [INCLUDES folder...] [NO_OPTIMISE])
# The rule that makes OUTPUT from SOURCE: a module, or with ARRAY a C header with its words as `static const uint32_t name[]`.
function(samebit_shader_command output source)
  cmake_parse_arguments(arg "NO_OPTIMISE" "ARRAY" "DEFINES;INCLUDES" ${ARGN})
  get_filename_component(source ${source} ABSOLUTE)
  if(NOT SAMEBIT_GLSLC)
    message(FATAL_ERROR "Shaders need the compiler glslc on the PATH (Debian's package glslc).")
  endif()
  set(flags --glslc ${SAMEBIT_GLSLC})
  foreach(folder ${SAMEBIT_SHADER_FOLDERS} ${arg_INCLUDES})
    get_filename_component(folder ${folder} ABSOLUTE)
    list(APPEND flags -I ${folder})
  endforeach()
  foreach(macro ${arg_DEFINES})
    list(APPEND flags -D ${macro})
  endforeach()
  if(SAMEBIT_SPIRV_OPT AND NOT arg_NO_OPTIMISE)
    list(APPEND flags --spirv-opt ${SAMEBIT_SPIRV_OPT})
  endif()
  if(arg_ARRAY)
    list(APPEND flags --array ${arg_ARRAY})
  endif()
  get_filename_component(folder ${output} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${output}
                     COMMAND ${SAMEBIT_SHADER_BUILD} ${flags} --depfile ${output}.d ${source} -o ${output}
                     DEPENDS ${SAMEBIT_SHADER_BUILD} ${source} DEPFILE ${output}.d VERBATIM)
endfunction()

# samebit_add_shader(OUTPUT_VARIABLE SOURCE [name=value ...])
# Builds SOURCE.spv in the binary folder and puts its path into OUTPUT_VARIABLE; depend on it from a target.
function(samebit_add_shader variable source)
  get_filename_component(name ${source} NAME)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.spv)
  samebit_shader_command(${output} ${source} DEFINES ${ARGN})
  set(${variable} ${output} PARENT_SCOPE)
endfunction()

# samebit_embed_shader(TARGET SOURCE [NAME name] [DEFINES name=value...] [INCLUDES folder...] [NO_OPTIMISE])
# Builds SOURCE and gives TARGET the header "name.h" with its words, `static const uint32_t name[]` (a count is sizeof name /
# sizeof *name). Without NAME the name is SOURCE's with "_spv" in place of its ending: step.comp gives step_spv.h and
# step_spv[]. Names are unique in the project; several targets may embed one shader by calling this with the same arguments.
# DEFINES and INCLUDES are for the shader. NO_OPTIMISE leaves out spirv-opt, which long scalar text keeps busy for minutes.
function(samebit_embed_shader target source)
  cmake_parse_arguments(arg "NO_OPTIMISE" "NAME" "DEFINES;INCLUDES" ${ARGN})
  if(NOT arg_NAME)
    get_filename_component(arg_NAME ${source} NAME_WE)
    string(APPEND arg_NAME _spv)
  endif()
  set(folder ${PROJECT_BINARY_DIR}/shaders)
  if(NOT TARGET shader_${arg_NAME})
    set(options)
    if(arg_NO_OPTIMISE)
      set(options NO_OPTIMISE)
    endif()
    samebit_shader_command(${folder}/${arg_NAME}.h ${source} ARRAY ${arg_NAME} DEFINES ${arg_DEFINES} INCLUDES ${arg_INCLUDES} ${options})
    add_custom_target(shader_${arg_NAME} DEPENDS ${folder}/${arg_NAME}.h)
  endif()
  add_dependencies(${target} shader_${arg_NAME})
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
