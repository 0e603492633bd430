#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ucx_perftest between two processes of this machine, as ubperf's JSON.

usage: ucx.py put_lat|put_bw SIZE ITERATIONS

put_lat: half a round trip of puts. put_bw: puts one after the other, in one
direction, without waiting for each.
"""
import json
import os
import socket
import subprocess
import sys
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def listening(port):
    with open("/proc/net/tcp") as f:
        return any(line.split()[1].endswith(":%04X" % int(port)) and
                   line.split()[3] == "0A" for line in list(f)[1:])


def final_line(test, size, iters):
    """Numbers of the last line, which is the sum of all."""
    common = ["ucx_perftest", "-t", "ucp_" + test, "-s", size, "-n", iters, "-f", "-v",
              "-p", free_port()]
    env = {**os.environ, "UCX_TLS": "posix,cma,self", "UCX_WARN_UNUSED_ENV_VARS": "n"}
    # "-c" binds; one CPU each.
    server = subprocess.Popen(common + ["-c", "0"], env=env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        for _ in range(500):
            if listening(common[-1]):
                break
            time.sleep(0.01)
        done = subprocess.run(common + ["-c", "1", "127.0.0.1"], env=env, text=True,
                              capture_output=True, timeout=60)
    finally:
        server.kill()
        server.wait()
    rows = [line for line in done.stdout.splitlines() if line.strip()[:1].isdigit()]
    if done.returncode or not rows:
        sys.exit("ucx_perftest: " + (done.stderr.strip() or "no figures"))
    return [float(v) for v in rows[-1].split(",")]


def main():
    test, size, iters = sys.argv[1:]
    values = final_line(test, size, iters)
    # iterations, us: median, average, overall; ... Of puts that nobody waits for
    # the median is that of the call.
    median = values[1] if test == "put_lat" else values[3]
    print(json.dumps({"version": 1, "rows": [{
        "test": test, "fabric": "ucx", "members": 2, "size": int(size),
        "iterations": int(values[0]), "mean_ns": values[3] * 1000,
        "p50_ns": median * 1000}]}))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main()
