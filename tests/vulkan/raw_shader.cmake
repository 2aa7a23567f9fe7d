# Compiles GLSL as any author might, without the project's shader path, into a C header of words.
get_filename_component(folder ${HEADER} DIRECTORY)
file(MAKE_DIRECTORY ${folder})
execute_process(COMMAND ${GLSLC} -fshader-stage=compute --target-env=vulkan1.2 -O ${FLAGS} -mfmt=num -o ${HEADER}.num ${SOURCE} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "glslc failed on ${SOURCE}")
endif()
file(READ ${HEADER}.num words)
file(WRITE ${HEADER} "#include <stdint.h>\n\nstatic const uint32_t ${NAME}[] = {\n${words}};\n")
