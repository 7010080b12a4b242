# Compiler settings and the two functions that every folder's CMakeLists.txt is written with.

find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(PkgConfig REQUIRED)

# Line tables are enough for a stack trace, and a third of the build time cheaper than all of -g.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
if(EPSLEDGER_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1 -DNDEBUG")
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # What ccache needs to be told of precompiled headers (its manual, "Precompiled headers").
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE_PROGRAM}")
endif()
find_program(LLD_PROGRAM NAMES ld.lld ld.lld-14)
if(LLD_PROGRAM)
  add_link_options(-fuse-ld=lld)
endif()

if(EPSLEDGER_SANITIZE)
  add_compile_options(-fsanitize=${EPSLEDGER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${EPSLEDGER_SANITIZE})
endif()

set(EPSLEDGER_WARNINGS -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND EPSLEDGER_WARNINGS -Wthread-safety)
else()
  # g++ 12 warns falsely of the members of a std::variant of structs with vectors.
  list(APPEND EPSLEDGER_WARNINGS -Wno-maybe-uninitialized)
endif()

# epsledger_library(NAME SOURCES a.cc ... LINKS targets ...)
# A static library of one folder. It sees what its LINKS allow and nothing else; includes are
# written from the root of the tree ("accounting/event/mechanism_event.h").
function(epsledger_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  target_compile_options(${name} PRIVATE ${EPSLEDGER_WARNINGS})
  target_link_libraries(${name} PUBLIC ${ARG_LINKS})
endfunction()

# epsledger_executable(NAME SOURCES main.cc ... LINKS targets ...)
function(epsledger_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE ${EPSLEDGER_WARNINGS})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS})
endfunction()

# epsledger_compile_lightly(NAME [WHEN_CHECKED])
# For what reads, prints and calls, and computes nothing itself: it takes longer to optimise than to run. With
# sanitizers half of a build is their code's optimisation. WHEN_CHECKED: only with sanitizers, because users wait for it.
function(epsledger_compile_lightly name)
  cmake_parse_arguments(ARG "WHEN_CHECKED" "" "" ${ARGN})
  if(EPSLEDGER_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)
  elseif(NOT ARG_WHEN_CHECKED)
    target_compile_options(${name} PRIVATE -O1)
  endif()
endfunction()

# epsledger_compile_generated(NAME)
# For what protoc writes: no sanitizer watches it, only fuzzers are guided by it.
function(epsledger_compile_generated name)
  if(EPSLEDGER_SANITIZE)
    target_compile_options(${name} PRIVATE -fno-sanitize=address,undefined)
  endif()
endfunction()

# epsledger_precompile(NAME <header> ...)
# What most files of NAME begin with is parsed once.
function(epsledger_precompile name)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

# epsledger_compile_together(NAME [AT_A_TIME n] [EXCEPT a.cc ...])
# Files of NAME are compiled n at a time, eight unless told otherwise. Most of what a file costs is the headers of gRPC, protobuf, CLI11 and
# GoogleTest and the templates that it takes from them. What is in the anonymous namespaces of such files must differ
# in its names; EXCEPT names files that are compiled alone. The preset `alone` (-DEPSLEDGER_COMPILE_TOGETHER=OFF)
# compiles every file by itself and without precompiled headers: that none leans on another's includes.
option(EPSLEDGER_COMPILE_TOGETHER "Compile several files at a time, with precompiled headers" ON)
function(epsledger_compile_together name)
  cmake_parse_arguments(ARG "" "AT_A_TIME" "EXCEPT" ${ARGN})
  if(NOT ARG_AT_A_TIME)
    set(ARG_AT_A_TIME 8)
  endif()
  if(EPSLEDGER_COMPILE_TOGETHER)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ARG_AT_A_TIME})
    set_source_files_properties(${ARG_EXCEPT} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
if(NOT EPSLEDGER_COMPILE_TOGETHER)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
