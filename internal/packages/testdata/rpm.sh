# Installs, uses and removes the packages in an empty root: rpm has no database of what
# this machine has, so git is a dependency that it can not see.
#
#	unshare --mount sh rpm.sh DIR PACKAGE...
set -eux
dir=$1
shift
mount -t tmpfs none "$dir"
for package; do rpm -qp --requires "$package"; done >"$dir/requires"
grep -qx git "$dir/requires"
grep -q '^outerloop-verbs = ' "$dir/requires"
mkdir "$dir/image"
rpm --root "$dir/image" --nodeps --ignorearch -i "$@"
mkdir -p "$dir/image/proc" "$dir/image/ws/.outerloop"
chroot "$dir/image" /usr/bin/outerloop-tick --version
OUTERLOOP_WORKSPACE=/ws chroot "$dir/image" /usr/bin/syscall-note hello
test -s "$dir/image/ws/.outerloop/request.json"
rpm --root "$dir/image" -e outerloop outerloop-verbs
left=$(find "$dir/image" \( -name 'outerloop-*' -o -name 'syscall-*' \) -print)
test -z "$left"
