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

# Some libraries ask for it and some do not, and a precompiled header serves what is compiled with the same flags.
add_compile_options(-pthread)

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
  # What follows in the folder can still choose others.
  set_target_properties(${name} PROPERTIES EPSLEDGER_PRECOMPILED "${EPSLEDGER_COMMON_HEADERS}")
  cmake_language(EVAL CODE "cmake_language(DEFER CALL epsledger_reuse_headers ${name})")
endfunction()

function(epsledger_reuse_headers name)
  get_target_property(headers ${name} EPSLEDGER_PRECOMPILED)
  if(headers)
    target_precompile_headers(${name} REUSE_FROM ${headers})
  endif()
endfunction()

# epsledger_common_headers(NAME [<header> ...] [LINKS targets ...])
# What nearly every file of this folder and of those below begins with is parsed once, for the libraries that are
# declared after it: twice, since a precompiled header serves one degree of optimisation. The preset `alone` shows that
# no file leans on it.
function(epsledger_common_headers name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  file(CONFIGURE OUTPUT "${name}.cc" CONTENT "")
  foreach(target ${name} ${name}_light)
    add_library(${target} STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_BINARY_DIR}/${name}.cc")
    target_compile_options(${target} PRIVATE ${EPSLEDGER_WARNINGS})
    target_link_libraries(${target} PRIVATE absl::status absl::statusor absl::str_format absl::strings ${ARG_LINKS})
    target_precompile_headers(${target} PRIVATE
      <algorithm> <cmath> <cstdint> <functional> <limits> <map> <memory> <optional> <string> <string_view> <utility>
      <variant> <vector> <absl/status/status.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
      <absl/strings/str_format.h> ${ARG_UNPARSED_ARGUMENTS})
  endforeach()
  epsledger_compile_lightly(${name}_light)
  set(EPSLEDGER_COMMON_HEADERS ${name} PARENT_SCOPE)
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
  else()
    return()
  endif()
  get_target_property(headers ${name} EPSLEDGER_PRECOMPILED)
  if(headers)
    set_target_properties(${name} PROPERTIES EPSLEDGER_PRECOMPILED ${headers}_light)
  endif()
endfunction()

# epsledger_compile_generated(NAME)
# For what protoc writes: no sanitizer watches it, only fuzzers are guided by it.
function(epsledger_compile_generated name)
  if(EPSLEDGER_SANITIZE)
    target_compile_options(${name} PRIVATE -fno-sanitize=address,undefined)
  endif()
  set_target_properties(${name} PROPERTIES EPSLEDGER_PRECOMPILED "")
endfunction()

# epsledger_precompile(NAME <header> ...)
# What most files of NAME begin with is parsed once; these headers stand for the common ones.
function(epsledger_precompile name)
  set_target_properties(${name} PROPERTIES EPSLEDGER_PRECOMPILED "")
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

# epsledger_compile_together(NAME [AT_A_TIME n] [EXCEPT a.cc ...])
# Files of NAME are compiled n at a time, sixteen unless told otherwise. Most of what a file costs is the headers of
# gRPC, protobuf, CLI11 and GoogleTest and the templates that it takes from them. What is in the anonymous namespaces of
# such files must differ in its names; EXCEPT names files that are compiled alone. The preset `alone` compiles every file
# by itself and without precompiled headers (-DEPSLEDGER_COMPILE_TOGETHER=OFF): that none leans on another's includes.
option(EPSLEDGER_COMPILE_TOGETHER "Compile several files at a time, with precompiled headers" ON)
function(epsledger_compile_together name)
  cmake_parse_arguments(ARG "" "AT_A_TIME" "EXCEPT" ${ARGN})
  if(NOT ARG_AT_A_TIME)
    set(ARG_AT_A_TIME 16)
  endif()
  if(EPSLEDGER_COMPILE_TOGETHER)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ARG_AT_A_TIME})
    set_source_files_properties(${ARG_EXCEPT} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
if(NOT EPSLEDGER_COMPILE_TOGETHER)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
