import { posix } from "node:path";
import { WorkspaceError, type WorkspaceStat } from "@tau-agent/rpc-protocol/workspace";
import { describe, expect, it } from "vitest";
import { MemoryWorkspace } from "../resources/__fixtures__/memory-workspace.ts";
import { realPathsIn } from "./real-paths.ts";
import { ruleFoldersOf } from "./rule-folders.ts";

const cwd = "/nowhere-on-this-host/project";

/** A project behind a link, with links that lead outside and dangling links. */
function farPaths() {
  const there = new MemoryWorkspace({ cwd: "/data/project" });
  there.link(cwd, "/data/project");
  there.put("/data/project/src/a.txt", "");
  there.folder("/data/outside");
  there.link("/data/project/out", "/data/outside");
  there.link("/data/project/dangling", "/data/none");
  there.calls = [];
  return { there, paths: realPathsIn({ cwd, workspace: there, isWindows: false }) };
}

describe("real paths in a remote workspace", () => {
  it.each([
    ["src/a.txt", "/data/project/src/a.txt"],
    ["src/new.txt", "/data/project/src/new.txt"],
    ["x/y/z", "/data/project/x/y/z"],
    ["out/x/y", "/data/outside/x/y"],
    ["dangling", "/"],
    [".", "/data/project"],
    ["..", "/nowhere-on-this-host"],
    ["/etc/none", "/etc/none"],
    ["/", "/"],
  ])("resolve %s to %s in one round", async (path, real) => {
    const { there, paths } = farPaths();
    // Calls that begin at the same time count as one round.
    there.delayMs = 5;
    expect(await paths.of(posix.resolve(cwd, path))).toBe(real);
    expect(there.rounds).toBeLessThanOrEqual(1);
  });

  it("query folders of rules once, and files each time", async () => {
    const { there, paths } = farPaths();
    const places = { cwd, additionalDirectories: ["/data/project/out"], homeDirectory: "/home/x" };
    const folders = await ruleFoldersOf(places, paths);
    expect(folders).toEqual({
      cwd,
      realCwd: "/data/project",
      realRoots: ["/data/project", "/data/outside"],
      homeDirectory: "/home/x",
    });
    there.calls = [];
    await ruleFoldersOf(places, paths);
    expect(there.calls).toEqual([]);
    await paths.of(`${cwd}/src/a.txt`);
    await paths.of(`${cwd}/src/a.txt`);
    expect(there.calls).toHaveLength(8);
  });

  it("fail when the workspace cannot answer, and are queried again later", async () => {
    const { there, paths } = farPaths();
    there.failure = new WorkspaceError("lost");
    await expect(paths.of(`${cwd}/src/a.txt`)).rejects.toMatchObject({ code: "lost" });
    there.failure = undefined;
    expect(await paths.of(`${cwd}/x`)).toBe("/data/project/x");
  });

  it("follow the remote platform's rules", async () => {
    const found: Record<string, WorkspaceStat> = {
      "C:\\work": { kind: "directory", size: 0, realPath: "D:\\real" },
      "C:\\work\\out": { kind: "directory", size: 0, realPath: "D:\\outside" },
    };
    const workspace = { id: "pc", stat: async (path: string) => found[path] };
    const place = { cwd: "C:\\work", workspace: workspace as never, isWindows: true };
    const paths = realPathsIn(place);
    expect(await paths.of("C:\\work\\out\\new.txt")).toBe("D:\\outside\\new.txt");
    expect(await paths.of("C:\\work\\new.txt")).toBe("D:\\real\\new.txt");
    const folders = await ruleFoldersOf({ cwd: place.cwd, homeDirectory: "C:\\Users\\u" }, paths);
    expect(folders).toMatchObject({ cwd: "C:/work", realRoots: ["D:/real"] });
  });
});
