#!/bin/sh
# Runs a verb, or whatever you name, with bubblewrap in a root that holds the verbs and the
# workspace alone: no /proc, no /etc, no /dev, no network, and only the workspace to write to.
#
#	sh examples/sandbox/bwrap.sh BIN WORKSPACE PROGRAM [ARGUMENT...]
#
# BIN is the directory with the syscall programs. A real agent needs more than this: add a
# --ro-bind for each directory of its own, as outerloop-tick's --read does.
set -eu
bin=$1 workspace=$2
shift 2
exec bwrap --unshare-all --die-with-parent --new-session --clearenv \
	--ro-bind "$bin" /bin --bind "$workspace" /work --remount-ro / \
	--setenv OUTERLOOP_WORKSPACE /work --setenv PATH /bin --chdir /work \
	-- "$@"
