#!/bin/sh
# The author's command for Claude Code: one leg is one turn of the same conversation.
#
#	outerloop-tick new … --network --read DIR-OF-THIS-FILE -- sh DIR-OF-THIS-FILE/claude.sh
#
# The prompt comes on standard input. ANTHROPIC_API_KEY is read from the file that OUTERLOOP_HARNESS_KEY_FILE names, else from "key" in HOME, which
# is <state root>/runs/<run>/home and stays from leg to leg. OUTERLOOP_AUTHOR_MODEL names a model.
set -eu
here=$(dirname "$0")

key=${OUTERLOOP_HARNESS_KEY_FILE:-$HOME/key}
if [ -f "$key" ]; then
	ANTHROPIC_API_KEY=$(cat "$key")
	export ANTHROPIC_API_KEY
fi
# The sandbox is outside: what the agent may touch is decided there. Without this the program
# would ask a person, and as root it would refuse to go without asking.
export IS_SANDBOX=1

set -- --print --dangerously-skip-permissions --append-system-prompt "$(cat "$here/brief.md")"
[ -z "${OUTERLOOP_AUTHOR_MODEL:-}" ] || set -- "$@" --model "$OUTERLOOP_AUTHOR_MODEL"
# Only where a conversation was kept: a leg that was killed at once has begun none.
for kept in "$HOME"/.claude/projects/*/*.jsonl; do
	[ ! -e "$kept" ] || { set -- "$@" --continue && break; }
done
exec claude "$@"
