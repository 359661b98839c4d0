import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { defaultApi, runConformance } from "@tau-agent/conformance";
import { protocolNames } from "@tau-agent/rpc-protocol";
import { afterAll, describe, expect, it } from "vitest";
import { runsWhole, slice } from "../../../../scripts/testing/slice.ts";
import { binPath, isAlive } from "../support/start-host.ts";

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `tau conformance` and waits for its end. */
function conformance(...words: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [binPath, "conformance", ...words],
      { maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

/** The files of the transcripts that a run with these arguments plays. */
async function transcriptFiles(words: readonly string[]): Promise<string[]> {
  const { stdout } = await conformance("--list", ...words);
  const names: string[] = JSON.parse(stdout).map(({ name }: { name: string }) => name);
  return [...new Set(names.map((name) => name.replace(/:.*/, "")))];
}

const tau = ["--", process.execPath, binPath];

const folder = mkdtempSync(join(tmpdir(), "tau-other-"));
afterAll(() => rmSync(folder, { recursive: true }));
let hosts = 0;

/** A host that answers each line with the result of the code for `command`. */
function scriptedHost(code: string): string[] {
  hosts += 1;
  const file = join(folder, `host-${hosts}.mjs`);
  writeFileSync(
    file,
    `#!/usr/bin/env node
import { createInterface } from "node:readline";
const say = (frame) => process.stdout.write(JSON.stringify(frame) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const command = JSON.parse(line);
  ${code}
});`,
  );
  chmodSync(file, 0o755);
  return ["--", process.execPath, file];
}

/** Talks to a host as a client does: sends each command after the answer to the previous one. */
async function talk(argv: readonly string[], commands: readonly object[]): Promise<Outcome> {
  const child = spawn(process.execPath, argv, { stdio: "pipe" });
  let stdout = "";
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const left = [...commands];
  const next = () => {
    const command = left.shift();
    if (command === undefined) child.stdin.end();
    else child.stdin.write(`${JSON.stringify(command)}\n`);
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    stdout += `${line}\n`;
    const { type, command, success } = JSON.parse(line);
    // A prompt has ended when its run has.
    if (type === "agent_end" || (type === "response" && !(command === "prompt" && success))) next();
  });
  next();
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}

describe.concurrent("tau conformance", () => {
  it("finds no deviation in Tau, in any dialect", async () => {
    const dialects = slice(protocolNames, 1);
    const words = ["--json", "--strict", "--dialect", dialects.join()];
    // A whole dialect takes up to a hundred hosts; a part of it takes one file.
    if (!runsWhole) words.push("--filter", ...slice(await transcriptFiles(words), 1));
    const { code, stdout } = await conformance(...words, ...tau);
    const report = JSON.parse(stdout);
    expect(report.dialects.flatMap((dialect: { failures: unknown[] }) => dialect.failures)).toEqual(
      [],
    );
    expect(code).toBe(0);
    expect(report).toMatchObject({ ok: true, host: { name: "tau" } });
    expect(report.dialects.map(({ name }: { name: string }) => name)).toEqual(dialects);
    for (const { statements, shapeProblems } of report.dialects) {
      expect(shapeProblems).toEqual([]);
      const tried = statements.filter(
        ({ status }: { status: string }) => runsWhole || status !== "not_tried",
      );
      expect(tried.length).toBeGreaterThan(runsWhole ? 5 : 0);
      expect(tried.filter(({ status }: { status: string }) => status !== "holds")).toEqual([]);
    }
  }, 600_000);

  it("reports where another host deviates from its document, and what still holds", async () => {
    const host = scriptedHost(`
  const answer = { id: command.id, type: "response", command: command.type };
  if (command.type === "get_messages") {
    say({ type: "unheard_of" });
    say({ ...answer, success: true, data: { messages: [], more: 1 } });
  } else if (command.type === "bash") {
    say({ ...answer, success: true, data: { output: "a\\nb", exitCode: "3", cancelled: false } });
  } else say({ ...answer, success: false, error: "I do not know " + command.type });`);
    const { code, stdout } = await conformance(
      "--filter",
      "bash-and-errors.jsonl",
      "--timeout-ms",
      "3000",
      ...host,
    );
    expect(code).toBe(1);
    expect(stdout).toContain("Dialect pi\n");
    expect(stdout).not.toContain("Dialect pisces");
    expect(stdout).toMatch(/its document: \d+ of \d+ statements hold, \d+ not tried/);
    expect(stdout).toContain("fails  bash.data: bash answers with output");
    expect(stdout).toContain("bash-and-errors.jsonl: a shell command, line 4");
    expect(stdout).toContain('problem   frame.data.exitCode is not 3: "3"');
    expect(stdout).toMatch(/Frames that are not as the document prints them:\n {4}response bash: /);
  });

  it("ignores what a document leaves open, unless it is strict", async () => {
    const host = scriptedHost(`
  say({ type: "unheard_of" });
  const answer = { id: command.id, type: "response", command: command.type };
  if (command.type === "cycle_model") say({ ...answer, success: true, data: null, more: 1 });
  else say({ ...answer, success: false, error: "no" });`);
    const words = ["--filter", "one model only"];
    const lenient = await conformance(...words, ...host);
    expect(lenient.stdout).toContain("its document: 1 of 1 statements hold");
    expect(lenient.code).toBe(0);
    const strict = await conformance("--strict", ...words, ...host);
    expect(strict.stdout).toContain("fails  cycle_model.null");
    expect(strict.code).toBe(1);
  });

  it("plays the requested dialects over another wire format, and lists transcripts", async () => {
    // The tool calls of this wire format have two ids.
    const words = ["--dialect", "co-mono,pi-rust", "--api", "openai-responses"];
    const { code, stdout } = await conformance(
      ...words,
      "--strict",
      "--filter",
      "co-mono.session",
      ...tau,
    );
    expect(stdout).toContain("Dialect co-mono\n  its document: 2 of 2 statements hold");
    expect(code).toBe(0);
    const list = JSON.parse((await conformance("--list", "--json", "--dialect", "pi-rust")).stdout);
    expect(list.length).toBeGreaterThan(2);
    expect(list[0]).toMatchObject({ dialect: "pi-rust", scope: "document" });
  });

  it("plays the host of a transcript for a client and reports what the client omits", async () => {
    const argv = [
      binPath,
      "conformance",
      "--play",
      "prompting.jsonl: a text reply",
      "--mode",
      "rpc",
    ];
    const { code, stdout, stderr } = await talk(
      [...argv, "--dialect", "pi"],
      [
        { id: "mine", type: "prompt", message: "Hi" },
        { type: "get_last_assistant_text" },
        { id: 9, type: "get_messages" },
      ],
    );
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toContain('{"id":"mine","type":"response","command":"prompt","success":true}');
    expect(stdout).toContain('"delta":"Hello world"');
    // Several dialects share the transcript; it is played in the first of them.
    const wrong = await talk(argv, [{ type: "prompt", message: 1 }, { type: "get_state" }]);
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toMatch(/Invalid field "message" of prompt: .*"message":1/);
    expect(wrong.stderr).toContain("never came");
  });

  it("stops asking a silent host as soon as it is known to be silent", async () => {
    const argv = [process.execPath, "-e", "setInterval(() => {}, 1e3)", "--"];
    const hurried = { timeoutMs: 200, startMs: 500, api: defaultApi, isStrict: false };
    const { played } = await runConformance({ argv, ...hurried });
    expect(played.length).toBeGreaterThan(0);
    expect(played.length).toBeLessThan(10);
    expect(played.filter(({ failure }) => failure === undefined)).toEqual([]);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("leaves no host and no folder behind when %s ends it", async (signal, exitCode) => {
    const temporary = mkdtempSync(join(tmpdir(), "tau-stopped-"));
    const pids = join(temporary, "pids");
    // A host that neither answers nor exits.
    const code = `fs.appendFileSync(${JSON.stringify(pids)}, process.pid + "\\n"); setInterval(() => {}, 1e3)`;
    const argv = [binPath, "conformance", "--", process.execPath, "-e", code, "--"];
    const child = spawn(process.execPath, argv, { env: { ...process.env, TMPDIR: temporary } });
    const ended = once(child, "exit");
    await expect.poll(() => readFileSync(pids, "utf8")).toMatch(/^\d+\n/);
    child.kill(signal);
    expect(await ended).toEqual([exitCode, null]);
    expect(readdirSync(temporary)).toEqual(["pids"]);
    const pid = Number.parseInt(readFileSync(pids, "utf8"), 10);
    await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
    rmSync(temporary, { recursive: true });
  });

  it("stops waiting for a host that sends other frames forever", async () => {
    const ticking = scriptedHost("void command;");
    const leave = "process.stdin.on('end', () => process.exit());";
    const file = ticking.at(-1) ?? "";
    appendFileSync(
      file,
      `\n${leave}\nsetInterval(() => { console.log('tick'); say({ type: 'tick' }); }, 20);`,
    );
    const one = ["--filter", "a text reply", "--timeout-ms"];
    const { code, stdout } = await conformance(...one, "300", ...ticking);
    expect(code).toBe(1);
    expect(stdout).toMatch(/no frame came; lines that are no frame: \d+, first "tick"/);
    const line = `'{"type":"flood"}\\n'.repeat(1000)`;
    const flood = `while (process.stdout.write(${line})); process.stdout.once("drain", flood);`;
    appendFileSync(file, `\nfunction flood() { ${flood} }\nflood();`);
    const flooded = await conformance(...one, "8000", ...ticking);
    expect(flooded.code).toBe(1);
    expect(flooded.stdout).toContain("frames came, and no end of them");
  });

  it.each([
    [["--timeout-ms", "-5"], '--timeout-ms: "-5" is no number from 1 to 3600000'],
    [["--timeout-ms"], "--timeout-ms: it needs a value"],
    [["--json=3"], "--json: it takes no value"],
    [["--strickt"], "--strickt: there is no such option"],
    [["--play", "a "], "transcripts have that in their name, such as"],
    [["--play", "no such"], "--play: no transcript fits"],
    [["node"], "node: the host and its arguments come behind --"],
  ])("explains in one line what is wrong with %j", async (words, text) => {
    const { code, stdout, stderr } = await conformance(...words, ...tau);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr.trimEnd().split("\n")).toEqual([expect.stringContaining(text)]);
  });

  it("refuses to run without a host, with an invalid option, or with a host that does not start", async () => {
    expect(await conformance()).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^tau: error: name the host to try: .* -- <host[^\n]*\n$/),
    });
    const wrong = await conformance("--dialect", "klingon", ...tau);
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('"klingon"') });
    const missing = await conformance("--", "/no/such/host", "--flag");
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain("Cannot start the host /no/such/host --flag");
    const leaves = await conformance(
      "--",
      process.execPath,
      "-e",
      "console.error('no'); process.exit(7)",
      "--",
    );
    expect(leaves.code).toBe(2);
    expect(leaves.stderr).toMatch(/exit code 7\nno/);
  });
});
