import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { PermissionMode, PermissionRule, RuleSource } from "@tau-agent/rpc-protocol";
import { escapeCommand, realPlaceOf } from "@tau-agent/system";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shellLines } from "../../../system/src/shell-lines/__fixtures__/shell-lines.ts";
import { subjectsOf } from "./call-subjects.ts";
import { compileRule } from "./rules/fit.ts";
import { judge } from "./rules/judge.ts";

let cwd: string;
let home: string;
beforeAll(() => {
  home = realPlaceOf(mkdtempSync(join(tmpdir(), "tau-judge-")));
  cwd = join(home, "project");
  for (const folder of ["project/src", "project/.git", "project/.pi", "outside"]) {
    mkdirSync(join(home, folder), { recursive: true });
  }
  writeFileSync(join(home, "outside", "secret"), "");
  symlinkSync(join(home, "outside"), join(cwd, "src", "link"));
  symlinkSync(join(home, "outside", "new"), join(cwd, "src", "dangling"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Given {
  readonly mode?: PermissionMode;
  /** Folders in addition to the session's own. */
  readonly roots?: readonly string[];
  readonly shellPath?: string;
  readonly rules?: readonly (PermissionRule & { source?: RuleSource })[];
}

const readOnlyTools = new Set(["read", "grep", "find", "ls"]);

async function verdict(name: string, input: Record<string, unknown>, given: Given = {}) {
  const folders = {
    cwd,
    realCwd: cwd,
    realRoots: [cwd, ...(given.roots ?? [])],
    homeDirectory: home,
  };
  const { mode = "all", rules = [] } = given;
  const tool = {
    name,
    isReadOnly: readOnlyTools.has(name),
    isNeverAsked: name === "task" || name === "todo_write",
  };
  const resolveOwn = (path: string) => [resolve(cwd, path)];
  const context = { cwd, homeDirectory: home, resolveOwn, shellPath: given.shellPath };
  const subjects = await subjectsOf({ tool, input, isBuiltIn: name !== "deploy" }, context);
  const compiled = rules.map((rule) => compileRule({ source: "user", ...rule }, folders));
  return judge(subjects, { mode, rules: compiled, folders });
}

const bash = (command: string, given?: Given) => verdict("bash", { command }, given);
const write = (path: string, given?: Given) => verdict("write", { path, content: "" }, given);
const deny = (tool: string, match?: string) =>
  ({ tool, ...(match && { match }), action: "deny" }) as const;
const ask = (tool: string, match?: string) =>
  ({ tool, ...(match && { match }), action: "ask" }) as const;
const allow = (tool: string, match?: string) =>
  ({ tool, ...(match && { match }), action: "allow" }) as const;

describe("a mode without a matching rule", () => {
  it.each([
    ["all", "allow allow allow allow allow"],
    ["acceptEdits", "allow allow ask ask allow"],
    ["ask", "allow ask ask ask allow"],
    ["readOnly", "allow deny deny deny allow"],
  ] as const)("%s: read, write, bash, deploy, task: %s", async (mode, expected) => {
    const given = { mode };
    const found = await Promise.all([
      verdict("read", { path: "x" }, given),
      write("src/x", given),
      bash("ls", given),
      verdict("deploy", { to: "prod" }, given),
      verdict("task", {}, given),
    ]);
    expect(found.map(({ action }) => action).join(" ")).toBe(expected);
  });

  it.each([
    ["src/a.ts", "allow"],
    [".git/config", "ask"],
    ["sub/.git/hooks/x", "ask"],
    [".pi/settings.json", "ask"],
    [".GIT/config", "ask"],
    [".mcp.json", "ask"],
    ["../outside/x", "ask"],
    ["src/link/x", "ask"],
    ["src/dangling", "ask"],
  ])("acceptEdits, for a write of %s: %s", async (path, action) => {
    expect((await write(path, { mode: "acceptEdits" })).action).toBe(action);
  });

  it.each([
    ["src/a.ts", "allow"],
    ["../outside/x", "allow"],
    ["src/link/x", "allow"],
    ["../outside/.git/hooks/x", "ask"],
    ["../outside/sub/.mcp.json", "ask"],
    ["../outsider/x", "ask"],
    ["../x", "ask"],
  ])(
    "acceptEdits with an additional project folder, for a write of %s: %s",
    async (path, action) => {
      const roots = [join(home, "outside")];
      expect((await write(path, { mode: "acceptEdits", roots })).action).toBe(action);
    },
  );
});

describe("permission rules", () => {
  it("deny before they ask, and ask before they allow, whatever their order and source", async () => {
    const rules = [
      allow("bash"),
      { ...ask("bash"), source: "session" as const },
      deny("bash", "rm *"),
    ];
    expect((await bash("rm x", { rules })).action).toBe("deny");
    expect((await bash("ls", { rules })).action).toBe("ask");
    expect((await bash("ls", { rules: rules.slice(0, 1), mode: "ask" })).action).toBe("allow");
  });

  it("can allow in readOnly, except for a project's rules", async () => {
    for (const source of ["user", "session", "host"] as const) {
      const rules = [{ ...allow("bash", "make *"), source }];
      expect((await bash("make x", { mode: "readOnly", rules })).action).toBe("allow");
    }
    const rules = [{ ...allow("bash", "make *"), source: "project" as const }];
    expect((await bash("make x", { mode: "readOnly", rules })).action).toBe("deny");
    expect((await bash("make x", { mode: "ask", rules })).action).toBe("allow");
  });

  it("deny and ask through links, and allow only by the real path", async () => {
    const outside = join(home, "outside");
    expect((await write("src/link/x", { rules: [deny("write", `${outside}/**`)] })).action).toBe(
      "deny",
    );
    expect((await write("src/link/x", { rules: [deny("write", "src/**")] })).action).toBe("deny");
    const mode = "ask";
    expect((await write("src/link/x", { mode, rules: [allow("write", "src/**")] })).action).toBe(
      "ask",
    );
    expect((await write("src/x", { mode, rules: [allow("write", "src/**")] })).action).toBe(
      "allow",
    );
    expect(
      (await write("src/link/x", { mode, rules: [allow("write", "~/outside/*")] })).action,
    ).toBe("allow");
    expect((await write("src/dangling", { mode, rules: [allow("write", "src/**")] })).action).toBe(
      "ask",
    );
  });

  it("never match a tool without a path if the rule has a match", async () => {
    const rules = [deny("deploy", "prod")];
    expect((await verdict("deploy", { to: "prod" }, { rules })).action).toBe("allow");
    expect((await verdict("deploy", {}, { rules: [deny("deploy", "*")] })).action).toBe("deny");
    expect((await verdict("deploy", {}, { rules: [deny("dep*")] })).action).toBe("deny");
  });

  it("apply to the working folder for a search without a path", async () => {
    expect((await verdict("ls", {}, { rules: [deny("ls", "**")] })).action).toBe("deny");
  });
});

describe("a bash line", () => {
  it("gets the strictest decision of its parts, and shows each part", async () => {
    const rules = [allow("bash", "npm *"), deny("bash", "rm *")];
    const found = await bash("npm test && rm x; ls > out.txt", { mode: "ask", rules });
    expect(found.action).toBe("deny");
    expect(found.parts).toMatchObject([
      { text: "npm test", action: "allow" },
      { text: "rm x", action: "deny", rule: { source: "user" } },
      { text: "> out.txt", action: "ask" },
      { text: "ls", action: "ask" },
    ]);
  });

  it("also counts as a write of the files that it redirects to", async () => {
    const rules = [deny("write", "**/.env")];
    expect((await bash("echo x > .env", { rules })).action).toBe("deny");
    expect((await bash("echo x >> src/.env", { rules })).action).toBe("deny");
    expect((await bash("echo x > /dev/null 2>&1", { rules })).action).toBe("allow");
    expect((await bash("> out", { mode: "ask", rules: [allow("write")] })).action).toBe("ask");
  });

  it("is denied for a program given by its path, which no allow rule matches", async () => {
    expect((await bash("/bin/rm x", { rules: [deny("bash", "rm *")] })).action).toBe("deny");
    const given = { mode: "ask", rules: [allow("bash", "ls *")] } as const;
    expect((await bash("./ls", given)).action).toBe("ask");
  });

  it("needs a question for a hidden command if a rule denies or asks about parts or writes", async () => {
    const line = "$(echo rm) -rf x";
    expect((await bash(line)).action).toBe("allow");
    for (const rule of [
      deny("bash", "rm *"),
      ask("bash", "git push *"),
      deny("write", ".env"),
      deny("*", "x"),
    ]) {
      const found = await bash(line, { rules: [rule, allow("bash")] });
      expect(found).toMatchObject({ action: "ask", suggestions: [] });
      expect(found.opaque).toContain("command");
    }
    expect((await bash(line, { rules: [deny("bash")] })).action).toBe("deny");
    expect((await bash(line, { mode: "ask", rules: [allow("bash")] })).action).toBe("allow");
    expect((await bash(line, { mode: "ask", rules: [allow("bash", "rm *")] })).action).toBe("ask");
    expect((await bash(line, { mode: "readOnly", rules: [deny("bash", "x")] })).action).toBe(
      "deny",
    );
  });

  it("shows a person the commands that a parser finds in it if it cannot be judged", async () => {
    const found = await bash("for f in *; do rm $f; done", { mode: "ask" });
    expect(found.parts).toEqual([{ text: "rm $f", action: "ask" }]);
    expect(found.suggestions).toEqual([]);
  });

  it.each(["/usr/bin/fish", "zsh", "C:\\tools\\nu.exe"])(
    "cannot be judged when %s runs it",
    async (shellPath) => {
      expect(
        await bash("ls src", { mode: "ask", rules: [allow("bash", "ls *")], shellPath }),
      ).toMatchObject({
        action: "ask",
        opaque: expect.stringMatching(/^only lines of bash are understood, and \S+ runs it$/),
        parts: [{ text: "ls src" }],
        suggestions: [],
      });
      expect((await bash("ls", { rules: [deny("bash", "rm *")], shellPath })).action).toBe("ask");
    },
  );

  it.each(["", "/bin/bash", "/bin/sh", "dash", "C:\\Git\\bin\\bash.exe"])(
    "can be judged when %j runs it",
    async (shellPath) => {
      const given = { mode: "ask", rules: [allow("bash", "ls *")], shellPath } as const;
      expect((await bash("ls src", given)).action).toBe("allow");
    },
  );

  it("suggests rules that allow exactly this line", async () => {
    const line = "grep 'a*' src/x.ts | sort > out.txt";
    const { suggestions } = await bash(line, { mode: "ask" });
    expect(suggestions).toEqual([
      { tool: "bash", match: "grep a\\* src/x.ts", action: "allow" },
      { tool: "write", match: "out.txt", action: "allow" },
      { tool: "bash", match: "sort", action: "allow" },
    ]);
    const given = { mode: "ask", rules: suggestions } as const;
    expect((await bash(line, given)).action).toBe("allow");
    expect((await bash("grep ab src/x.ts", given)).action).toBe("ask");
  });

  it("suggests no rule when a rule asks, because another rule could not change that", async () => {
    expect((await bash("git push", { rules: [ask("bash", "git *")] })).suggestions).toEqual([]);
  });
});

describe("the corpus of shell lines", () => {
  const rows = Object.values(shellLines).flat();

  it("has more than two hundred lines", () => {
    expect(rows.length).toBeGreaterThan(200);
  });

  it.each(rows)("runs nothing denied in disguise: $line", async (row) => {
    const { line } = row;
    const asked = await bash(line, { mode: "ask" });
    expect(asked.action).toBe("ask");
    if ("reason" in row) {
      expect(asked).toMatchObject({ opaque: row.reason, suggestions: [] });
      expect((await bash(line, { rules: [deny("bash", "no such command")] })).action).toBe("ask");
      return;
    }
    const commands = row.parts
      .filter((part) => !part.startsWith("write: "))
      .map((part) => part.replace(/^wrapper: /, ""));
    for (const command of commands.filter((text) => text !== "")) {
      const found = await bash(line, { rules: [deny("bash", escapeCommand(command))] });
      expect(found.action).toBe("deny");
    }
    // An empty command has no specific pattern.
    if (asked.suggestions.some(({ match }) => match === "")) return;
    expect((await bash(line, { mode: "ask", rules: asked.suggestions })).action).toBe("allow");
  });
});
