import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { startLoopbackServer } from "@tau-agent/ai/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { makePlace } from "../support/place.ts";
import { binPath, runHost, startHost } from "../support/start-host.ts";

const failing = {
  content: "x",
  fault: { kind: "status" as const, status: 401, message: "bad key" },
};

describe("-p", () => {
  it("prints the final text and nothing else", async () => {
    const scenario = [
      { content: [{ type: "toolCall" as const, name: "read", arguments: { path: "notes.txt" } }] },
      "Two lines.",
    ];
    const result = await runHost({ scenario, arguments: ["-p", "how many lines?"] });
    expect(result).toMatchObject({ code: 0, stdout: "Two lines.\n", stderr: "" });
  });

  it("shows a spinner on a terminal while a server starts", async () => {
    const fixture = new URL(
      "../../../../packages/mcp/src/__fixtures__/stdio-server.ts",
      import.meta.url,
    );
    const line = `sleep 3; exec '${process.execPath}' '${fileURLToPath(fixture)}' '{"tools": []}'`;
    const slow = { command: "sh", args: ["-c", line], exposure: "direct" };
    const files = { "agent/mcp.json": JSON.stringify({ mcpServers: { slow } }) };
    // Forwards terminal output.
    const terminal = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
    const command = ["python3", "-c", terminal, process.execPath];
    const setup = { scenario: ["Hello."], files, arguments: ["-p", "hi"] };
    const host = startHost(setup, { command });
    const { code } = await host.ended;
    const { stdout } = host;
    expect(stdout).toContain("warning: Waiting up to 10 s for MCP servers that connect");
    expect(stdout).toContain("\r\u001b[K⠋ Connecting to MCP servers … 0 s\r\u001b[K⠙");
    expect(stdout.replaceAll("\r\n", "\n").endsWith(" s\r\u001b[KHello.\n")).toBe(true);
    expect(code).toBe(0);
  });

  it("puts piped text before the prompt", async () => {
    const when = { lastUserMatches: "^piped\\n\\nexplain$" };
    const result = await runHost(
      { scenario: [{ when, content: "ok" }], arguments: ["-p", "explain"] },
      "piped\n",
    );
    expect(result).toMatchObject({ code: 0, stdout: "ok\n" });
  });

  describe("with --output-schema", () => {
    const files = {
      "project/city.json":
        '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}',
      "project/broken.json": "{",
      "project/none.json": '{"type":"thing"}',
    };
    const ask = (schema: string, scenario: string[]) =>
      runHost({ files, scenario, arguments: ["-p", "--output-schema", schema, "Which?"] });

    it("prints the answer as JSON", async () => {
      const result = await ask("city.json", ["no", 'Here: ```json\n{"city": "Ulm"}\n```']);
      expect(result).toMatchObject({ code: 0, stdout: '{"city":"Ulm"}\n', stderr: "" });
    });

    it("prints an answer that does not fit the schema to stderr and exits with 1", async () => {
      const result = await ask("city.json", ["no", "no", "Ulm, I think"]);
      expect(result).toMatchObject({ code: 1, stdout: "" });
      expect(result.stderr).toContain("after 3 attempts");
      expect(result.stderr).toContain("Ulm, I think");
    });

    it.each([
      ["missing.json", "missing.json"],
      ["broken.json", "broken.json"],
      ["none.json", 'unknown type "thing"'],
      ["none.json", "Invalid option --output-schema: "],
      ["none.json", "/project/none.json: "],
    ])("explains what is wrong with %s before it calls a model", async (schema, words) => {
      const result = await ask(schema, []);
      expect(result).toMatchObject({ code: 1, stdout: "" });
      expect(result.stderr).toMatch(/^tau: error: /);
      expect(result.stderr).toContain(words);
    });
  });

  it("reports a model's failure on stderr and exits with 1", async () => {
    const result = await runHost({ scenario: [failing], arguments: ["-p", "go"] });
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toMatch(/^tau: error: .*bad key/);
  });

  it("shows each retry on stderr while nothing listens at the server's address", async () => {
    await using server = await startLoopbackServer({ scenario: [] });
    const { baseUrl } = server.model("openai-completions");
    await server.close();
    const models = [{ id: "m", contextWindow: 8000, maxTokens: 1000 }];
    const local = { baseUrl, apiKey: "k", api: "openai-completions", models };
    const result = await runHost({
      files: {
        "agent/models.json": JSON.stringify({ providers: { local } }),
        "agent/settings.json": JSON.stringify({ "retry.baseDelayMs": 10 }),
      },
      arguments: ["-p", "--provider", "local", "--model", "m", "go"],
    });
    expect(result).toMatchObject({ code: 1, stdout: "" });
    const lines = result.stderr.trimEnd().split("\n");
    const problem = `connect ECONNREFUSED ${new URL(baseUrl).host} (local at ${baseUrl}). Is the server running?`;
    expect(lines).toEqual([
      `tau: warning: ${problem} Retry 1 of 3 in 0.1 s.`,
      `tau: warning: ${problem} Retry 2 of 3 in 0.1 s.`,
      `tau: warning: ${problem} Retry 3 of 3 in 0.1 s.`,
      `tau: error: ${problem}`,
    ]);
  });

  it("prints a truncated reply, warns and exits with 1", async () => {
    const scenario = [{ content: "half an ans", stopReason: "length" as const }];
    const result = await runHost({ scenario, arguments: ["-p", "go"] });
    expect(result).toMatchObject({ code: 1, stdout: "half an ans\n" });
    expect(result.stderr).toContain("output limit");
  });

  it("treats the word after a switch of an extension as the prompt", async () => {
    const text = `export default (pi) => pi.registerFlag("plan", { type: "boolean" });`;
    const result = await runHost({
      files: { "agent/extensions/plan.js": text },
      scenario: [{ when: { lastUserMatches: "^do it$" }, content: "done" }],
      arguments: ["-p", "--plan", "do it"],
    });
    expect(result).toMatchObject({ code: 0, stdout: "done\n", stderr: "" });
  });

  const commands = `export default (pi) => {
    const say = (name, handler) => pi.registerCommand(name, { handler });
    say("notify", async (words, ctx) => {
      ctx.ui.notify("12 files, " + words);
      ctx.ui.notify("one is large", "warning");
    });
    say("message", async () => {
      pi.sendMessage({ customType: "stats", content: "3 open issues", display: true });
      pi.sendMessage({ customType: "stats", content: "hidden", display: false });
    });
    say("file", async (_words, ctx) => ctx.ui.notify("one\\n  two\\n"));
    say("nothing", async () => {});
    pi.on("agent_start", (_event, ctx) => ctx.ui.notify("a run begins"));
  };`;
  const ofExtension = { "agent/extensions/say.js": commands };

  it.each([
    ["/notify of 4", "12 files, of 4\n", "tau: warning: one is large\n"],
    ["/message", "3 open issues\n", ""],
    ["/nothing", "", ""],
    ["hello", "hi\n", ""],
  ])("prints the output of %s", async (prompt, stdout, stderr) => {
    const options = { files: ofExtension, scenario: ["hi"], arguments: ["-p", prompt] };
    expect(await runHost(options)).toMatchObject({ code: 0, stdout, stderr });
  });

  it("ends the output of a command with one line break", () => {
    const place = makePlace({ files: ofExtension, arguments: ["-p", "/file"] });
    onTestFinished(() => place.remove());
    const options = { cwd: place.cwd, env: place.variables, encoding: "utf8" } as const;
    const { stdout } = spawnSync(process.execPath, [binPath, ...place.arguments], options);
    expect(stdout).toBe("one\n  two\n");
  });

  it("prints the last reply after the output of a command", async () => {
    const options = {
      files: ofExtension,
      scenario: ["hi"],
      arguments: ["-p", "hello", "/message"],
    };
    expect(await runHost(options)).toMatchObject({ code: 0, stdout: "3 open issues\nhi\n" });
  });

  it("reports that the prompt is missing", async () => {
    for (const argv of [["-p"], ["--mode", "text"], ["--mode", "json"]]) {
      const result = await runHost({ arguments: argv });
      expect(result.code).toBe(1);
      expect(result.stderr).toMatch(/^tau: error: there is no prompt; pass one/m);
    }
  });

  it("exits with 143 on SIGTERM", async () => {
    const scenario = [{ content: "x".repeat(5_000), chunkSize: 5, delayMs: 5 }];
    const host = startHost({ scenario, arguments: ["--mode", "json", "go"] });
    host.child.stdin.end();
    await host.until({ "...": true, type: "message_update" });
    host.child.kill("SIGTERM");
    expect((await host.ended).code).toBe(143);
    // The last output about the aborted run is still written.
    expect(host.stdout).toContain('"type":"agent_settled","aborted":true');
  });
});

