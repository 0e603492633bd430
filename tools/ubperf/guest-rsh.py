#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Starts commands in the other guests of bench-vm.sh, over their own network.

usage: guest-rsh.py serve		run what comes, until "quit"
       guest-rsh.py all COMMAND...	on all ranks, this one too; worst status
       guest-rsh.py quit		end the servers
       guest-rsh.py HOST COMMAND...	on one, as rsh would (mpirun's rsh agent)

Rank R is 10.77.0.R+1; a server listens there alone, and whoever reaches it may
run anything: it is meant for a switch that only the guests of one run are on.
A command gets the server's environment: UB_RANK and the like are the guest's.
"""
import json
import os
import socket
import subprocess
import sys
import threading
import time

NET = os.environ.get("UBPERF_NET", "10.77.0")   # another one for tests
PORT = 7777
CONNECT_SECONDS = 60


def address(rank):
    return "%s.%d" % (NET, rank + 1)


def execute(conn, argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace")
    with conn, conn.makefile("w") as f:
        json.dump([done.returncode, done.stdout, done.stderr], f)


def serve():
    with socket.create_server((address(int(os.environ["UB_RANK"])), PORT)) as s:
        while True:
            conn, _ = s.accept()
            argv = json.loads(conn.makefile("r").readline())
            if argv is None:
                return
            # mpirun's daemon runs as long as its job.
            threading.Thread(target=execute, args=(conn, argv), daemon=True).start()


def order(host, argv):
    """The connection over which the answer will come."""
    give_up = time.monotonic() + CONNECT_SECONDS
    while True:
        try:
            conn = socket.create_connection((host, PORT), timeout=5)
            break
        except OSError:
            # Its server may not be up yet.
            if time.monotonic() > give_up:
                raise
            time.sleep(0.5)
    conn.settimeout(None)
    conn.sendall(json.dumps(argv).encode() + b"\n")
    return conn


def answer(conn):
    with conn, conn.makefile("r") as f:
        status, out, err = json.load(f)
    sys.stdout.write(out)
    sys.stderr.write(err)
    return status if status >= 0 else 128 - status


def others():
    return [address(r) for r in range(1, int(os.environ["UB_SIZE"]))]


def on_all(argv):
    conns = [order(host, argv) for host in others()]
    worst = subprocess.run(argv, check=False).returncode
    for conn in conns:
        worst = max(worst, answer(conn), key=abs)
    return worst


def main():
    if sys.argv[1:] == ["serve"]:
        serve()
    elif sys.argv[1:] == ["quit"]:
        for host in others():
            order(host, None).close()
    elif len(sys.argv) > 2 and sys.argv[1] == "all":
        sys.exit(on_all(sys.argv[2:]))
    elif len(sys.argv) > 2:
        sys.exit(answer(order(sys.argv[1], ["sh", "-c", " ".join(sys.argv[2:])])))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
