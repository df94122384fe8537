pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
target_link_libraries(${name}_${room} PRIVATE cutis-render_static PkgConfig::JANSSON)
