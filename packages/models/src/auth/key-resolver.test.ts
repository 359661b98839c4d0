import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProcessRegistry } from "@tau-agent/system";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { resolveConfigValue } from "./config-value.ts";
import { KeyResolver, type KeyResolverOptions } from "./key-resolver.ts";
import type { ProviderKeyEntry } from "./key-types.ts";
import { createCommandRunner } from "./run-command.ts";
import { AuthStore } from "./store.ts";

let agentDirectory: string;
beforeEach(() => {
  agentDirectory = mkdtempSync(join(tmpdir(), "tau-auth-"));
});
afterEach(() => rmSync(agentDirectory, { recursive: true, force: true }));

const putAuth = (value: unknown) =>
  writeFileSync(
    join(agentDirectory, "auth.json"),
    typeof value === "string" ? value : JSON.stringify(value),
  );

const processes = new ProcessRegistry();
afterAll(() => processes.killAll());

function resolver(
  options: Partial<KeyResolverOptions> & { custom?: Record<string, ProviderKeyEntry> } = {},
) {
  const { custom = {}, ...rest } = options;
  return new KeyResolver({
    environment: {},
    auth: new AuthStore(agentDirectory),
    customProviders: async () => new Map(Object.entries(custom)),
    runCommand: createCommandRunner({ processes }),
    ...rest,
  });
}

const bearer = ({ access }: { access: string }) => `vendor:${access}`;

describe("key order", () => {
  const environment = { ANTHROPIC_API_KEY: "from-environment" };
  const custom = { anthropic: { apiKey: "from-models" } };

  it("is runtime, auth.json, models.json, environment", async () => {
    putAuth({ anthropic: { type: "api_key", key: "from-auth" } });
    const keys = resolver({ environment, custom });
    keys.setRuntimeKey("anthropic", "from-flag");
    expect(await keys.require("anthropic")).toEqual({ key: "from-flag", source: "runtime" });
    keys.setRuntimeKey("anthropic", undefined);
    expect(await keys.require("anthropic")).toEqual({ key: "from-auth", source: "auth_file" });
    putAuth({});
    expect(await resolver({ environment, custom }).require("anthropic")).toEqual({
      key: "from-models",
      source: "models_file",
    });
    expect(await resolver({ environment }).require("anthropic")).toEqual({
      key: "from-environment",
      source: "environment",
    });
  });

  it("does not fall back to the environment when a stored credential fails", async () => {
    putAuth({ anthropic: { type: "api_key", key: "$NOT_SET" } });
    const resolving = resolver({ environment }).require("anthropic");
    await expect(resolving).rejects.toMatchObject({
      code: "key_unresolved",
      message: expect.stringContaining("NOT_SET is not set"),
    });
  });

  it("names provider and variables when there is no key", async () => {
    await expect(resolver().require("anthropic")).rejects.toMatchObject({
      code: "no_key",
      message: expect.stringMatching(/anthropic\. Set ANTHROPIC_API_KEY,/),
    });
    await expect(resolver().require("mine")).rejects.toThrow(/models\.json/);
    await expect(resolver().require("constructor")).rejects.toThrow(/models\.json/);
  });

  it("ignores variables that are meant for other programs", async () => {
    const keys = resolver({ environment: { GITHUB_TOKEN: "x", ANTHROPIC_AUTH_TOKEN: "y" } });
    expect(await keys.availableProviders(["github-copilot", "anthropic"])).toEqual(new Set());
  });

  it("needs no key for a keyless server", async () => {
    const keys = resolver({ custom: { local: { isKeyless: true } } });
    expect(await keys.require("local")).toEqual({ key: undefined, source: "none" });
  });

  it("lists available providers without running commands", async () => {
    putAuth({
      groq: { type: "api_key", key: "!exit 1" },
      xai: { type: "api_key", key: "$NOT_SET" },
    });
    const runCommand = vi.fn();
    const keys = resolver({
      environment: { OPENAI_API_KEY: "k", XAI_API_KEY: "k" },
      custom: { mine: { apiKey: "word" }, other: { apiKey: "$NOT_SET" } },
      runCommand,
    });
    const found = await keys.availableProviders(["openai", "anthropic", "groq", "xai"]);
    expect([...found].sort()).toEqual(["groq", "mine", "openai"]);
    expect(runCommand).not.toHaveBeenCalled();
  });
});