describe("--mode json", () => {
  it("prints the session header, then every event", async () => {
    const result = await runHost({ scenario: ["Hi"], arguments: ["--mode", "json", "go"] });
    expect(result.code).toBe(0);
    const lines = result.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ type: "session", version: 3, cwd: expect.any(String) });
    expect(lines[1]).toEqual({ type: "agent_start" });
    expect(lines.map(({ type }) => type)).toContain("agent_end");
    expect(lines.at(-1)).toMatchObject({ type: "prompt_result", status: "completed" });
  });

  it("exits with 1 if the model failed, after printing the events to stdout", async () => {
    const result = await runHost({ scenario: [failing], arguments: ["--mode", "json", "go"] });
    expect(result.code).toBe(1);
    expect(result.stdout).toContain('"stopReason":"error"');
    expect(result.stderr).toContain("bad key");
  });
});

it("continues in the named file, even with --continue", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tau-session-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "scout.json");
  for (const more of [[], ["-c"]]) {
    const given = ["--mode", "json", "--session", file, ...more, "go on"];
    const result = await runHost({ scenario: ["one"], arguments: given });
    expect(result).toMatchObject({ code: 0, stderr: "" });
  }
  expect(readFileSync(file, "utf8").match(/"role":"assistant"/g)).toHaveLength(2);
});

