# Run by CPack on what it has installed for the packages, before it packs them. The copies of the build
# folder stay as they are.

# Archives keep their symbols and lose the rest, as programs do.
file(GLOB_RECURSE archives "${CPACK_TEMPORARY_DIRECTORY}/*.a")
foreach(archive IN LISTS archives)
  execute_process(COMMAND strip --strip-debug --enable-deterministic-archives "${archive}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()

function(compress file)
  execute_process(COMMAND gzip --best --no-name --force "${file}" COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD "${file}.gz" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()

# A manual page of each program, made of what its --help says.
set(about_epsledgerd "ledger of privacy budgets")
set(about_epsledger-backup "copy the ledgers of a data directory")
set(about_epsledger-restore "make ledgers from a backup")
set(about_epsctl "command line of the privacy ledger, and its calculator")
set(about_epsledger-alerts "alerts of the privacy ledger, by webhook and mail")
set(about_epsledger-istdp "differentially private sparse linear models")
set(about_epsledger-fsdp "differentially private image classifiers in a subspace of the features")
set(about_epsledger-fsdp-published "the published algorithm of FSDP")
set(about_epsledger-trainer-attack "membership attacks on the trainers")
find_program(HELP2MAN help2man)
file(GLOB programs "${CPACK_TEMPORARY_DIRECTORY}/*/usr/bin/*")
if(programs AND NOT HELP2MAN)
  message(WARNING "the packages have no manual pages: help2man is not installed")
  set(programs)
endif()
foreach(program IN LISTS programs)
  cmake_path(GET program FILENAME name)
  string(REGEX REPLACE "/bin/[^/]*$" "/share/man/man1" folder "${program}")
  file(MAKE_DIRECTORY "${folder}")
  execute_process(
    COMMAND "${HELP2MAN}" --no-info --section 1 --name "${about_${name}}" --version-string "${CPACK_PACKAGE_VERSION}"
            --source "epsledger ${CPACK_PACKAGE_VERSION}" --manual "epsledger" --output "${folder}/${name}.1" "${program}"
    COMMAND_ERROR_IS_FATAL ANY)
  compress("${folder}/${name}.1")
endforeach()

# The changelogs: the project's own, and that of the Debian packages, which points to it. Both have the
# time of SOURCE_DATE_EPOCH where that is set.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(GLOB documents "${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*")
foreach(folder IN LISTS documents)
  cmake_path(GET folder FILENAME package)
  file(COPY_FILE "${CMAKE_CURRENT_LIST_DIR}/../../CHANGELOG.md" "${folder}/CHANGELOG.md")
  compress("${folder}/CHANGELOG.md")
  file(WRITE "${folder}/changelog"
       "${package} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
       "  * Release ${CPACK_PACKAGE_VERSION}: CHANGELOG.md.gz in this folder says what it changes.\n\n"
       " -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")
  compress("${folder}/changelog")
endforeach()

# What lintian is told, with the reason.
foreach(folder IN LISTS documents)
  cmake_path(GET folder FILENAME package)
  string(CONCAT overrides "# The project has no mail address.\n"
    "${package}: bogus-mail-host Maintainer *\n${package}: bogus-mail-host-in-debian-changelog *\n")
  if(package STREQUAL "epsledger-server")
    string(APPEND overrides
      "# People enable the unit by systemctl, of which deb-systemd-helper keeps no record to undo.\n"
      "${package}: maintainer-script-calls-systemctl *\n"
      "# It may come to hold the place of a key or the name of a database: for root alone.\n"
      "${package}: non-standard-file-perm 0640 != 0644 *etc/epsledger/epsledgerd.env*\n")
  endif()
  file(WRITE "${folder}/../../lintian/overrides/${package}" "${overrides}")
endforeach()
