"""A stranger: both sides of the channel protocol, from docs/protocol.md alone.

Tests let it ask our kernels and answer our programs. It polls, as a peer does
that has no file events, and uses nothing but Python's standard library.

    peer.py ask WORKSPACE VERB [--wait S] [--step S]
    peer.py kernel WORKSPACE [--step S] VERB...   until standard input ends
    peer.py stage WORKSPACE                       what is staged, from standard input
    peer.py commit WORKSPACE                      commits what is staged
    peer.py consume WORKSPACE                     reads, checks and consumes it
    peer.py check                                 one request a line, each a JSON string
"""

import argparse
import json
import os
import re
import secrets
import select
import stat
import sys
import time

SLEEP_BYTES, VERDICT_BYTES = 65_536, 1_000_000
ANSWER_BYTES = 32 << 20
MARKER_BYTES = 64


class Refused(Exception):
    """A request, or a part of one, that is against a rule."""


# --- Files -------------------------------------------------------------------


def open_channel(workspace):
    """Returns a descriptor of the channel's directory, which is no link."""
    flags = os.O_RDONLY | os.O_DIRECTORY
    work = os.open(workspace, flags)
    try:
        try:
            return os.open(".outerloop", flags | os.O_NOFOLLOW, dir_fd=work)
        except FileNotFoundError:
            return os.open(".autoresearch", flags | os.O_NOFOLLOW, dir_fd=work)
    finally:
        os.close(work)


