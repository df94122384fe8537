target_link_libraries(${name}_${room} PRIVATE cutis-render_static)
