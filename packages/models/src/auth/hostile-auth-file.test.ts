import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KeyResolver } from "./key-resolver.ts";
import { AuthStore } from "./store.ts";

let agentDirectory: string;
beforeEach(() => {
  agentDirectory = mkdtempSync(join(tmpdir(), "tau-hostile-"));
});
afterEach(() => rmSync(agentDirectory, { recursive: true, force: true }));

const put = (text: string) => writeFileSync(join(agentDirectory, "auth.json"), text);
const text = () => readFileSync(join(agentDirectory, "auth.json"), "utf8");
const refresh = async () => ({ access: "new", expires: Date.now() + 3_600_000 });

function newKeys(): KeyResolver {
  return new KeyResolver({
    environment: {},
    auth: new AuthStore(agentDirectory),
    logins: async () => ({ refresh, keyOf: ({ access }) => access }),
    runCommand: () => Promise.reject(new Error("no command is run")),
  });
}

const member = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom("api_key", "oauth", "k", "!", "$", 0, 1e300),
);
const entry = fc.dictionary(
  fc.constantFrom("type", "key", "env", "access", "refresh", "expires", "__proto__", "x"),
  member,
);

describe("an auth.json with arbitrary content", () => {
  it("gives a key that a header can contain, or a coded error; unknown content stays", async () => {
    const provider = fc.constantFrom("anthropic", "openai-codex", "__proto__", "constructor");
    const file = fc.dictionary(provider, fc.oneof(fc.jsonValue(), entry));
    await fc.assert(
      fc.asyncProperty(file, provider, async (entries, asked) => {
        put(JSON.stringify(entries));
        const before = JSON.parse(text());
        const keys = newKeys();
        await keys.availableProviders(["anthropic", asked]);
        const found = await keys.require(asked).catch((error: unknown) => error);
        if (found instanceof SessionError) {
          expect(["no_key", "key_unresolved"]).toContain(found.code);
        } else if (found instanceof Error) throw found;
        const after = JSON.parse(text());
        for (const name of Object.keys(before)) {
          if (name !== asked) expect(after[name]).toEqual(before[name]);
        }
      }),
      { numRuns: 150 },
    );
  });

  it("never puts a token with a line break into a request", async () => {
    const expires = Date.now() + 3_600_000;
    const access = "a\r\nx-evil: 1";
    put(JSON.stringify({ anthropic: { type: "oauth", access, refresh: "r", expires } }));
    const refused = newKeys().require("anthropic");
    await expect(refused).rejects.toMatchObject({ code: "key_unresolved" });
    await expect(refused).rejects.not.toThrow(/x-evil/);
  });

  it("keeps its comments when an entry changes", async () => {
    put('{\n  // of the team\n  "xai": {"type": "api_key", "key": "k"}, // shared\n}\n');
    const store = new AuthStore(agentDirectory);
    await store.set("groq", { type: "api_key", key: "g" });
    expect(text()).toContain("// of the team");
    expect(text()).toContain("// shared");
    expect(await store.get("groq")).toMatchObject({ key: "g" });
    await store.set("xai", undefined);
    expect([...(await store.all()).keys()]).toEqual(["groq"]);
  });

  it("is not changed by a refresh if another program changes it first", async () => {
    const login = { type: "oauth", access: "old", refresh: "r", expires: 1 };
    put(JSON.stringify({ vendor: login }));
    const newer = { ...login, access: "theirs", refresh: "r2", expires: Date.now() + 3_600_000 };
    const store = new AuthStore(agentDirectory);
    const tokens = await store.freshTokens("vendor", async () => {
      put(JSON.stringify({ vendor: newer }));
      return refresh();
    });
    expect(tokens).toEqual(newer);
    expect(JSON.parse(text()).vendor).toEqual(newer);
  });
});
