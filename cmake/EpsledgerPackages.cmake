# Debian packages, one a part of EpsledgerInstall.cmake: `./dev package`. They are made of what was built.
# What a program links is found by dpkg-shlibdeps, so that a package asks for the libraries that it was
# built with and no others.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME epsledger)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "privacy accounting service")
set(CPACK_PACKAGE_VENDOR epsledger)
set(CPACK_PACKAGE_CONTACT "the epsledger authors <epsledger@localhost>")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/package/finish_packages.cmake")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL server cli trainers development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(package_files "${PROJECT_SOURCE_DIR}/cmake/package")
set(CPACK_DEBIAN_SERVER_PACKAGE_NAME epsledger-server)
set(CPACK_DEBIAN_SERVER_PACKAGE_SECTION net)
set(CPACK_DEBIAN_SERVER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_SERVER_PACKAGE_SUGGESTS "epsledger-cli, postgresql, prometheus")
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA
    "${package_files}/postinst;${package_files}/prerm;${package_files}/postrm;${package_files}/conffiles")
set(CPACK_DEBIAN_SERVER_DESCRIPTION
"The server. Training runs on private data ask epsledgerd before each noisy
step, and are refused when the step would overspend. It keeps the account
durably, and tells every number together with the theorem that makes it true.")

set(CPACK_DEBIAN_CLI_PACKAGE_NAME epsledger-cli)
set(CPACK_DEBIAN_CLI_PACKAGE_SECTION net)
set(CPACK_DEBIAN_CLI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_CLI_PACKAGE_SUGGESTS epsledger-server)
set(CPACK_DEBIAN_CLI_DESCRIPTION
"The command line. epsctl makes and reads the budgets, sessions and charges of
an epsledger server, and does the mathematics of differential privacy without
one. epsledger-alerts watches the server and sends alerts by webhook and mail.")

set(CPACK_DEBIAN_TRAINERS_PACKAGE_NAME epsledger-trainers)
set(CPACK_DEBIAN_TRAINERS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TRAINERS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TRAINERS_PACKAGE_RECOMMENDS curl)
set(CPACK_DEBIAN_TRAINERS_PACKAGE_SUGGESTS "epsledger-server, python3-sklearn")
set(CPACK_DEBIAN_TRAINERS_DESCRIPTION
"The reference trainers. Programs that train on private records and ask an
epsledger server for a permit before every noisy step: epsledger-istdp for
sparse linear models, epsledger-fsdp for networks.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libepsledger-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libabsl-dev, libgrpc++-dev, libprotobuf-dev, libssl-dev, pkg-config, protobuf-compiler, protobuf-compiler-grpc")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
"The C++ libraries. The client library, which gives a permit for noise only
after a charge was accepted, and the mathematics, for find_package(epsledger).")

include(CPack)
