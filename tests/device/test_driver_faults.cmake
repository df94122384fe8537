# The drivers are made up: fake_drivers.h stands where the library opens real ones.
target_link_options(test_driver_faults_device PRIVATE -Wl,--wrap=cutis_os_library_open
                    -Wl,--wrap=cutis_os_library_symbol -Wl,--wrap=cutis_os_library_close)
