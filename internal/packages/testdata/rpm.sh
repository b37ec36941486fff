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
mkdir "$dir/root"
rpm --root "$dir/root" --nodeps --ignorearch -i "$@"
mkdir -p "$dir/root/proc" "$dir/root/ws/.outerloop"
chroot "$dir/root" /usr/bin/outerloop-tick --version
OUTERLOOP_WORKSPACE=/ws chroot "$dir/root" /usr/bin/syscall-note hello
test -s "$dir/root/ws/.outerloop/request.json"
rpm --root "$dir/root" -e outerloop outerloop-verbs
left=$(find "$dir/root" \( -name 'outerloop-*' -o -name 'syscall-*' \) -print)
test -z "$left"
