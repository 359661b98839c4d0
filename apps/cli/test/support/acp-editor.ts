import { spawn } from "node:child_process";
import {
  type ClientCapabilities,
  type ClientConnection,
  type ContentBlock,
  client,
  type NewSessionResponse,
  ndJsonStream,
  type PromptResponse,
  type SendRequestOptions,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { makePlace, type Place, type TranscriptSetup } from "@tau-agent/conformance";
import { LineDecoder } from "@tau-agent/rpc-protocol";
import { onTestFinished } from "vitest";
import { type AcpMessage, AcpSchemaCheck } from "./acp-schema.ts";
import { type EditorsAgent, memoryAgent } from "./memory-agent.ts";
import { binPath } from "./start-host.ts";

/** How to start an agent. */
export interface EditorSetup extends Partial<TranscriptSetup> {
  readonly capabilities?: ClientCapabilities;
  /** The place of an earlier agent, which is kept after this one ends. */
  readonly place?: Place;
  /** Whether the agent is the built program; by default it runs in this process. */
  readonly isBuilt?: boolean;
  /** Adds handlers for the agent's requests. */
  readonly answers?: (app: ReturnType<typeof client>, editor: Editor) => void;
}

/** A prompt with one text. */
export const say = (text: string): ContentBlock[] => [{ type: "text", text }];

/** A folder for agents with a scripted model; several agents can use it one after the other. */
export function makeEditorPlace(setup: Partial<TranscriptSetup> = {}): Place {
  const place = makePlace(setup, (folder) => ({
    arguments: ["--provider", "scripted", "--model", `${folder}/scenario.json`],
    files: { "scenario.json": JSON.stringify(setup.scenario ?? []) },
  }));
  onTestFinished(() => place.remove());
  return place;
}

/** The path of the built program. */
function builtAgent({ cwd, variables, arguments: words }: Place): EditorsAgent & { pid: number } {
  const child = spawn(process.execPath, [binPath, "acp", ...words], { cwd, env: variables });
  const { stdin, stdout, stderr, pid = 0 } = child;
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  return { stdin, stdout, stderr, ended, pid, kill: () => void child.kill("SIGKILL") };
}

/**
 * An editor that uses the client class of the protocol's library, connected to an agent. Every message
 * between them is validated against the published schema.
 */
export class Editor {
  readonly place: Place;
  readonly #agent: EditorsAgent;
  readonly connection: ClientConnection;
  /** The agent's session notifications, in order. */
  readonly said: SessionNotification[] = [];
  /** All messages, in the order in which they were seen. */
  readonly seen: { readonly from: "client" | "agent"; readonly message: AcpMessage }[] = [];
  readonly violations: string[] = [];
  stderr = "";

  constructor(setup: EditorSetup = {}) {
    this.place = setup.place ?? makeEditorPlace(setup);
    this.#agent = setup.isBuilt ? builtAgent(this.place) : memoryAgent(this.place);
    this.#agent.stderr.on("data", (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.#agent.stdin.on("error", () => {});
    const app = client({ name: "editor" });
    app.onNotification("session/update", ({ params }) => void this.said.push(params));
    setup.answers?.(app, this);
    this.connection = app.connect(this.#stream());
    onTestFinished(async () => {
      this.#agent.kill();
      await this.#agent.ended;
      if (this.violations.length > 0) throw new Error(this.violations.join("\n"));
    });
  }

  /** Starts an agent and initializes the connection. */
  static async start(setup: EditorSetup = {}): Promise<Editor> {
    const editor = new Editor(setup);
    await editor.connection.agent.request("initialize", {
      protocolVersion: 1,
      clientCapabilities: setup.capabilities ?? {},
    });
    return editor;
  }

  get agent() {
    return this.connection.agent;
  }

  /** Ends the agent the way an editor does; returns the exit code. */
  leave(): Promise<number | null> {
    this.#agent.stdin.end();
    return this.#agent.ended;
  }

  /** Kills the agent; its sessions are free once it has ended. */
  async kill(): Promise<void> {
    this.#agent.kill();
    await this.#agent.ended;
  }

  /** The process of a built agent. */
  get pid(): number {
    return "pid" in this.#agent ? Number(this.#agent.pid) : 0;
  }

  /** Opens a session in the place's folder. */
  open(cwd = this.place.cwd): Promise<NewSessionResponse> {
    return this.agent.request("session/new", { cwd, mcpServers: [] });
  }

  prompt(
    sessionId: string,
    prompt: string | ContentBlock[],
    options?: SendRequestOptions,
  ): Promise<PromptResponse> {
    const blocks = typeof prompt === "string" ? say(prompt) : prompt;
    return this.agent.request("session/prompt", { sessionId, prompt: blocks }, options);
  }

  /** The updates of a session. */
  updates(sessionId: string): SessionUpdate[] {
    return this.said.filter((one) => one.sessionId === sessionId).map(({ update }) => update);
  }

  /** The updates of one kind. */
  of<Kind extends SessionUpdate["sessionUpdate"]>(
    sessionId: string,
    kind: Kind,
  ): Extract<SessionUpdate, { sessionUpdate: Kind }>[] {
    const all = this.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === kind);
    return all as Extract<SessionUpdate, { sessionUpdate: Kind }>[];
  }

  /** The text in the chunks of a session. */
  text(
    sessionId: string,
    kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk",
  ) {
    return this.of(sessionId, kind)
      .map(({ content }) => (content.type === "text" ? content.text : `[${content.type}]`))
      .join("");
  }

  /** The states that each call went through. */
  states(sessionId: string): Record<string, string[]> {
    const states: Record<string, string[]> = {};
    for (const update of this.updates(sessionId)) {
      if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update")
        continue;
      const { toolCallId, status } = update;
      states[toolCallId] ??= [];
      if (status) states[toolCallId].push(status);
    }
    return states;
  }

  /** Waits until updates fulfil a condition. */
  async until(condition: () => boolean): Promise<void> {
    const deadline = performance.now() + 20_000;
    while (!condition()) {
      if (performance.now() > deadline) {
        throw new Error(`It never came.\n${JSON.stringify(this.said, null, 1)}\n${this.stderr}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  #stream() {
    const { stdin, stdout } = this.#agent;
    const check = new AcpSchemaCheck();
    const note = (from: "client" | "agent", lines: LineDecoder, chunk: Uint8Array): void => {
      for (const line of lines.push(chunk)) {
        if (!("text" in line)) continue;
        const message: AcpMessage = JSON.parse(line.text);
        this.seen.push({ from, message });
        const problem = check.violation(from, message);
        if (problem !== undefined && from === "agent") this.violations.push(problem);
      }
    };
    const [out, back] = [new LineDecoder(), new LineDecoder()];
    const writable = new WritableStream<Uint8Array>({
      write: (chunk) => {
        note("client", out, chunk);
        stdin.write(chunk);
      },
    });
    const readable = new ReadableStream<Uint8Array>({
      start: (controller) => {
        stdout.on("data", (chunk: Buffer) => {
          note("agent", back, chunk);
          controller.enqueue(chunk);
        });
        stdout.on("end", () => controller.close());
      },
    });
    return ndJsonStream(writable, readable);
  }
}