def read(channel, name, most):
    """Returns a file's bytes, and raises OSError for whatever is no file."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    fd = os.open(name, flags, dir_fd=channel)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise OSError(f"{name} is no regular file of its own")
        content = b""
        while len(content) <= most:
            piece = os.read(fd, most + 1 - len(content))
            if not piece:
                return content
            content += piece
        raise OSError(f"{name} is larger than {most} bytes")
    finally:
        os.close(fd)


def put(channel, name, content):
    """Puts a file in place, whole or not at all."""
    fresh = ".peer-" + secrets.token_hex(8)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    fd = os.open(fresh, flags, 0o666, dir_fd=channel)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
        os.rename(fresh, name, src_dir_fd=channel, dst_dir_fd=channel)
    except OSError:
        os.unlink(fresh, dir_fd=channel)
        raise


def discard(channel, name):
    """Frees a name, whatever stands under it."""
    try:
        os.unlink(name, dir_fd=channel)
    except FileNotFoundError:
        pass
    except OSError:
        aside = ".aside-" + secrets.token_hex(8)
        os.rename(name, aside, src_dir_fd=channel, dst_dir_fd=channel)


# --- Markers -----------------------------------------------------------------


def answered(channel, verb):
    """Returns the stamp that has been answered, 0.0 for none."""
    try:
        text = read(channel, verb + "-done", MARKER_BYTES).decode("ascii").strip()
    except (OSError, ValueError):
        return 0.0
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text, re.ASCII):
        return 0.0
    value = float(text)
    return value if abs(value) != float("inf") else 0.0


def ask(workspace, verb, wait, step):
    """Leaves a question and looks for its answer now and then."""
    channel = open_channel(workspace)
    before = answered(channel, verb)
    fd = os.open(verb + "-request", os.O_WRONLY | os.O_CREAT, 0o666, dir_fd=channel)
    try:
        os.utime(fd)
        stamp = os.fstat(fd).st_mtime
        if stamp <= before:
            os.utime(fd, (before + 1, before + 1))
            stamp = os.fstat(fd).st_mtime
    finally:
        os.close(fd)
    end = time.monotonic() + wait
    while True:
        if answered(channel, verb) >= stamp:
            return json.loads(read(channel, verb + ".json", ANSWER_BYTES))
        if time.monotonic() >= end:
            return None
        time.sleep(step)


def pending(channel, verb):
    """Returns the stamp of a question without an answer, or None."""
    try:
        marker = os.stat(verb + "-request", dir_fd=channel, follow_symlinks=False)
    except OSError:
        return None
    if stat.S_ISREG(marker.st_mode) and marker.st_mtime > answered(channel, verb):
        return marker.st_mtime
    return None


def kernel(workspace, verbs, step):
    """Answers until standard input ends."""
    while not select.select([sys.stdin], [], [], step)[0]:
        try:
            channel = open_channel(workspace)
        except OSError:
            continue  # there will be one again
        try:
            for verb in verbs:
                serve(channel, verb)
        finally:
            os.close(channel)


def serve(channel, verb):
    stamp = pending(channel, verb)
    if stamp is None:
        return
    try:
        put(channel, verb + ".json", json.dumps(answer(verb)).encode())
        put(channel, verb + "-done", repr(stamp).encode())
    except OSError as error:
        print(f"{verb}: {error}", file=sys.stderr)  # the question stands


def answer(verb):
    """Returns an answer with something in it, umlauts included."""
    reply = {"at": time.time(), "run_id": "r1", "agent": "peer"}
    if verb == "queue":
        job = dict.fromkeys(("partition", "submitted", "reason", "gres", "limit"), "")
        job.update(id="7_3", name="r1-launch-a", state="RUNNING", elapsed="1:02", agent="peer", run_id="r1")
        job.update(mine=True, experiment="a", why="größer?", kind="launch", concurrency=2)
        reply.update(jobs=[job], lane={"partition": "gpu", "nodes": {"idle": 3}}, error="")
    elif verb == "history":
        entry = {"sleep": 1, "name": "a", "why": "größer?", "minutes": 30, "array": 2, "job_ids": ["7"]}
        back = {"name": "a.0", "exit_code": None, "state": "TIMEOUT", "ended_at": 1700000000.25}
        entry.update(submitted_at=1700000000, jobs=[back])
        del reply["agent"]
        reply.update(history=[entry])
    return reply


# --- Requests ----------------------------------------------------------------


def check(content):
    """Returns a committed request as it will be carried out, or raises Refused."""
    if len(content) > VERDICT_BYTES:
        raise Refused("larger than a verdict may be")
    try:
        request = json.loads(content.decode("utf-8"), object_pairs_hook=unique, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise Refused(f"no JSON: {error}") from None
    kind = want(request, dict, "request").pop("type", None)
    if kind == "sleep":
        if len(content) > SLEEP_BYTES:
            raise Refused("larger than a sleep may be")
        return check_sleep(request)
    if kind == "verdict":
        return check_verdict(request)
    raise Refused("type is neither sleep nor verdict")


def unique(pairs):
    if len(dict(pairs)) < len(pairs):
        raise Refused("a key is there twice")
    return dict(pairs)


def no_number(name):
    raise Refused(f"{name} is no JSON")


def want(value, kind, name):
    """Returns the value if it is of that very type: a bool is no int."""
    if type(value) is not kind:
        raise Refused(f"{name} is no {kind.__name__}")
    return value


def text(value, most, name):
    if len(want(value, str, name)) > most:
        raise Refused(f"{name} is longer than {most} characters")
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise Refused(f"{name} holds half of a surrogate pair")
    return value


def clamped(value, most, name, least=1):
    if want(value, int, name) < least:
        raise Refused(f"{name} is below {least}")
    return min(value, most)


def nothing_left(rest, name):
    if rest:
        raise Refused(f"{name} has the unknown key {min(rest)!r}")


def check_sleep(rest):
    launches = [check_launch(one) for one in want(rest.pop("launches", []), list, "launches")]
    if len(launches) > 8:
        raise Refused("more than 8 launches")
    if len({one["name"] for one in launches}) < len(launches):
        raise Refused("two launches of one name")
    note = text(rest.pop("note", ""), 2_000, "note")
    submit = want(rest.pop("submit", False), bool, "submit")
    checked = {"type": "sleep", "launches": launches, "note": note, "submit": submit}
    if submit:
        # The bound is for what is left of it, and nothing is left of a blank one.
        report = want(rest.pop("report", ""), str, "report").strip()
        checked["report"] = text(report, 8_000, "report")
        if not report:
            raise Refused("report is blank")
        if "eval_minutes" in rest:
            checked["eval_minutes"] = clamped(rest.pop("eval_minutes"), 1_440, "eval_minutes")
    nothing_left(rest, "sleep")
    return checked


def check_launch(launch):
    rest = want(launch, dict, "launch")
    name = text(rest.pop("name", None), 32, "name")
    if not re.fullmatch("[a-z0-9][a-z0-9-]{0,31}", name):
        raise Refused(f"{name!r} cannot name a launch")
    command = text(rest.pop("command", None), 2_000, "command")
    if not command.strip() or "\0" in command:
        raise Refused("command is blank or holds a NUL")
    minutes = clamped(rest.pop("minutes", 30), 240, "minutes")
    array = clamped(rest.pop("array", 1), 16, "array")
    concurrency = clamped(rest.pop("concurrency", 0), array, "concurrency", least=0)
    why = " ".join(want(rest.pop("why", ""), str, "why").split())
    artifacts = want(rest.pop("artifacts", []), list, "artifacts")
    if len(artifacts) > 8:
        raise Refused("more than 8 artifacts")
    for path in artifacts:
        check_artifact(path)
    checked = {"name": name, "command": command, "minutes": minutes, "artifacts": artifacts, "array": array}
    if text(why, 200, "why"):
        checked["why"] = why
    if concurrency and array > 1:
        checked["concurrency"] = concurrency
    nothing_left(rest, "launch")
    return checked


def check_artifact(path):
    text(path, 500, "artifact")
    if path[:1] in ("/", "~") or "\\" in path or "\0" in path:
        raise Refused(f"{path!r} is no relative path")
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise Refused(f"{path!r} leads away")


def check_verdict(rest):
    if "findings" not in rest or "notes" not in rest:
        raise Refused("findings and notes are required")
    findings = want(rest.pop("findings"), list, "findings")
    if len(findings) > 200:
        raise Refused("more than 200 findings")
    for finding in findings:
        check_finding(dict(want(finding, dict, "finding")))
    checked = {"type": "verdict", "findings": findings, "notes": text(rest.pop("notes"), 6_000, "notes")}
    nothing_left(rest, "verdict")
    return checked


def check_finding(rest):
    for key in ("file", "summary", "detail"):
        text(rest.pop(key, None), 6_000, key)
    if "category" in rest:
        text(rest.pop("category"), 6_000, "category")
    want(rest.pop("blocking", None), bool, "blocking")
    if rest.pop("confidence", None) not in ("low", "medium", "high"):
        raise Refused("confidence is not known")
    if rest.pop("kind", None) not in ("change", "suggestion", "question", "note"):
        raise Refused("kind is not known")
    if "line" not in rest:
        raise Refused("line is required")
    line = rest.pop("line")
    if line is not None:
        want(line, int, "line")
    nothing_left(rest, "finding")


def consume(workspace):
    """Reads the committed request, consumes it, and only then checks it."""
    channel = open_channel(workspace)
    try:
        content = read(channel, "syscall.json", VERDICT_BYTES)
    except OSError as error:
        raise Refused(str(error)) from None
    finally:
        discard(channel, "request.json")
        discard(channel, "syscall.json")
        os.close(channel)
    return check(content)


def stage(workspace):
    channel = open_channel(workspace)
    put(channel, "request.json", json.dumps(json.load(sys.stdin)).encode())


def commit(workspace):
    """Commits what is staged, by whichever program of whichever language."""
    channel = open_channel(workspace)
    staged = json.loads(read(channel, "request.json", 4 << 20))
    request = {"type": "sleep", "launches": staged.get("launches", [])}
    request.update(note=staged.get("note", ""), submit=staged.get("submit", False))
    if request["submit"]:
        request["report"] = staged.get("report", "")
        if staged.get("eval_minutes") is not None:
            request["eval_minutes"] = staged["eval_minutes"]
    put(channel, "syscall.json", json.dumps(request).encode())
    discard(channel, "request.json")


def check_lines():
    """Answers each line, a request in a JSON string, with one line."""
    for line in sys.stdin:
        try:
            print(json.dumps(check(json.loads(line).encode("utf-8", "surrogatepass"))))
        except Refused as error:
            print(json.dumps({"refused": str(error)}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("act", choices=("ask", "kernel", "stage", "commit", "consume", "check"))
    parser.add_argument("workspace", nargs="?")
    parser.add_argument("verbs", nargs="*")
    parser.add_argument("--wait", type=float, default=30)
    parser.add_argument("--step", type=float)
    args = parser.parse_intermixed_args()
    try:
        if args.act == "ask":
            reply = ask(args.workspace, args.verbs[0], args.wait, args.step or 1)
            if reply is None:
                sys.exit("nobody answered")
            print(json.dumps(reply))
        elif args.act == "kernel":
            kernel(args.workspace, args.verbs, args.step or 2)
        elif args.act == "consume":
            print(json.dumps(consume(args.workspace)))
        elif args.act == "check":
            check_lines()
        else:
            {"stage": stage, "commit": commit}[args.act](args.workspace)
    except Refused as error:
        sys.exit(f"refused: {error}")


main()
