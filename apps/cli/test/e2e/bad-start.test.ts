import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { slice, sliceSize } from "../../../../scripts/testing/slice.ts";
import { makePlace } from "../support/place.ts";
import { binPath, runHost, startHost } from "../support/start-host.ts";

const oneLine = (text: string) => text.trimEnd().split("\n").length === 1;

describe("broken files", () => {
  it.each(
    slice(
      [
        ["agent/auth.json", '{"broken": ', /auth\.json:1: not valid JSON/],
        ["agent/settings.json", '{\n"broken": ', /settings\.json:2: not valid JSON/],
        ["agent/models.json", '{"broken": ', /models\.json:1: not valid JSON/],
        [
          "agent/auth.json",
          '{"x": {"typ": "api_key"}}',
          /auth\.json:1: x must be \{"type": "api_key"/,
        ],
        [
          "agent/settings.json",
          '{"a": 1,\n"retry.maxRetries": "5"}',
          /settings\.json:2: retry\.max.*"5"/,
        ],
        ["agent/models.json", '{"ollama": {}}', /models\.json:1: providers: is missing/],
      ],
      3,
    ),
  )("%s with %j prevents the start and is left unchanged", async (path, text, reason) => {
    for (const argv of [["--mode", "rpc"], ["-p", "hi"], ["--list-models"]]) {
      const place = makePlace({ files: { [path]: text } });
      onTestFinished(place.remove);
      const { status, stdout, stderr } = spawnSync(process.execPath, [binPath, ...argv], {
        cwd: place.cwd,
        env: place.variables,
        input: "",
        encoding: "utf8",
      });
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr).toMatch(/^tau: error: /);
      expect(stderr).toMatch(reason);
      expect(oneLine(stderr)).toBe(true);
      expect(readFileSync(join(place.folder, path), "utf8")).toBe(text);
    }
  });

  it("an error in models.json affects only the model that has it", async () => {
    const house = {
      baseUrl: "http://127.0.0.1:9/v1",
      api: "openai-completions",
      models: [{ id: "bad", contextWindow: "big" }, { id: "good" }],
    };
    const files = { "agent/models.json": JSON.stringify({ providers: { house } }) };
    const { code, stdout, stderr } = await runHost({ arguments: ["--list-models"], files });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^house +good /m);
    expect(stdout).not.toContain("bad");
    expect(stderr).toMatch(
      /models\.json: model "house\/bad" is left out: providers\.house\.models\[0\]\.contextWindow: must be a number above 0/,
    );
  });

  it("an unknown setting causes a warning with the nearest name", async () => {
    const files = { "agent/settings.json": '{"defaultModle": "x"}' };
    const { code, stderr } = await runHost({ arguments: ["--mode", "rpc"], files });
    expect(code).toBe(0);
    expect(stderr).toContain("Unknown setting defaultModle; the nearest is defaultModel");
  });

  it("an invalid member of permissions does not prevent the start", async () => {
    const files = { "agent/settings.json": '{"permissions": {"mode": "alll"}}' };
    const { code, stderr } = await runHost({ arguments: ["--mode", "rpc"], files });
    expect(code).toBe(0);
    expect(stderr).toContain("permissions.mode");
  });

  it("invalid permissions of an untrusted project do not prevent the start", async () => {
    const files = { "project/.pi/settings.json": "{broken" };
    expect((await runHost({ arguments: ["--mode", "rpc"], files })).code).toBe(0);
    const approved = await runHost({ arguments: ["--mode", "rpc", "--approve"], files });
    expect(approved).toMatchObject({ code: 1, stderr: expect.stringContaining("settings.json:1") });
  });

  it("listing models fails if models.json is broken", async () => {
    const argv = ["--list-models"];
    const broken = await runHost({ arguments: argv, files: { "agent/models.json": "{broken" } });
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining("models.json") });
    expect((await runHost({ arguments: argv })).code).toBe(0);
  });

  it.runIf(process.platform === "linux").each(["/dev/full", "/dev/null/x", "/proc/tau/x/log", "/"])(
    "a log that cannot be written to %s goes to stderr",
    async (path) => {
      const files = { "agent/settings.json": '{"unheardOf": 1}' };
      const argv = ["--mode", "rpc", "--log-file", path];
      const { code, stderr } = await runHost({ arguments: argv, files });
      expect(code).toBe(0);
      expect(stderr).toContain(`cannot be written to ${path}`);
      expect(stderr).toContain("unheardOf");
    },
  );

  it.runIf(process.platform === "linux")(
    "a session directory that cannot be created fails the prompt, and the host continues",
    async () => {
      const host = startHost({ scenario: ["one"], arguments: ["--session-dir", "/proc/tau/x"] });
      host.send({ id: "p", type: "prompt", message: "hi" });
      const { error } = await host.until({ "...": true, type: "prompt_result", status: "error" });
      expect(error).toContain("/proc/tau/x");
      host.send({ type: "get_state" });
      await host.until({ "...": true, command: "get_state", success: true });
      await host.finish();
    },
  );

  it("a file that is not a session is refused with its name and left untouched", async () => {
    const files = { "notes.jsonl": "my notes\n" };
    const setup = { files, arguments: ["--session", "../notes.jsonl"] };
    const host = startHost(setup);
    host.child.stdin.end();
    expect((await host.ended).code).toBe(1);
    expect(host.stderr).toContain("Not a session file");
    expect(host.stderr).toContain("notes.jsonl");
    expect(oneLine(host.stderr)).toBe(true);
    expect(readFileSync(join(host.place.folder, "notes.jsonl"), "utf8")).toBe("my notes\n");
  });
});

