target_sources(${name}_${room} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/synth/survey.c ${CMAKE_CURRENT_SOURCE_DIR}/synth/motion.c)
