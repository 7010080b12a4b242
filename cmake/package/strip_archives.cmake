# Run by CPack on what it has installed for the packages: archives keep their symbols and lose the rest,
# as programs do. The copies of the build folder stay as they are.
file(GLOB_RECURSE archives "${CPACK_TEMPORARY_DIRECTORY}/*.a")
foreach(archive IN LISTS archives)
  execute_process(COMMAND strip --strip-debug --enable-deterministic-archives "${archive}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
