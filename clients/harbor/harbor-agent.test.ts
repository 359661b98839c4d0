import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { commandFolder } from "../../docs/examples/run-program.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));

it("the agent for Harbor installs, runs and reports, with a stub of Harbor and a real host", async () => {
  const env = {
    ...process.env,
    TAU_COMMAND: JSON.stringify([join(commandFolder, "tau")]),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const words = ["-m", "unittest", "discover", "tests"];
  const { stderr } = await promisify(execFile)("python3", words, { cwd: folder, env });
  expect(stderr).toMatch(/Ran 7 tests[\s\S]*\nOK\n/);
});
