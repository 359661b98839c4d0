import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readWorkspaceSpec, workspaceIdOf } from "./workspace-spec.ts";

const wrong: readonly (readonly [unknown, string])[] = [
  [undefined, "workspace:"],
  ["box", "workspace:"],
  [[], "workspace:"],
  [{ cwd: "/" }, "workspace:"],
  [{ command: ["a"], shell: ["b"], cwd: "/" }, "workspace.shell:"],
  [{ command: ["a"], client: true, cwd: "/" }, "workspace.client:"],
  [{ client: false, cwd: "/" }, "workspace.client:"],
  [{ command: "ssh box", cwd: "/" }, "workspace.command:"],
  [{ command: [], cwd: "/" }, "workspace.command:"],
  [{ command: [""], cwd: "/" }, "workspace.command:"],
  [{ command: ["a", "b\0c"], cwd: "/" }, "workspace.command:"],
  [{ shell: ["a", 1], cwd: "/" }, "workspace.shell:"],
  [{ command: ["a"] }, "workspace.cwd:"],
  [{ command: ["a"], cwd: "src" }, "workspace.cwd:"],
  [{ command: ["a"], cwd: "~/src" }, "workspace.cwd:"],
  [{ command: ["a"], cwd: "/a\0b" }, "workspace.cwd:"],
  [{ shell: ["a"], cwd: "C:\\work" }, "workspace.cwd:"],
  [{ command: ["a"], cwd: "/", comand: 1 }, "workspace.comand:"],
  [{ command: ["a"], cwd: "/", id: "local" }, "workspace.id:"],
  [{ command: ["a"], cwd: "/", id: "ws-box" }, "workspace.id:"],
  [{ command: ["a"], cwd: "/", id: "a/b" }, "workspace.id:"],
  [{ command: ["a"], cwd: "/", id: "" }, "workspace.id:"],
  [{ command: ["a"], cwd: "/", id: 5 }, "workspace.id:"],
];

describe("the spec of a workspace", () => {
  it("is refused with the name of the invalid member", () => {
    for (const [spec, member] of wrong) {
      const read = () => readWorkspaceSpec(spec);
      expect(read, JSON.stringify(spec)).toThrow(`Invalid option ${member}`);
      expect(read).toThrow(expect.objectContaining({ code: "invalid_option" }));
    }
    const withId = { command: ["a"], cwd: "/", id: "box" };
    expect(readWorkspaceSpec(withId)).toEqual(withId);
    const callers = { client: true, cwd: "/", id: "ws-0123456789ab" };
    expect(() => readWorkspaceSpec(callers)).toThrow("is reserved");
    expect(readWorkspaceSpec(callers, { isCallers: true })).toEqual(callers);
    expect(readWorkspaceSpec({ command: ["a"], cwd: "C:\\work" })).toBeDefined();
  });

  it("gets an id from its canonical JSON without the folder", () => {
    const spec = { cwd: "/work", command: ["ssh", "-T", 'bäx\u0007\u2028"', "tau"] };
    const canonical = '{"command":["ssh","-T","bäx\\u0007\u2028\\"","tau"]}';
    const hash = createHash("sha256").update(canonical).digest("hex").slice(0, 12);
    expect(workspaceIdOf(spec)).toBe(`ws-${hash}`);
    expect(workspaceIdOf({ ...spec, cwd: "/other" })).toBe(`ws-${hash}`);
    expect(workspaceIdOf({ ...spec, id: "box" })).toBe("box");
  });
});
