import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { Workspace } from "./__fixtures__/workspace.ts";
import { ServerProcess } from "./server-process.ts";

it("starts a server behind bash without running .bashrc", async () => {
  using workspace = new Workspace();
  workspace.write({ ".bashrc": "echo from .bashrc\n" });
  const server = await ServerProcess.start({
    file: "/bin/bash",
    args: ["-c", "exec cat"],
    cwd: workspace.directory,
    variables: { PATH: "/usr/bin:/bin", HOME: workspace.directory },
    processes: workspace.processes,
  });
  const printed = text(server.stdout);
  await server.write("hello\n");
  await server.stop(10_000);
  expect(await printed).toBe("hello\n");
});
