# Every public function that can fail has a scenario in which each of its allocations fails (test_allocation*.c), or stands
# below with the reason why not.
. "$(dirname "$0")/../cli/common.sh"
folder=$(dirname "$0")
without='cutis_context_create a_test_of_its_own
cutis_model_find_clip allocates_nothing
cutis_model_find_joint allocates_nothing
cutis_method_from_name allocates_nothing
cutis_patch_removal_from_name allocates_nothing
cutis_patch_fill_from_name allocates_nothing
cutis_body_from_name allocates_nothing
cutis_family_kind_from_name allocates_nothing
cutis_family_resolve allocates_nothing
cutis_image_compare allocates_nothing
cutis_image_text allocates_only_in_cairo
cutis_synth_arm_examples allocates_nothing
cutis_device_list allocates_only_in_drivers
cutis_device_finish allocates_nothing
cutis_buffer_read allocates_nothing
cutis_buffer_write allocates_nothing
cutis_deform allocates_nothing
cutis_binding_palette allocates_nothing
cutis_skin_vertices allocates_nothing
cutis_crowd_resize allocates_nothing
cutis_crowd_set allocates_nothing
cutis_crowd_place allocates_nothing
cutis_crowd_run allocates_nothing
cutis_surface_pick allocates_nothing
cutis_painting_put allocates_nothing
cutis_frame_header allocates_nothing
cutis_frame_writer_add with_cutis_frame_writer_create
cutis_frame_writer_finish with_cutis_frame_writer_create
cutis_live_deform with_cutis_live_create
cutis_baker_look with_cutis_baker_create
cutis_baker_learn with_cutis_baker_create
cutis_baker_take with_cutis_baker_create
cutis_baker_follow with_cutis_baker_create
cutis_baker_put with_cutis_baker_create
cutis_baker_finish with_cutis_baker_create
cutis_live_draw with_cutis_live_create
cutis_live_read with_cutis_live_create'
total=0 missing=
for name in $(cat "$folder"/../../include/cutis/*.h | tr '\n' ' ' | grep -oE 'CUTIS_API cutis_result +cutis_[a-z0-9_]+\(' | grep -oE 'cutis_[a-z0-9_]+\($' | tr -d '('); do
    total=$((total + 1))
    grep -q "{ \"$name\"," "$folder"/test_allocation*.c && continue
    echo "$without" | grep -q "^$name " || missing="$missing $name"
done
count=$(cat "$folder"/test_allocation*.c | grep -cE '^ +\{ "cutis_[a-z0-9_]+", ')
if [ "$total" -lt 80 ]; then not_ok "the public headers are understood" "only $total functions"; else ok "the public headers are understood"; fi
if [ -z "$missing" ]; then ok "every public function that allocates has a scenario"; else not_ok "every public function that allocates has a scenario" "not:$missing"; fi
if [ "$count" -ge 100 ]; then ok "there are at least 100 scenarios"; else not_ok "there are at least 100 scenarios" "$count"; fi
exit $failed
