#!/bin/sh
# The author's command for Codex: one leg is one turn of the same session.
#
#	outerloop-tick new … --network --read DIR-OF-THIS-FILE -- sh DIR-OF-THIS-FILE/codex.sh
#
# The prompt comes on standard input. CODEX_API_KEY is read from the file that OUTERLOOP_CODEX_KEY_FILE names, else from "key" in HOME, which is
# <state root>/runs/<run>/home and stays from leg to leg. OUTERLOOP_CODEX_BIN names another program,
# OUTERLOOP_AUTHOR_MODEL a model.
set -eu
here=$(dirname "$0")

key=${OUTERLOOP_CODEX_KEY_FILE:-$HOME/key}
if [ -f "$key" ]; then
	CODEX_API_KEY=$(cat "$key")
	export CODEX_API_KEY
fi

# The sandbox is outside, and a workspace need not be a repository.
set -- --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check
[ -z "${OUTERLOOP_AUTHOR_MODEL:-}" ] || set -- "$@" --model "$OUTERLOOP_AUTHOR_MODEL"
# Only where a session was kept: a leg that was killed at once has begun none.
for kept in "$HOME"/.codex/sessions/*/*/*/*.jsonl; do
	[ ! -e "$kept" ] || exec "${OUTERLOOP_CODEX_BIN:-codex}" exec resume --last "$@" -
done
# It has no flag for standing instructions, so they go before the first prompt.
{
	cat "$here/brief.md"
	echo
	cat
} | "${OUTERLOOP_CODEX_BIN:-codex}" exec "$@" -
