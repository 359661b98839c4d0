import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { commandFolder, hasPython, runProgram } from "../../docs/examples/run-program.ts";

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

/** Runs Python in the client's folder; all that it printed when it fails. */
async function python(...args: string[]): Promise<string> {
  const done = await runProgram(["python3", ...args], { cwd: folder, env: environment });
  const output = done.stdout + done.stderr;
  expect(done.exitCode, output).toBe(0);
  return output;
}

describe("the Python client", () => {
  it.concurrent.each(tests)(
    "passes %s",
    async (name) => {
      const output = await python("-X", "dev", "-m", "unittest", "-v", `tests.${name}`);
      expect(output).toMatch(/^Ran [1-9]\d* tests? in/m);
      expect(output).toMatch(/^OK$/m);
      expect(output).not.toContain("ResourceWarning");
    },
    180_000,
  );

  it("is typed without a gap, for Python 3.10 and newer", async () => {
    const pyright = fileURLToPath(new URL("../../node_modules/pyright/index.js", import.meta.url));
    for (const version of ["3.10", "3.13"]) {
      const command = [process.execPath, pyright, "--pythonversion", version] as const;
      const done = await runProgram([...command], { cwd: folder });
      expect(done.stdout, done.stderr).toContain("0 errors, 0 warnings");
    }
  }, 120_000);

  it("lets a type checker find a wrong member", async () => {
    const program = mkdtempSync(join(tmpdir(), "tau-python-"));
    const wrong = [
      "from tau_rpc import TauClient",
      "async def main(client: TauClient) -> None:",
      "    await client.set_model('only one')",
      "    print((await client.get_state())['isStreeming'])",
    ];
    writeFileSync(join(program, "wrong.py"), wrong.join("\n"));
    writeFileSync(
      join(program, "pyrightconfig.json"),
      JSON.stringify({ include: ["."], extraPaths: [folder] }),
    );
    const pyright = fileURLToPath(new URL("../../node_modules/pyright/index.js", import.meta.url));
    const done = await runProgram([process.execPath, pyright], { cwd: program });
    expect(done.stdout).toContain('Argument missing for parameter "model_id"');
    expect(done.stdout).toContain('"isStreeming" is not a defined key');
    rmSync(program, { recursive: true });
  }, 120_000);

  it("answers from what the tool found in example.py", async () => {
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
});
