# What an operator does with what was installed, first of all.
cd "$(mktemp -d)"
cat >author.sh <<'AUTHOR'
test ! -e woken || exit 0
touch woken
syscall-launch --name hello --artifact out -- sh -c 'echo hello >out'
syscall-sleep
AUTHOR
mkdir work
mv author.sh work
echo 'Say hello.' >task.md
outerloop-tick new --local --root "$PWD/root" --sandbox none --run first --workspace work --prompt task.md -- sh author.sh
outerloop-tick --root "$PWD/root" --loop --until-idle
outerloop-tick status --root "$PWD/root" --json | grep -E '"outcome": ?"finished"'
test "$(cat work/.outerloop/results/hello/out)" = hello
# Set up by flags, with an agent whose script the package brings; a stand-in for the agent itself.
test -e /usr/local/bin/claude || ln -s /bin/true /usr/local/bin/claude
export HOME="$PWD/home"
outerloop-tick init --yes --compute local --sandbox none --author claude
grep "^OUTERLOOP_AUTHOR=.*/usr/share/outerloop/authors/claude.sh" "$HOME/.config/outerloop/.env"
test -s /usr/share/outerloop/authors/brief.md
test -s /usr/share/man/man1/outerloop-tick-init.1.gz
test -s /usr/share/man/man1/outerloop-tick-new.1.gz
test -s /usr/share/man/man1/syscall-launch.1.gz
test -s /usr/share/bash-completion/completions/outerloop-tick
test -s /usr/lib/systemd/user/outerloop-tick.timer
