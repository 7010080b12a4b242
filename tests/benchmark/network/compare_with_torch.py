"""One step of the paper's MNIST network, by network_benchmark and by PyTorch, interleaved in one run.

    compare_with_torch.py --program build/release/tests/benchmark/network_benchmark [--threads 1]

PyTorch is asked where python3 has it (Debian: python3-torch with libopenblas0-pthread), once as it comes
and once with OpenBLAS told its kernel (--openblas-core), which old versions do not find by themselves
on new processors. Where it is absent the comparison says so and is skipped. Both sides get
the same number of threads. Processor time is the fair figure on a shared machine.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def torch_worker(arguments):
    import torch
    torch.set_num_threads(arguments.threads)
    sys.path.insert(0, HERE)
    from torch_step import ClippedStep
    step = ClippedStep(arguments.batch, 1.0)
    step.run()
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        step.run()
        print(json.dumps({
            "parameters": sum(parameter.numel() for parameter in step.network.parameters()),
            "wall_seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}), flush=True)


class Torch:
    def __init__(self, arguments, core):
        environment = dict(os.environ, OMP_NUM_THREADS=str(arguments.threads), PYTHONDONTWRITEBYTECODE="1")
        if core:
            environment["OPENBLAS_CORETYPE"] = core
        self.process = subprocess.Popen(
            [arguments.python, __file__, "--worker", "--program", "-", "--batch", str(arguments.batch),
             "--threads", str(arguments.threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def run(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def has_torch(python):
    return subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--openblas-core", default="SkylakeX")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return torch_worker(arguments)

    peers = {}
    if has_torch(arguments.python):
        peers["torch"] = Torch(arguments, None)
        peers["torch, OPENBLAS_CORETYPE=" + arguments.openblas_core] = Torch(arguments, arguments.openblas_core)
    else:
        print("skipped PyTorch: %s has no torch" % arguments.python)
    figures = {"epsledger": []}
    for _ in range(arguments.rounds):
        # Two rounds of the program, the second counts: its memory is warm, as a worker's is.
        output = subprocess.run(
            [arguments.program, "--rounds=2", "--batch=%d" % arguments.batch, "--threads=%d" % arguments.threads],
            check=True, capture_output=True, text=True).stdout
        figures["epsledger"].append(json.loads(output.splitlines()[-1]))
        for name, peer in peers.items():
            figures.setdefault(name, []).append(peer.run())
    for peer in peers.values():
        peer.close()

    parameters = {figure["parameters"] for runs in figures.values() for figure in runs}
    if len(parameters) != 1:
        sys.exit("the networks differ: %s parameters" % sorted(parameters))
    print("| %d parameters, batch %d, threads %d | processor seconds a step | wall seconds | processor time / ours |"
          % (parameters.pop(), arguments.batch, arguments.threads))
    print("|---|---|---|---|")
    medians = {name: {key: statistics.median(run[key] for run in runs) for key in ("cpu_seconds", "wall_seconds")}
               for name, runs in figures.items()}
    for name, median in medians.items():
        print("| %s | %.3f | %.3f | %.2f |" % (name, median["cpu_seconds"], median["wall_seconds"],
                                               median["cpu_seconds"] / medians["epsledger"]["cpu_seconds"]))
    return None


if __name__ == "__main__":
    main()