describe("an invalid command line", () => {
  it.each(
    slice(
      [
        [["--mode", "tui"], "--mode"],
        [["--mode", "rpc", "--model", "no/such-model"], "no/such-model"],
        [["--mode", "rpc", "--provider", "nobody", "--model", "x"], "nobody"],
        [["--mode", "rpc", "a prompt"], "prompts from stdin"],
        [["-q"], "-q"],
        [["-p", "--modle", "x", "hi"], "--modle: there is no such option; the nearest is --model"],
        [["-p", "--provider", "antropic", "hi"], "the nearest is anthropic"],
        [["-p", "--model", "claude-sonet-4-5", "hi"], "Did you mean claude-sonnet-4-5?"],
        [["-p", "--tools", "raed", "hi"], "--tools: there is no tool raed; the nearest is read"],
        [
          ["--mode", "rpc", "--tools", "read,+nothing"],
          "--tools: there is no tool nothing; known are",
        ],
        [["-p", "--session", "nowhere", "hi"], "nowhere"],
        [["-p", "--session", "..", "hi"], "(it is a folder, not a file)"],
        [
          ["-p", "--provider", "scripted", "--session-dir", "../agent/models.json", "hi"],
          "or keep the session in memory with --no-session",
        ],
        [["-p", "--extension", "nowhere.ts", "hi"], "nowhere.ts"],
        [["-p", "--output-schema", "nowhere.json", "hi"], "nowhere.json"],
        [["-p", "@nowhere.txt", "hi"], "nowhere.txt"],
        [["-p", "--provider", "scripted", "@..", "hi"], "Invalid option @..: it is a folder"],
        [
          ["-p", "--provider", "scripted", "--output-schema", "..", "hi"],
          "cannot be read as JSON: it is a folder, not a file (EISDIR)",
        ],
        [["--mode", "json", "install", "npm:thing"], "Invalid option install"],
        [["--mode", "rpc", "--session", "../x.jsonl", "--no-session"], "--no-session"],
      ],
      5,
    ),
  )("%j ends with one line and exit code 1", async (argv, named) => {
    const result = await runHost({
      arguments: argv,
      files: { "agent/models.json": JSON.stringify({ providers: {} }) },
    });
    expect(result.code).toBe(1);
    expect(result.stdout).toBe("");
    expect(result.stderr).toContain(named);
    expect(oneLine(result.stderr)).toBe(true);
    expect(result.stderr).toMatch(/^tau: error: /);
  });

  it("a prompt to a model without a key is refused with the name of the variable", async () => {
    const argv = ["--mode", "rpc", "--model", "anthropic/claude-sonnet-4-5"];
    const host = startHost({ arguments: argv });
    host.send({ id: "p", type: "prompt", message: "hi" });
    const { error } = await host.until({ "...": true, id: "p", success: false });
    expect(error).toContain("ANTHROPIC_API_KEY");
    host.send({ type: "get_state" });
    await host.until({ "...": true, command: "get_state", success: true });
    expect(host.stdout).not.toContain("agent_start");
  });

  it("a deleted working directory is reported in one line", () => {
    const place = makePlace();
    onTestFinished(place.remove);
    const gone = join(place.folder, "gone");
    mkdirSync(gone);
    const script = `cd '${gone}' && rm -r '${gone}' && '${process.execPath}' '${binPath}' --mode rpc </dev/null`;
    const { status, stderr } = spawnSync("/bin/sh", ["-c", script], {
      env: place.variables,
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(stderr).toContain("working directory");
    expect(oneLine(stderr)).toBe(true);
  });
});

describe("a full disk", () => {
  it("fails the prompt with the reason; the host keeps running and the file stays intact", async () => {
    const scenario = [{ content: "x".repeat(30_000) }, "short"];
    const shell = ["/bin/sh", "-c", 'ulimit -S -f 24; exec "$0" "$@"', process.execPath];
    const host = startHost({ scenario }, { command: shell });
    host.send({ id: "1", type: "prompt", message: "go" });
    const result = await host.until({ "...": true, type: "prompt_result" });
    expect(result).toMatchObject({
      id: "1",
      status: "error",
      error: expect.stringContaining("EFBIG"),
    });
    host.send({ id: "2", type: "prompt", message: "again" });
    expect(await host.until({ "...": true, type: "prompt_result" })).toMatchObject({
      id: "2",
      status: "completed",
    });
    await host.finish();
    const sessions = join(host.place.folder, "agent", "sessions");
    const files = readdirSync(sessions, { recursive: true, encoding: "utf8" });
    const path = join(sessions, files.find((name) => name.endsWith(".jsonl")) ?? "");
    const lines = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const roles = lines.flatMap(({ message }) => (message ? [message.role] : []));
    expect(roles).toEqual(["user", "user", "assistant"]);
  });
});

describe("a file argument", () => {
  it("is refused with its name in rpc mode [pisces.start.files]", async () => {
    const host = startHost({ arguments: ["@notes.txt"] });
    expect(await host.ended).toMatchObject({ code: 1 });
    expect(host.stderr).toContain("@notes.txt");
    expect(oneLine(host.stderr)).toBe(true);
    expect(host.stdout).toBe("");
  });
});

describe("many hosts", () => {
  it("can start at once in one directory and keep their sessions apart", async () => {
    const count = sliceSize(6, 20);
    const place = makePlace({ scenario: ["one"] });
    const hosts = Array.from({ length: count }, () => startHost({}, { place }));
    for (const host of hosts) host.send({ type: "prompt", message: "go" });
    await Promise.all(hosts.map((host) => host.until({ "...": true, type: "agent_settled" })));
    const ends = await Promise.all(hosts.map((host) => host.finish()));
    expect(ends.every(({ code }) => code === 0)).toBe(true);
    const files = readdirSync(join(place.folder, "agent"), { recursive: true, encoding: "utf8" });
    expect(files.filter((name) => name.endsWith(".jsonl"))).toHaveLength(count);
    expect(hosts.map(({ stderr }) => stderr).join("")).toBe("");
  });

  it("cannot share one session file", async () => {
    const first = startHost({ scenario: ["one"], arguments: ["--session", "../s.jsonl"] });
    first.send({ type: "prompt", message: "go" });
    await first.until({ "...": true, type: "agent_settled" });
    const second = startHost({}, { place: first.place });
    second.child.stdin.end();
    expect((await second.ended).code).toBe(3);
    expect(second.stderr).toContain(`in use by process ${first.child.pid}`);
    first.send({ type: "get_state" });
    await first.until({ "...": true, command: "get_state", success: true });
  });
});

describe.runIf(process.platform === "linux")("an output that cannot be written to", () => {
  const setup = { scenario: ["one"] };
  it.each([
    ["-p", "hi"],
    ["--mode", "json", "hi"],
    ["--mode", "rpc", "--version"],
    ["--mode", "rpc"],
  ])("makes %s %s %s fail", (...words) => {
    const place = makePlace({ ...setup, arguments: words });
    onTestFinished(() => place.remove());
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [binPath, ...place.arguments], {
      cwd: place.cwd,
      env: place.variables,
      input: words.includes("rpc") ? '{"type":"get_state"}\n' : "",
      stdio: ["pipe", full, "pipe"],
      encoding: "utf8",
    });
    closeSync(full);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^tau: error: cannot write to stdout: ENOSPC/);
    expect(oneLine(stderr)).toBe(true);
  });
});

describe("an older Node version", () => {
  const workerPath = fileURLToPath(
    new URL("../../../../packages/worker/bin/tau-worker.js", import.meta.url),
  );

  it.each([
    ["tau", binPath],
    ["tau-worker", workerPath],
  ])("runs %s, which prints one line with the required version and exits with 1", (name, path) => {
    // The program only checks the reported version, so a shim can claim an old one.
    const shim = 'Object.defineProperty(process.versions,"node",{value:"20.19.0"});';
    const argument = `data:text/javascript,${encodeURIComponent(shim)}`;
    const words = ["--import", argument, path, "--mode", "rpc"];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, {
      encoding: "utf8",
      input: "",
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^${name}: error: Node\\.js 22\\.19 or newer`));
    expect(oneLine(stderr)).toBe(true);
  });
});

it.each(["--list-models", "models"])("tau %s without a model fails", async (word) => {
  const place = makePlace();
  onTestFinished(() => place.remove());
  const argv = [binPath, word, "sonet"];
  const options = { cwd: place.cwd, env: place.variables, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, options);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/^tau: error: No models/);
});
