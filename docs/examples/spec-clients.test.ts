import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type LoopbackServer, startLoopbackServer, toolCall } from "@tau-agent/ai/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasPython, runProgram } from "./run-program.ts";

const node = process.execPath;
const fixture = (name: string) =>
  fileURLToPath(new URL(`__fixtures__/spec-clients/${name}`, import.meta.url));

let home: string;
let server: LoopbackServer;

beforeAll(async () => {
  server = await startLoopbackServer({
    scenario: ({ lastUserText, toolResults }) => {
      const [result] = toolResults;
      if (result === undefined) return { content: [toolCall("ls", {}, { id: "call_1" })] };
      return `You said "${lastUserText}"; there is ${result.text.trim()}.`;
    },
  });
  home = mkdtempSync(join(tmpdir(), "tau-spec-client-"));
  const agent = join(home, ".pi/agent");
  mkdirSync(agent, { recursive: true });
  mkdirSync(join(home, "work"));
  writeFileSync(join(home, "work/notes.txt"), "");
  const baseUrl = server.urls["anthropic-messages"];
  const loopback = { baseUrl, api: "anthropic-messages", models: [{ id: "scripted" }] };
  const settings = { defaultProvider: "loopback", defaultModel: "scripted" };
  writeFileSync(join(agent, "models.json"), JSON.stringify({ providers: { loopback } }));
  writeFileSync(join(agent, "settings.json"), JSON.stringify(settings));
});

afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true });
});

function run(command: [string, ...string[]], interruptAt?: string) {
  const env = { HOME: home, PI_CODING_AGENT_DIR: undefined };
  const interrupt = interruptAt === undefined ? {} : { interruptAt };
  return runProgram(command, { cwd: join(home, "work"), env, ...interrupt });
}

describe("the example clients of the protocol documents, with pi on the PATH", () => {
  if (hasPython) {
    it("runs the Python client of pi-mono [clients.python]", async () => {
      const { stdout, stderr, exitCode } = await run(["python3", fixture("pi-mono.py")]);
      expect(stderr).toBe("");
      expect(stdout).toBe('You said "Hello!"; there is notes.txt.\n');
      expect(exitCode).toBe(0);
    });
  }

  it("runs the Node client of pi-mono [clients.node]", async () => {
    const said = 'You said "Hello"; there is notes.txt.';
    const { stdout } = await run([node, fixture("pi-mono.cjs")], said);
    expect(stdout).toBe(said);
  });

  it("runs the Node client of co-mono", async () => {
    const said = 'You said "Hello"; there is notes.txt.';
    const { stdout } = await run([node, fixture("co-mono.mts")], said);
    expect(stdout).toBe(`\n[Tool: ls]\n${said}`);
  });

  it("correlates tool calls with results as co-mono's client code does", async () => {
    const program = join(home, "tools.mts");
    // The document leaves out where events come from and where the text goes.
    const rest = `
      import { spawn } from "node:child_process";
      import { createInterface } from "node:readline";
      const agent = spawn("pi", ["--mode", "rpc", "--no-session"]);
      agent.stdin.write(JSON.stringify({ type: "prompt", message: "Hello" }) + "\\n");
      for await (const line of createInterface({ input: agent.stdout })) {
        const event = JSON.parse(line);
        if (event.type === "tool_execution_end") {
          const call = pendingTools.get(event.toolCallId);
          console.log(displayToolExecution({ ...call, ...event }));
        }
        handleEvent(event);
        if (event.type === "agent_end") agent.stdin.end();
      }
      console.log("left: " + pendingTools.size);`;
    writeFileSync(program, readFileSync(fixture("co-mono-tools.mts"), "utf8") + rest);
    const { stdout, stderr } = await run([node, program]);
    expect(stderr).toBe("");
    expect(stdout).toBe("🔧 ls: notes.txt\nleft: 0\n");
  });
});
