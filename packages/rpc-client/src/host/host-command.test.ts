import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { type HostCommandOptions, hostCommand, hostEnvironment } from "./host-command.ts";

describe("hostCommand", () => {
  it("runs a given entry with the current Node", () => {
    expect(hostCommand({ cliPath: "/x/tau.js", model: "m" })).toEqual([
      process.execPath,
      "/x/tau.js",
      "--mode",
      "rpc",
      "--model",
      "m",
    ]);
  });

  it.each([
    ["memory", ["--no-session"]],
    ["continue", ["--continue"]],
    [{ path: "a.jsonl" }, ["--session", "a.jsonl"]],
    [{ kind: "new" }, []],
    [{ kind: "latest" }, ["--continue"]],
    [{ kind: "id", id: "x" }, ["--session-id", "x"]],
    [{ kind: "fork", from: "x" }, ["--fork", "x"]],
  ] as const)("takes the session %j as the library does", (session, words) => {
    const command = hostCommand({ cliPath: "/x/tau.js", session });
    expect(command.slice(4)).toEqual(words);
  });

  it.each([
    ["memry", 'got "memry"; the nearest is memory'],
    [{ kind: "lastest" }, 'got {"kind":"lastest"}'],
    [{ kind: "file" }, 'got {"kind":"file"}'],
    [{}, "got {}"],
    [7, "got 7"],
  ])("rejects an invalid session: %j", (session, text) => {
    expect(() => hostCommand({ session: session as never })).toThrow(text);
  });

  it("accepts any argument vector unchanged and adds the mode", () => {
    const command = ["docker", "exec", "-i", "box", "tau"];
    expect(hostCommand({ command, args: ["--no-session"] })).toEqual([
      ...command,
      "--mode",
      "rpc",
      "--no-session",
    ]);
  });

  it.each(["ssh", "/usr/bin/ssh", "C:\\OpenSSH\\ssh.exe"])(
    "quotes its words for the shell behind %s",
    (ssh) => {
      const command = [ssh, "-T", "build", "cd /work && exec tau"];
      const args = ["--name", "it's $HOME", "--empty", "", "--model=a/b:high"];
      expect(hostCommand({ command, args })).toEqual([
        ...command,
        "--mode",
        "rpc",
        "--name",
        "'it'\\''s $HOME'",
        "--empty",
        "''",
        "--model=a/b:high",
      ]);
    },
  );

  it("never starts a shim of an installed host", () => {
    const [program, entry] = hostCommand({});
    if (program === "tau") expect(entry).toBe("--mode");
    else expect([program, entry]).toEqual([process.execPath, expect.stringMatching(/tau\.js$/)]);
  });

  it("hides the host from bundlers, which would resolve it at build time", () => {
    const source = readFileSync(new URL("./host-command.ts", import.meta.url), "utf8");
    expect(source).not.toMatch(/^import .*createRequire/m);
  });
});

describe("hostEnvironment", () => {
  afterEach(() => {
    Reflect.deleteProperty(process.versions, "electron");
  });

  it("is the given environment", () => {
    expect(hostEnvironment(process.execPath, { A: "1" })).toEqual({ A: "1" });
  });

  it("makes Electron's own program run as Node, and does not affect other programs", () => {
    Object.defineProperty(process.versions, "electron", { value: "40.0.0", configurable: true });
    const made = { ELECTRON_RUN_AS_NODE: "1" };
    expect(hostEnvironment(process.execPath, { A: "1" })).toEqual({ ...made, A: "1" });
    expect(hostEnvironment("tau", undefined)).toBeUndefined();
  });

  it("converts options to the host's flags", () => {
    const words = (options: HostCommandOptions) =>
      hostCommand({ command: ["tau"], ...options }).slice(3);
    expect(words({ session: "memory" })).toEqual(["--no-session"]);
    expect(words({ session: "continue" })).toEqual(["--continue"]);
    expect(words({ session: { path: "/a b" } })).toEqual(["--session", "/a b"]);
    expect(words({ tools: ["read", "grep"] })).toEqual(["--tools", "read,grep"]);
    expect(words({ tools: [] })).toEqual(["--no-tools"]);
    expect(words({ extensions: ["a.ts", "b.ts"], permissions: "ask", args: ["--x"] })).toEqual([
      ...["--extension", "a.ts", "--extension", "b.ts", "--permission-mode", "ask", "--x"],
    ]);
    expect(
      words({ durability: "effects", durabilityAdoptMs: 5, resume: "auto", maxTurns: 1 }),
    ).toEqual([
      ...["--durability", "effects", "--durability-adopt-ms", "5", "--max-turns", "1"],
      "--resume-interrupted",
    ]);
  });
});
