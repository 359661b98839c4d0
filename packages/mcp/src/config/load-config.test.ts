// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how mcp.json names variables.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, win32 } from "node:path";
import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadMcpConfig } from "./load-config.ts";
import { projectFiles, userFile } from "./places.ts";

let folder: string;
let agentDirectory: string;
let cwd: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tau-mcp-config-"));
  agentDirectory = join(folder, "agent");
  cwd = join(folder, "project");
  await mkdir(agentDirectory);
  await mkdir(join(cwd, ".pi"), { recursive: true });
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const write = (path: string, mcpServers: unknown) =>
  writeFile(path, JSON.stringify({ mcpServers }));

const load = (isProjectTrusted = true) =>
  loadMcpConfig({ agentDirectory, cwd, isProjectTrusted, keyVariables: () => ["OPENAI_API_KEY"] });

const ofProject = () => projectFiles(cwd) as [string, string];

describe("the files of a project in another workspace", () => {
  const elsewhere = "C:\\work";
  const loadThere = (texts: Record<string, string>, isProjectTrusted = true) => {
    const files = {
      stat: async () => undefined,
      read: async (path: string) => {
        const text = texts[path];
        if (text === undefined) throw new WorkspaceError("not_found", undefined, { path });
        return Buffer.from(text);
      },
    };
    const workspace = { files, path: win32 };
    const place = { agentDirectory, cwd: elsewhere, workspace, keyVariables: () => [] };
    return loadMcpConfig({ ...place, isProjectTrusted });
  };
  const path = `${elsewhere}\\.mcp.json`;

  it("are read there once the project is trusted", async () => {
    await write(userFile(agentDirectory), { a: { command: "1" } });
    const texts = {
      [path]: '{"mcpServers":{"b":{"url":"https://b.example"},"a":{"enabled":false}}}',
    };
    expect((await loadThere(texts)).servers).toMatchObject([
      { name: "a", source: "user", entry: { command: "1", isEnabled: false } },
      { name: "b", source: "project", entry: { transport: "http" } },
    ]);
    expect((await loadThere(texts, false)).servers).toMatchObject([{ name: "a" }]);
  });

  it("may start programs, and report what does not parse", async () => {
    const texts = {
      [path]: '{"mcpServers":{"b":{"command":"run-me"}}}',
      [`${elsewhere}\\.pi\\mcp.json`]: "{ broken",
    };
    expect(await loadThere(texts)).toMatchObject({
      servers: [{ name: "b", source: "project", entry: { command: "run-me" } }],
      errors: [expect.stringContaining(`${elsewhere}\\.pi\\mcp.json is not valid JSON`)],
    });
  });
});

