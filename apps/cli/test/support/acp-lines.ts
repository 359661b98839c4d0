import { spawn } from "node:child_process";
import type { Place } from "@tau-agent/conformance";
import { onTestFinished } from "vitest";
import { type AcpMessage, AcpSchemaCheck } from "./acp-schema.ts";
import { binPath } from "./start-host.ts";

/** The built agent with a raw connection, for the input of broken clients. */
export class AcpLines {
  readonly received: AcpMessage[] = [];
  readonly ended: Promise<number | null>;
  readonly child;
  #rest = "";
  readonly #check = new AcpSchemaCheck();
  readonly #violations: string[] = [];

  constructor(place: Pick<Place, "cwd" | "variables" | "arguments">) {
    const { cwd, variables, arguments: args } = place;
    this.child = spawn(process.execPath, [binPath, "acp", ...args], { cwd, env: variables });
    this.ended = new Promise((resolve) => this.child.on("close", resolve));
    this.child.stderr.resume();
    this.child.stdin.on("error", () => {});
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    onTestFinished(async () => {
      this.child.kill("SIGKILL");
      await this.ended;
      if (this.#violations.length > 0) throw new Error(this.#violations.join("\n"));
    });
  }

  /** Sends a line unchanged. */
  line(text: string): void {
    this.child.stdin.write(`${text}\n`);
  }

  /** Sends a message. */
  send(message: Record<string, unknown>): void {
    const whole = { jsonrpc: "2.0", ...message };
    this.expect(whole);
    this.line(JSON.stringify(whole));
  }

  /** Registers a message that is sent as a line, so that the answer is validated against the schema of its method. */
  expect(message: AcpMessage): void {
    this.#check.violation("client", message);
  }

  /** Initializes the connection as a client. */
  async initialize(clientCapabilities: unknown = {}): Promise<AcpMessage> {
    const params = { protocolVersion: 1, clientCapabilities };
    this.send({ id: "init", method: "initialize", params });
    return this.answer("init");
  }

  /** Opens a session and returns its id. */
  async open(cwd: string): Promise<string> {
    this.send({ id: "open", method: "session/new", params: { cwd, mcpServers: [] } });
    return ((await this.answer("open")).result as { sessionId: string }).sessionId;
  }

  /** Waits for the answer to a request. */
  answer(id: unknown): Promise<AcpMessage> {
    return this.find((message) => message.id === id && message.method === undefined);
  }

  /** Waits for the first message that fulfils the condition. */
  async find(condition: (message: AcpMessage) => boolean): Promise<AcpMessage> {
    const deadline = performance.now() + 20_000;
    for (;;) {
      const found = this.received.find(condition);
      if (found !== undefined) return found;
      if (performance.now() > deadline) throw new Error(JSON.stringify(this.received, null, 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const message: AcpMessage = JSON.parse(line);
      this.received.push(message);
      const problem = message.id === null ? undefined : this.#check.violation("agent", message);
      if (problem !== undefined) this.#violations.push(problem);
    }
  }
}
