import type { WorkspaceSpawnOptions } from "@tau-agent/rpc-protocol/workspace";
import { type Bench, type Check, eventually, holds, pause, rejects, same } from "./bench.ts";

/** A shell whose grandchild keeps appending to a file; it ends by itself if nothing kills it. */
const busyTree =
  "sh -c 'sh -c \"for i in \\$(seq 150); do echo x >>busy || exit; sleep 0.1; done\" & wait' & wait; echo next >next";

async function sizeOf(bench: Bench, name: string): Promise<number> {
  return (await bench.workspace.stat(bench.at(name)))?.size ?? 0;
}

/** Starts the tree, ends it, and checks that none of its processes is left. */
async function endsTree(
  bench: Bench,
  options: Partial<WorkspaceSpawnOptions>,
  end: (kill: () => Promise<void>) => Promise<void> | void,
): Promise<void> {
  const { process } = await bench.start({ command: busyTree, ...options });
  holds(await eventually(8_000, async () => (await sizeOf(bench, "busy")) > 0), "it did not start");
  await end(() => process.kill());
  await process.done;
  await pause(400);
  const size = await sizeOf(bench, "busy");
  await pause(700);
  same(await sizeOf(bench, "busy"), size, "the size of a file that only a child makes longer");
  holds(!(await bench.names()).includes("next"), "the shell went on to its next command");
}

/** A command that prints the signal it received. */
const trapping =
  'trap "echo TERM; exit 5" TERM; trap "echo INT; exit 6" INT; echo ready; for i in $(seq 150); do sleep 0.1; done';

/** Checks of commands that are killed. */
export const endingChecks: readonly Check[] = [
  {
    name: "kill() ends the command and all that it started",
    limits: ["kill-tree"],
    run: (bench) => endsTree(bench, {}, (kill) => kill()),
  },
  {
    name: "the signal of spawn() ends the command and all that it started",
    limits: ["kill-tree"],
    run: (bench) => {
      const controller = new AbortController();
      return endsTree(bench, { signal: controller.signal }, () => controller.abort());
    },
  },
  {
    name: "the time limit ends the command and all that it started",
    limits: ["kill-tree"],
    run: (bench) => endsTree(bench, { timeoutMs: 2_500 }, () => undefined),
  },
  {
    name: "kill(), the signal and the time limit end a command soon",
    run: async (bench) => {
      const controller = new AbortController();
      const endings = {
        kill: {},
        signal: { signal: controller.signal },
        timeout: { timeoutMs: 500 },
      };
      const ended = Object.entries(endings).map(async ([name, options]) => {
        const { process } = await bench.start({ command: ["sleep", "20"], ...options });
        await pause(500);
        const begin = performance.now();
        if (name === "kill") await process.kill();
        if (name === "signal") controller.abort();
        await process.done;
        const passedMs = performance.now() - begin;
        holds(passedMs < 6_000, `${name}: the end took ${Math.round(passedMs)} ms`);
      });
      await Promise.all(ended);
    },
  },
  {
    name: "kill() sends SIGTERM, or the signal that it is told",
    limits: ["signals", "streamed-output"],
    run: async (bench) => {
      for (const [signal, code] of [
        [undefined, 5],
        ["SIGINT", 6],
      ] as const) {
        const { process, printed } = await bench.start({ command: ["sh", "-c", trapping] });
        const said = () => Buffer.concat(printed.stdout).toString();
        holds(await eventually(8_000, () => said() !== ""), "it did not start");
        await process.kill(signal);
        same((await process.done).exitCode, code, `the exit code after ${signal ?? "kill()"}`);
        same(said(), `ready\n${signal === undefined ? "TERM" : "INT"}\n`, "what it said");
      }
    },
  },
  {
    name: "the signal of spawn() is TERM first",
    limits: ["signals", "streamed-output"],
    run: async (bench) => {
      const controller = new AbortController();
      const { process, printed } = await bench.start({
        command: ["sh", "-c", trapping],
        signal: controller.signal,
      });
      const said = () => Buffer.concat(printed.stdout).toString();
      holds(await eventually(8_000, () => said() !== ""), "it did not start");
      controller.abort();
      await process.done;
      same(said(), "ready\nTERM\n", "what it said");
    },
  },
  {
    name: "what ignores TERM is killed two seconds later",
    limits: ["signals", "kill-tree", "streamed-output"],
    run: async (bench) => {
      const controller = new AbortController();
      const command = [
        "sh",
        "-c",
        "trap '' TERM; echo ready; for i in $(seq 75); do sleep 0.2; done",
      ];
      const { process, printed } = await bench.start({ command, signal: controller.signal });
      holds(await eventually(8_000, () => printed.stdout.length > 0), "it did not start");
      controller.abort();
      const begin = performance.now();
      await process.done;
      const passedMs = performance.now() - begin;
      holds(passedMs > 1_200, `it was killed after ${Math.round(passedMs)} ms`);
      holds(passedMs < 7_000, `it was killed only after ${Math.round(passedMs)} ms`);
    },
  },
  {
    name: "timedOut says that the limit ended the command",
    run: async (bench) => {
      const { exit } = await bench.run({ command: ["sleep", "20"], timeoutMs: 400 });
      same([exit.exitCode, exit.timedOut], [null, true], "exit code and timedOut");
    },
  },
  {
    name: "a command that ends before its limit keeps its exit code",
    run: async (bench) => {
      const { exit } = await bench.run({ command: "exit 4", timeoutMs: 15_000 });
      same([exit.exitCode, exit.timedOut ?? false], [4, false], "exit code and timedOut");
    },
  },
  {
    name: "spawn() whose signal is aborted already starts nothing: aborted",
    run: async (bench) => {
      const options = { command: ["touch", bench.at("made")], signal: AbortSignal.abort() };
      await rejects("aborted", () => bench.run(options), "spawn()");
      await pause(300);
      same(await bench.names(), [], "what was made");
    },
  },
  {
    name: "kill() after the end is harmless",
    run: async (bench) => {
      const { process } = await bench.start({ command: "exit 2" });
      same((await process.done).exitCode, 2, "the exit code");
      await process.kill();
      same((await process.done).exitCode, 2, "the exit code after kill()");
    },
  },
];
