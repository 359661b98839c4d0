import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { commandFolder, hasPython, runProgram } from "../../docs/examples/run-program.ts";
import { slice } from "../../scripts/testing/slice.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));
const tests = readdirSync(join(folder, "tests"))
  .filter((name) => name.startsWith("test_"))
  .map((name) => name.replace(".py", ""));
const environment = {
  TAU_COMMAND: JSON.stringify([join(commandFolder, "tau")]),
  PYTHONDONTWRITEBYTECODE: "1",
};

beforeAll(() => {
  if (hasPython) return;
  throw new Error("python3 is not on the PATH: install Python 3.10 or newer to test its client");
});

/** Runs Python in the client's folder; fails with all its output. */
async function python(...args: string[]): Promise<string> {
  const done = await runProgram(["python3", ...args], { cwd: folder, env: environment });
  const output = done.stdout + done.stderr;
  expect(done.exitCode, output).toBe(0);
  return output;
}

/** The names of the tests in a module. */
function testsIn(name: string): string[] {
  const text = readFileSync(join(folder, "tests", `${name}.py`), "utf8");
  return [...text.matchAll(/^ +(?:async )?def (test_\w+)/gm)].map(([, test = ""]) => test);
}

describe("the Python client", () => {
  it.concurrent.each(tests)("passes %s", async (name) => {
    const chosen = slice(testsIn(name), 6).flatMap((test) => ["-k", `*.${test}`]);
    const words = ["-m", "unittest", "-v", ...chosen, `tests.${name}`];
    const output = await python("-X", "dev", ...words);
    expect(output).toMatch(/^Ran [1-9]\d* tests? in/m);
    expect(output).toMatch(/^OK$/m);
    expect(output).not.toContain("ResourceWarning");
  });

  // Also checks a program with type errors in the same run, because starting the checker takes longest.
  it.each(slice(["3.10", "3.13"], 1))("is completely typed for Python %s", async (version) => {
    const program = mkdtempSync(join(tmpdir(), "tau-python-"));
    const wrong = [
      "from tau_rpc import TauClient",
      "async def main(client: TauClient) -> None:",
      "    await client.set_model('only one')",
      "    print((await client.get_state())['isStreeming'])",
    ];
    writeFileSync(join(program, "wrong.py"), wrong.join("\n"));
    const client = relative(realpathSync(program), folder);
    const settings = {
      include: [".", client],
      strict: ["tau_rpc", "example.py", "example_session.py"].map((name) => join(client, name)),
      extraPaths: [client],
    };
    writeFileSync(join(program, "pyrightconfig.json"), JSON.stringify(settings));
    const pyright = fileURLToPath(new URL("../../node_modules/pyright/index.js", import.meta.url));
    const command = [process.execPath, pyright, "--pythonversion", version] as const;
    const done = await runProgram(command, { cwd: program });
    const errors = done.stdout.split("\n").filter((line) => / (error|warning): /.test(line));
    expect(errors, done.stdout + done.stderr).toEqual([
      expect.stringMatching(/wrong\.py:3:.*Argument missing for parameter "model_id"/),
      expect.stringMatching(/wrong\.py:4:.*Could not access item in TypedDict/),
    ]);
    rmSync(program, { recursive: true });
  });

  it("answers with the tool's result in example.py", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "tau-python-"));
    writeFileSync(join(cwd, "only-file.txt"), "");
    const env = { ...environment, PYTHONPATH: folder };
    const done = await runProgram(["python3", join(folder, "example.py")], { cwd, env });
    expect(done.stderr).toBe("");
    expect(done.stdout).toMatch(
      /^\[ls\]\nThe first thing here is only-file\.txt\. \(completed, \d+ tokens\)\n$/,
    );
    rmSync(cwd, { recursive: true });
  });

  it("returns data, steers, ends a job and rewinds in example_session.py", async () => {
    const home = mkdtempSync(join(tmpdir(), "tau-python-"));
    const env = { ...environment, PYTHONPATH: folder, PI_CODING_AGENT_DIR: home };
    const done = await runProgram(["python3", join(folder, "example_session.py")], { env });
    expect(done.stderr).toBe("");
    expect(done.stdout.split("\n")).toEqual([
      "valid ['notes.md']",
      expect.stringMatching(/^PromptRun\(status='completed', text='The server listens on port/),
      "sleep 600 running",
      "[{'path': 'notes.md', 'change': 'restored'}] # Notes",
      "",
      "",
    ]);
    rmSync(home, { recursive: true });
  });
});
