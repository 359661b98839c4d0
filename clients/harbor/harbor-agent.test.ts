import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { commandFolder, runProgram } from "../../docs/examples/run-program.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));

it("the agent for Harbor installs, runs and reports, against stand-ins for Harbor and a real host", async () => {
  const environment = {
    TAU_COMMAND: JSON.stringify([join(commandFolder, "tau")]),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const command = ["python3", "-m", "unittest", "discover", "tests"];
  const { stdout, stderr, exitCode } = await runProgram(command, { cwd: folder, env: environment });
  expect(exitCode, stdout + stderr).toBe(0);
  expect(stderr).toMatch(/Ran 7 tests[\s\S]*\nOK\n/);
}, 120_000);