describe("configured values", () => {
  const environment = { NAME: "value", MY_KEY: "secret", PATH: "/usr/bin:/bin" };
  const resolve = (raw: string) =>
    resolveConfigValue(raw, { environment, runCommand: createCommandRunner({ processes }) });

  it.each([
    ["plain", "plain"],
    ["$NAME", "value"],
    [`a-\${NAME}-b`, "a-value-b"],
    ["$$NAME", "$NAME"],
    ["$!cmd", "!cmd"],
    ["cost: 5$", "cost: 5$"],
    ["MY_KEY", "secret"],
    ["PATH", "PATH"],
    ["NAME", "NAME"],
    ["UNSET_NAME", "UNSET_NAME"],
    ["!printf '  hi\\n'", "hi"],
  ])("reads %s as %s", async (raw, value) => {
    expect(await resolve(raw)).toEqual({ value });
  });

  it("stays unresolved when one of several variables is unset", async () => {
    expect(await resolve("$NAME:$MISSING")).toEqual({ reason: "MISSING is not set" });
  });

  it("reports how a command failed, without its output", async () => {
    expect(await resolve("!echo secret; exit 3")).toEqual({
      reason: expect.stringMatching(/exit code 3/),
    });
  });

  it("stops a command that hangs, with its children", async () => {
    const run = createCommandRunner({ processes, timeoutMs: 50 });
    const started = Date.now();
    await expect(run("sleep 630 | cat", environment)).rejects.toThrow(/longer than 50 ms/);
    expect(Date.now() - started).toBeLessThan(5000);
  });

  it("stops a command when the host ends", async () => {
    const own = new ProcessRegistry();
    const run = createCommandRunner({ processes: own });
    const failed = expect(run("sleep 630", environment)).rejects.toThrow(/signal SIGKILL/);
    await expect.poll(() => own.size).toBe(1);
    own.killAll();
    await failed;
  });

  it("runs a command once for concurrent callers, and again later", async () => {
    const run = createCommandRunner({ processes });
    const count = join(agentDirectory, "count");
    const command = `echo x >> '${count}'; sleep 0.05`;
    await Promise.all([run(command, environment), run(command, environment)]);
    await run(command, environment);
    expect(readFileSync(count, "utf8")).toBe("x\nx\n");
  });
});

describe("auth.json", () => {
  it("is written for its owner only and keeps other entries", async () => {
    putAuth({ other: { type: "api_key", key: "o" }, odd: 5 });
    const store = new AuthStore(agentDirectory);
    await store.set("anthropic", { type: "api_key", key: "k" });
    expect(statSync(store.path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(store.path, "utf8"))).toEqual({
      other: { type: "api_key", key: "o" },
      odd: 5,
      anthropic: { type: "api_key", key: "k" },
    });
    expect(await store.get("anthropic")).toEqual({ type: "api_key", key: "k" });
    await store.set("anthropic", undefined);
    expect(await store.get("anthropic")).toBeUndefined();
  });

  it("is not overwritten when it does not parse, and the problem is reported", async () => {
    putAuth("{ broken");
    const store = new AuthStore(agentDirectory);
    expect((await store.all()).size).toBe(0);
    expect(store.diagnostics[0]?.message).toContain(store.path);
    await expect(store.set("a", { type: "api_key", key: "k" })).rejects.toThrow(/not valid JSON/);
    expect(readFileSync(store.path, "utf8")).toBe("{ broken");
  });

  it("renews a login once for concurrent callers, and keeps the refresh token if the vendor sends none", async () => {
    putAuth({ vendor: { type: "oauth", access: "old", refresh: "r", expires: 0, account: "me" } });
    const refresh = vi.fn(async () => ({ access: "new", expires: Date.now() + 3_600_000 }));
    const custom = { vendor: { login: { refresh, keyOf: bearer } } };
    const [one, two] = [resolver({ custom }), resolver({ custom })];
    const found = await Promise.all([one.require("vendor"), two.require("vendor")]);
    expect(found).toEqual([
      { key: "vendor:new", source: "login" },
      { key: "vendor:new", source: "login" },
    ]);
    expect(refresh).toHaveBeenCalledTimes(1);
    const stored = JSON.parse(readFileSync(join(agentDirectory, "auth.json"), "utf8"));
    expect(stored.vendor).toMatchObject({ access: "new", refresh: "r", account: "me" });
  });

  it("remains a login while its key is looked up again", async () => {
    const expires = Date.now() + 3_600_000;
    putAuth({ vendor: { type: "oauth", access: "a", refresh: "r", expires } });
    const keys = resolver();
    await keys.require("vendor");
    const again = keys.require("vendor");
    expect(keys.mayRenew("vendor")).toBe(true);
    await again;
    keys.setRuntimeKey("vendor", "from-flag");
    await keys.require("vendor");
    expect(keys.mayRenew("vendor")).toBe(false);
  });

  it("uses a login that cannot be renewed until it expires, and then reports why", async () => {
    const refresh = () => Promise.reject(new RangeError("no such account"));
    const custom = { vendor: { login: { refresh, keyOf: bearer } } };
    const soon = Date.now() + 60_000;
    putAuth({ vendor: { type: "oauth", access: "a", refresh: "r", expires: soon } });
    expect(await resolver({ custom }).require("vendor")).toMatchObject({ key: "vendor:a" });
    putAuth({ vendor: { type: "oauth", access: "a", refresh: "r", expires: 1 } });
    await expect(resolver({ custom }).require("vendor")).rejects.toThrow(
      /vendor .*could not be renewed: no such account/,
    );
  });

  it("reports an expired login that cannot be renewed", async () => {
    putAuth({ vendor: { type: "oauth", access: "old", refresh: "r", expires: 1 } });
    await expect(resolver().require("vendor")).rejects.toThrow(/vendor .*login has expired/);
  });
});
