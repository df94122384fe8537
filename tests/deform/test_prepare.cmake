# The drivers are made up: tests/device/fake_drivers.h stands where the library opens real ones.
target_link_options(test_prepare_deform PRIVATE -Wl,--wrap=cutis_os_library_open
                    -Wl,--wrap=cutis_os_library_symbol -Wl,--wrap=cutis_os_library_close)
