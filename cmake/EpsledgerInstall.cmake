# What `cmake --install` puts where, in the four parts that are Debian packages too: server, cli,
# trainers, development. It installs what was built and builds nothing.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS epsledgerd RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT server)
install(PROGRAMS cmake/package/epsledger-backup cmake/package/epsledger-restore
        DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT server)
# A unit file names its program without a path; systemd looks in /usr/local/bin and /usr/bin.
install(FILES cmake/package/epsledgerd.service DESTINATION lib/systemd/system COMPONENT server)
install(FILES cmake/package/epsledgerd.sysusers DESTINATION lib/sysusers.d RENAME epsledgerd.conf COMPONENT server)
# The unit reads /etc/epsledger/epsledgerd.env. An install below /usr puts it there, unless it has one
# already; any other one stays below its prefix, and beside its documents is what to copy to /etc.
set(environment_file "${PROJECT_SOURCE_DIR}/cmake/package/epsledgerd.env")
install(CODE "
  cmake_path(SET folder NORMALIZE \"\${CMAKE_INSTALL_PREFIX}/../etc/epsledger\")
  if(NOT CMAKE_INSTALL_PREFIX MATCHES \"/usr$\" OR EXISTS \"\$ENV{DESTDIR}\${folder}/epsledgerd.env\")
    set(folder \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/doc/epsledger-server\")
  endif()
  file(INSTALL DESTINATION \"\${folder}\" TYPE FILE PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ
       FILES \"${environment_file}\")" COMPONENT server)

# How to run it, and the alerts and the dashboard that it speaks of, in the folders that it names.
set(server_documents "${CMAKE_INSTALL_DATADIR}/doc/epsledger-server")
install(FILES docker/OPERATIONS.md docker/README.md DESTINATION "${server_documents}" COMPONENT server)
install(FILES docker/prometheus/rules.yml DESTINATION "${server_documents}/prometheus" COMPONENT server)
install(FILES docker/grafana/dashboards/epsledger.json DESTINATION "${server_documents}/grafana/dashboards"
        COMPONENT server)

install(TARGETS epsctl epsledger-alerts RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT cli)
if(TARGET epsctl_completions)
  set(completions "${PROJECT_BINARY_DIR}/client/cli/epsctl")
  install(FILES "${completions}.bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
          RENAME epsctl COMPONENT cli)
  install(FILES "${completions}.zsh" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions"
          RENAME _epsctl COMPONENT cli)
  install(FILES "${completions}.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT cli)
endif()

install(TARGETS epsledger-istdp epsledger-fsdp epsledger-fsdp-published epsledger-trainer-attack
        RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT trainers)

# ---- find_package(epsledger) -----------------------------------------------------------------------
# Two export sets, so that a program that only computes needs no gRPC. The stubs and messages come along
# as archives, without their headers: the client's own headers know nothing of them.
set_target_properties(epsledger_client PROPERTIES EXPORT_NAME client)
set_target_properties(epsledger_grpc PROPERTIES EXPORT_NAME client_stubs)
set_target_properties(epsledger_proto PROPERTIES EXPORT_NAME client_messages)
set_target_properties(epsledger_json_syntax PROPERTIES EXPORT_NAME client_json_syntax)
set_target_properties(epsledger_accounting PROPERTIES EXPORT_NAME accounting)
target_compile_features(epsledger_client INTERFACE cxx_std_20)
target_compile_features(epsledger_accounting INTERFACE cxx_std_20)
install(TARGETS epsledger_client epsledger_grpc epsledger_proto epsledger_json_syntax EXPORT epsledger_client_targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
# Its headers include each other as "accounting/...", which is no name for a folder of /usr/include.
install(TARGETS epsledger_accounting EXPORT epsledger_accounting_targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/epsledger-accounting" COMPONENT development)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/epsledger")
foreach(part client accounting)
  install(EXPORT epsledger_${part}_targets FILE epsledger-${part}.cmake NAMESPACE epsledger::
          DESTINATION "${package_folder}" COMPONENT development)
endforeach()
configure_package_config_file(cmake/epsledger-config.cmake.in epsledger-config.cmake
  INSTALL_DESTINATION "${package_folder}" NO_SET_AND_CHECK_MACRO)
# Before version 1 a minor version may change what callers see.
write_basic_package_version_file(epsledger-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/epsledger-config.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/epsledger-config-version.cmake"
        DESTINATION "${package_folder}" COMPONENT development)

# ---- what comes with every part --------------------------------------------------------------------
foreach(part server cli trainers development)
  set(package_of_server epsledger-server)
  set(package_of_cli epsledger-cli)
  set(package_of_trainers epsledger-trainers)
  set(package_of_development libepsledger-dev)
  install(FILES cmake/package/copyright DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package_of_${part}}" COMPONENT ${part})
endforeach()
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/libepsledger-dev" COMPONENT development)