describe("--export", () => {
  it("writes a page for a session file that another host has open, and prints its path", async () => {
    const host = startHost({ scenario: ["A page of mine."] });
    host.send({ type: "prompt", message: "go" });
    await host.until({ "...": true, type: "agent_settled" });
    host.send({ type: "get_state" });
    const { data } = await host.until({ "...": true, command: "get_state" });
    const { sessionFile } = data as { sessionFile: string };
    const before = readFileSync(sessionFile, "utf8");
    const page = join(host.place.folder, "page.html");
    const result = await runHost({ arguments: ["--export", sessionFile, page] });
    expect(result).toMatchObject({ code: 0, stdout: `${page}\n`, stderr: "" });
    const html = readFileSync(page, "utf8");
    expect(html).toContain("A page of mine.");
    const packed = /id="jsonl"[^>]*>([^<]*)/.exec(html)?.[1] ?? "";
    expect(gunzipSync(Buffer.from(packed, "base64")).toString("utf8")).toBe(before);
    expect(readFileSync(sessionFile, "utf8")).toBe(before);
  });

  it("names a file that does not exist or is not a session", async () => {
    const none = await runHost({ arguments: ["--export", "none.jsonl"] });
    expect(none.code).toBe(1);
    expect(none.stderr).toMatch(/^tau: error: .*none\.jsonl/);
    const other = await runHost({ arguments: ["--export", "notes.txt"] });
    expect(other.code).toBe(1);
    expect(other.stderr).toMatch(/^tau: error: .*notes\.txt/);
  });
});
