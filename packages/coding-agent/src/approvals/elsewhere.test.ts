import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Scenario, toolCall, turn } from "@tau-agent/ai/testing";
import type { PermissionMode, PermissionRule } from "@tau-agent/rpc-protocol";
import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { expect, it, vi } from "vitest";
import { placesIn, temporaryFolder } from "../create/__fixtures__/test-session.ts";
import { MemoryWorkspace } from "../resources/__fixtures__/memory-workspace.ts";
import { asking, writeCall } from "./__fixtures__/asking.ts";

vi.mock("../permissions/real-path.ts", () => ({
  realPathOf(path: string) {
    throw new Error(`Looked for ${path} on this machine`);
  },
}));

/** A session with a remote project. On this machine, the same paths lead to other places. */
async function askingThere(
  scenario: Scenario,
  permissions: { mode: PermissionMode; rules?: readonly PermissionRule[] },
) {
  const folder = temporaryFolder();
  const places = placesIn(folder);
  const { cwd } = places;
  mkdirSync(join(cwd, "out"));
  mkdirSync(join(folder, "outside"));
  symlinkSync(join(folder, "outside"), join(cwd, "src"));
  writeFileSync(join(cwd, "out/known.txt"), "here\n");
  const there = new MemoryWorkspace({ cwd });
  there.put(join(cwd, "src/known.txt"), "there\n");
  there.put("/outside-there/known.txt", "there\n");
  there.link(join(cwd, "out"), "/outside-there");
  there.put(join(cwd, "secrets/key.txt"), "key there\n");
  there.link(join(cwd, "docs"), "secrets");
  there.link("/project-there", cwd);
  const test = await asking(scenario, [], { ...places, permissions, workspace: there });
  return { ...test, there };
}

it("asks in acceptEdits about an edit through a remote link that leads out of the project", async () => {
  const edit = (path: string) => toolCall("edit", { path, oldText: "there", newText: "changed" });
  const calls = [
    writeCall("src/new.txt"),
    edit("src/known.txt"),
    writeCall("deep/er/new.txt"),
    writeCall("out/new.txt"),
    edit("out/known.txt"),
    writeCall("/outside-there/other.txt"),
  ];
  const test = await askingThere([turn(calls), "done"], { mode: "acceptEdits" });
  await test.session.prompt("go");
  expect(test.asked.map(({ input }) => input.path)).toEqual([
    "out/new.txt",
    "out/known.txt",
    "/outside-there/other.txt",
  ]);
  const { cwd } = test.session;
  for (const each of test.asked) expect(each).toMatchObject({ cwd, workspace: test.there.id });
  expect(test.results().map(({ isError }) => isError)).toEqual([
    false,
    false,
    false,
    true,
    true,
    true,
  ]);
  expect(test.there.textOf(join(test.session.cwd, "src/known.txt"))).toBe("changed\n");
});

it("applies a rule to the target of a remote link", async () => {
  const rules: PermissionRule[] = [{ tool: "*", match: "secrets/**", action: "deny" }];
  const calls = [
    toolCall("read", { path: "docs/key.txt" }),
    toolCall("read", { path: "src/known.txt" }),
    toolCall("grep", { pattern: "there", path: "." }),
    toolCall("ls", { path: "docs" }),
    toolCall("find", { pattern: "*.txt", path: "/project-there" }),
  ];
  const test = await askingThere([turn(calls), "done"], { mode: "all", rules });
  await test.session.prompt("go");
  const [denied, read, ...searches] = test.results();
  expect(denied).toMatchObject({ isError: true, details: { denied: { by: "rule" } } });
  expect(read).toMatchObject({ isError: false });
  expect(JSON.stringify(searches)).toContain("src/known.txt");
  expect(JSON.stringify(searches)).not.toContain("key");
});

it("refuses a call while the workspace cannot resolve its path", async () => {
  const calls = turn(writeCall("src/new.txt"));
  const test = await askingThere([calls, "done"], { mode: "acceptEdits" });
  test.session.subscribe((event) => {
    if (event.type === "message_end") test.there.failure = new WorkspaceError("lost");
  });
  await test.session.prompt("go");
  expect(test.results()).toMatchObject([{ isError: true }]);
  expect(JSON.stringify(test.results())).toContain("connection to the workspace is lost");
  expect(test.there.textOf(join(test.session.cwd, "src/new.txt"))).toBeUndefined();
});
