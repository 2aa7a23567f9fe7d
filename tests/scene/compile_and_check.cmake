# Compiles the core and the scene layer with one compiler and optimisation level, and compares the hashes of the golden
# scenes: cooking gives the same bytes whoever compiled it.
# Needs CC, OPT, ROOT, WORK, SHARED, XML_CFLAGS, XML_LIBS.
find_program(compiler ${CC})
if(NOT compiler)
  message("SKIPPED: no ${CC} here")
  return()
endif()
file(MAKE_DIRECTORY ${WORK})
file(GLOB sources ${ROOT}/host/core/cook_math.c ${ROOT}/host/core/content_hash.c ${ROOT}/host/core/diagnostic.c ${ROOT}/host/core/fp_env.c
     ${ROOT}/host/core/model_*.c ${ROOT}/host/scene/*.c)
separate_arguments(xml_cflags UNIX_COMMAND "${XML_CFLAGS}")
separate_arguments(xml_libs UNIX_COMMAND "${XML_LIBS}")
set(program ${WORK}/scene_hashes)
execute_process(
  COMMAND ${compiler} -std=c17 ${OPT} -ffp-contract=off -fno-fast-math -fno-math-errno -I${ROOT}/plugin_api/include
          -I${ROOT}/host/core -I${ROOT}/host/scene ${xml_cflags} ${sources} ${ROOT}/tests/scene/scene_hashes.c -o ${program}
          ${xml_libs} -lm
  RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${CC} ${OPT} does not compile the scene layer")
endif()
execute_process(COMMAND ${program} ${ROOT}/tests/scene/golden/scene_hashes.txt ${ROOT}/conf/models ${SHARED}
                RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${CC} ${OPT} cooks other bytes")
endif()
