# Installs, uses and removes the packages in an overlay of this machine's root, in a mount
# namespace that ends with the script.
#
#	unshare --mount sh deb.sh DIR PACKAGE...
set -eux
dir=$1
shift
mount -t tmpfs none "$dir"
mkdir "$dir/upper" "$dir/work" "$dir/image"
mount -t overlay none -o "lowerdir=/,upperdir=$dir/upper,workdir=$dir/work" "$dir/image"
mount --rbind /dev "$dir/image/dev"
mount -t proc none "$dir/image/proc"
mkdir "$dir/image/packages"
cp "$@" "$dir/image/packages"
cp "$(dirname "$0")/use.sh" "$dir/image/packages"

chroot "$dir/image" sh -eux -c 'dpkg -i /packages/*.deb && sh -eux /packages/use.sh && dpkg -r outerloop outerloop-verbs'
left=$(find "$dir/upper/usr" \( -name "*outerloop*" -o -name "*syscall-*" \) -not -type c)
test -z "$left"