describe("loadMcpConfig", () => {
  it("finds nothing without a file", async () => {
    expect(await load()).toEqual({ servers: [], errors: [] });
  });

  it("reads comments and a byte order mark", async () => {
    const text = '\uFEFF{ // mine\n "mcpServers": { "a": { "command": "x", }, } }';
    await writeFile(userFile(agentDirectory), text);
    const { servers, errors } = await load();
    expect(errors).toEqual([]);
    expect(servers).toMatchObject([
      { name: "a", source: "user", entry: { transport: "stdio", command: "x", timeoutMs: 60_000 } },
    ]);
  });

  it("lets .mcp.json override .pi/mcp.json, and both the user's file", async () => {
    const [pi, standard] = ofProject();
    await write(userFile(agentDirectory), { a: { command: "1" }, b: { command: "1" } });
    await write(pi, { a: { command: "2" }, c: { url: "https://c.example/mcp" } });
    await write(standard, { a: { command: "3" } });
    const { servers } = await load();
    expect(servers).toMatchObject([
      { name: "a", source: "project", entry: { command: "3" } },
      { name: "b", source: "user", entry: { command: "1" } },
      { name: "c", source: "project", entry: { transport: "http" } },
    ]);
  });

  it("ignores a project that is not trusted", async () => {
    await write(ofProject()[1], { a: { command: "x" } });
    expect((await load(false)).servers).toEqual([]);
  });

  it("lets overrides change only how a server is used", async () => {
    const [pi] = ofProject();
    await write(userFile(agentDirectory), {
      a: { command: "x", env: { K: "v" }, exposure: "direct", trustHints: true },
    });
    await write(pi, { a: { enabled: false, toolExposure: { t: "codemode" } } });
    const { servers } = await load();
    expect(servers).toMatchObject([
      {
        source: "user",
        entry: {
          command: "x",
          env: { K: "v" },
          isEnabled: false,
          exposure: "direct",
          toolExposure: [["t", "deferred"]],
          trustsHints: true,
        },
      },
    ]);
  });

  it("refuses an override of a missing server, and one that changes more", async () => {
    const [pi] = ofProject();
    await write(userFile(agentDirectory), { a: { command: "x" } });
    await write(pi, { a: { enabled: false, env: { A: "b" } }, z: { enabled: false } });
    const { servers, errors } = await load();
    expect(servers).toMatchObject([{ entry: { isEnabled: true } }]);
    expect(errors).toEqual([
      expect.stringMatching(/server "a": env cannot be overridden/),
      expect.stringMatching(/server "z": .*no server to override/),
    ]);
    expect(errors[0]).toContain(pi);
  });

  it("does not trust hints because a project says so", async () => {
    await write(ofProject()[0], { a: { command: "x", trustHints: true } });
    expect((await load()).servers).toMatchObject([{ entry: { trustsHints: false } }]);
  });

  it("refuses names of provider keys only in a project's file", async () => {
    const entry = { command: "x", env: { K: "${OPENAI_API_KEY:-none}" } };
    await write(userFile(agentDirectory), { mine: entry });
    await write(ofProject()[0], { theirs: entry });
    const { servers, errors } = await load();
    expect(servers.map(({ name }) => name)).toEqual(["mine"]);
    expect(errors).toEqual([expect.stringContaining("OPENAI_API_KEY")]);
  });

  it("skips a file that does not parse, and reads the others", async () => {
    await writeFile(userFile(agentDirectory), "{ nonsense");
    await write(ofProject()[0], { a: { command: "x" } });
    const { servers, errors } = await load();
    expect(servers).toHaveLength(1);
    expect(errors).toEqual([expect.stringContaining(userFile(agentDirectory))]);
  });

  it.each([
    [{}, "command or url is missing"],
    [{ command: "" }, "command"],
    [{ command: "x", url: "https://a.example" }, "rule each other out"],
    [{ command: "x", args: "y" }, "args"],
    [{ command: "x", env: { A: 1 } }, "env"],
    [{ command: "x", type: "sse" }, "type"],
    [{ url: "ftp://a.example" }, "url"],
    [{ url: "https://a.example", type: "stdio" }, "type"],
    [{ url: "https://a.example", headers: [] }, "headers"],
    [{ url: "https://a.example", oauth: { callbackUrl: "https://evil.example" } }, "callbackUrl"],
    [{ url: "https://a.example", oauth: { callbackPort: 70000 } }, "callbackPort"],
    [{ command: "x", timeout: 0 }, "timeout"],
    [{ command: "x", timeout: "60" }, "timeout"],
    [{ command: "x", enabled: "yes" }, "enabled"],
    [{ command: "x", exposure: "always" }, "exposure"],
    [{ command: "x", toolExposure: { a: "b" } }, "toolExposure.a"],
    ["npx", "object"],
  ])("skips the bad entry %j and keeps the others", async (entry, reason) => {
    await write(userFile(agentDirectory), {
      bad: entry,
      "b d": { command: "x" },
      c: { command: "x" },
    });
    const { servers, errors } = await load();
    expect(servers.map(({ name }) => name)).toEqual(["c"]);
    expect(errors).toHaveLength(2);
    expect(errors[0]).toMatch(/server "bad": /);
    expect(errors[0]).toContain(reason);
  });
});
