import { type Check, eventually, holds, pause, rejects, same, sameBytes } from "./bench.ts";

const text = (bytes: Uint8Array | readonly Buffer[]) =>
  Buffer.from(Array.isArray(bytes) ? Buffer.concat(bytes) : (bytes as Uint8Array)).toString();

/** Checks of commands that end by themselves. */
export const commandChecks: readonly Check[] = [
  {
    name: "a string is a line for the shell",
    run: async (bench) => {
      const { stdout, exit } = await bench.run({
        command: "a='x y'; echo \"$a\" | sed s/x/z/; exit 3",
      });
      same([text(stdout), exit.exitCode], ["z y\n", 3], "output and exit code");
    },
  },
  {
    name: "an array is a program with its arguments, which no shell reads",
    run: async (bench) => {
      const words = [
        "a b",
        "",
        "$HOME",
        "'",
        '"',
        "`id`",
        "*",
        "line\nbreak",
        "\\",
        "ü☃",
        "-n",
        "x;y",
        "!",
      ];
      const { stdout } = await bench.run({ command: ["printf", "%s|", ...words] });
      same(text(stdout), `${words.join("|")}|`, "arguments");
    },
  },
  {
    name: "a command starts in the workspace's folder, or in cwd",
    run: async (bench) => {
      const here = await bench.run({ command: "pwd -P", cwd: bench.folder });
      same(text(here.stdout).trim(), (await bench.workspace.stat(bench.folder))?.realPath, "cwd");
      const there = await bench.run({ command: "pwd -P", cwd: undefined });
      same(
        text(there.stdout).trim(),
        (await bench.workspace.stat(bench.workspace.cwd))?.realPath,
        "no cwd",
      );
    },
  },
  {
    name: "environment adds variables, and leaves the others",
    run: async (bench) => {
      const value = "a 'b' \"c\" $d\nü";
      const command = ["sh", "-c", 'printf "%s|%s" "$TAU_CHECK" "${PATH:+path}"'];
      const { stdout } = await bench.run({ command, environment: { TAU_CHECK: value } });
      same(text(stdout), `${value}|path`, "variables");
    },
  },
  {
    name: "null in environment removes a variable",
    limits: ["environment-removal"],
    run: async (bench) => {
      const command = 'printf "%s|%s" "${HOME-none}" "${TAU_CHECK-none}"';
      const { stdout } = await bench.run({ command, environment: { HOME: null, TAU_CHECK: null } });
      same(text(stdout), "none|none", "variables");
    },
  },
  {
    name: "stdin is at its end from the start unless it is open",
    run: async (bench) => {
      const { process, printed } = await bench.start({ command: "cat; echo end" });
      const isOver = await eventually(5_000, () => text(printed.stdout) === "end\n");
      holds(isOver, "the command waits for input");
      await process.done;
    },
  },
  {
    name: "an open stdin takes bytes, and ends with endInput()",
    limits: ["stdin"],
    run: async (bench) => {
      const bytes = Buffer.from(Uint8Array.from({ length: 70_000 }, (_, index) => index % 256));
      const { process, printed } = await bench.start({
        command: 'cat >"got"; echo end',
        stdin: "open",
      });
      await process.write(bytes.subarray(0, 10));
      await pause(100);
      same(printed.stdout.length, 0, "output before the end of the input");
      await process.write(bytes.subarray(10));
      await process.endInput();
      same((await process.done).exitCode, 0, "the exit code");
      sameBytes(await bench.workspace.read(bench.at("got")), bytes, "the input");
    },
  },
  {
    name: "stdout and stderr are apart",
    limits: ["parallel-streams"],
    run: async (bench) => {
      const { stdout, stderr } = await bench.run({ command: "echo out; echo err >&2; echo out" });
      same([text(stdout), text(stderr)], ["out\nout\n", "err\n"], "the streams");
    },
  },
  {
    name: "output comes byte for byte",
    limits: ["binary-output"],
    run: async (bench) => {
      const bytes = Uint8Array.from({ length: 4096 }, (_, index) => index % 256);
      await bench.workspace.write(bench.at("file"), bytes);
      sameBytes((await bench.run({ command: "cat file" })).stdout, bytes, "stdout");
    },
  },
  {
    name: "done comes when all output is read",
    run: async (bench) => {
      const line = `${"x".repeat(63)}\n`;
      await bench.workspace.write(bench.at("file"), Buffer.from(line.repeat(20_000)));
      for (let round = 0; round < 3; round += 1) {
        const { stdout } = await bench.run({ command: "cat file" });
        same(stdout.length, 64 * 20_000, "the length of the output");
      }
    },
  },
  {
    name: "output comes while the command runs",
    limits: ["streamed-output"],
    run: async (bench) => {
      const { process, printed } = await bench.start({ command: "echo first; sleep 3; echo last" });
      const isEarly = await eventually(2_000, () => text(printed.stdout) === "first\n");
      holds(isEarly, "there was no output in the first two seconds");
      await process.done;
      same(text(printed.stdout), "first\nlast\n", "all output");
    },
  },
  {
    name: "what onOutput waits for holds the rest back",
    run: async (bench) => {
      let running = 0;
      let most = 0;
      let length = 0;
      await bench.workspace.write(bench.at("file"), Buffer.alloc(600_000, "x"));
      const onOutput = async (bytes: Uint8Array) => {
        running += 1;
        most = Math.max(most, running);
        length += bytes.length;
        await pause(5);
        running -= 1;
      };
      const { process } = await bench.start({ command: "cat file", onOutput });
      await process.done;
      same([most, length], [1, 600_000], "calls at once, and bytes");
    },
  },
  {
    name: "done is not held up by what holds the output",
    limits: ["kill-tree"],
    run: async (bench) => {
      const { process, printed } = await bench.start({ command: "sleep 6 & echo started" });
      const begin = performance.now();
      const exit = await process.done;
      const passedMs = performance.now() - begin;
      same([exit.exitCode, text(printed.stdout)], [0, "started\n"], "exit code and output");
      holds(passedMs < 4_000, `done took ${Math.round(passedMs)} ms`);
    },
  },
  {
    name: "the exit code is the command's",
    run: async (bench) => {
      for (const code of [0, 1, 77, 143]) {
        const { exit } = await bench.run({ command: ["sh", "-c", `exit ${code}`] });
        same([exit.exitCode, exit.timedOut ?? false], [code, false], "exit code and timedOut");
      }
    },
  },
  {
    name: "a signal that ended the command is told",
    limits: ["exit-signals"],
    run: async (bench) => {
      for (const name of ["TERM", "KILL"]) {
        const { exit } = await bench.run({ command: ["sh", "-c", `kill -${name} $$`] });
        same([exit.exitCode, exit.signal], [null, `SIG${name}`], "exit code and signal");
      }
    },
  },
  {
    name: "a program that is not there is not_found",
    run: async (bench) => {
      const call = () => bench.run({ command: ["tau-no-such-program", "x"] });
      await rejects("not_found", call, "a name");
      await rejects("not_found", () => bench.run({ command: [bench.at("none")] }), "a path");
    },
  },
  {
    name: "a folder that is not there is not_found, and nothing runs",
    run: async (bench) => {
      const call = () => bench.run({ command: ["touch", bench.at("made")], cwd: bench.at("none") });
      await rejects("not_found", call, "spawn()");
      same(await bench.names(), [], "what was made");
    },
  },
  {
    name: "pid is the command's in its place",
    run: async (bench) => {
      const { process, printed } = await bench.start({ command: ["sh", "-c", "echo $$"] });
      await process.done;
      if (process.pid !== undefined) same(String(process.pid), text(printed.stdout).trim(), "pid");
    },
  },
  {
    name: "commands run side by side",
    limits: ["side-by-side"],
    run: async (bench) => {
      // Each command waits for the others, so none can end alone.
      const meet =
        ': >"$1"; n=0; while [ $n -lt 40 ]; do [ -e 0 ] && [ -e 1 ] && [ -e 2 ] && echo met && exit; sleep 0.2; n=$((n + 1)); done';
      const commands = [0, 1, 2].map((index) => ["sh", "-c", meet, "sh", String(index)]);
      const all = await Promise.all(commands.map((command) => bench.run({ command })));
      same(
        all.map(({ stdout }) => text(stdout)),
        ["met\n", "met\n", "met\n"],
        "what they say",
      );
    },
  },
];
