import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import {
  type ClientContext,
  client,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { Place } from "@tau-agent/conformance";
import { LineDecoder } from "@tau-agent/rpc-protocol";
import { AcpSchemaCheck } from "./acp-schema.ts";
import { binPath } from "./start-host.ts";

/** How the user at the terminal answers. */
type Choose = (asked: RequestPermissionRequest) => RequestPermissionResponse["outcome"];

/**
 * A terminal client like the library's example: it prints what arrives, lets the user choose, and has its own files.
 */
export class TerminalClient {
  /** The output on the terminal. */
  readonly lines: string[] = [];
  /** The texts of its files by path; the agent writes here. */
  readonly files = new Map<string, string>();
  readonly violations: string[] = [];
  /** What arrived while no prompt was shown. */
  readonly updates: SessionUpdate[] = [];
  choose: Choose = () => ({ outcome: "cancelled" });

  /** Starts the built agent, runs the work with it, and ends it by closing its stdin. */
  async run<Result>(
    { cwd, variables, arguments: args }: Place,
    work: (agent: ClientContext) => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly exitCode: number | null }> {
    const child = spawn(process.execPath, [binPath, "acp", ...args], {
      cwd,
      env: variables,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    const check = new AcpSchemaCheck();
    const held = (from: "client" | "agent") => this.#held(check, from);
    const toAgent = held("client");
    void toAgent.readable.pipeTo(Writable.toWeb(child.stdin)).catch(() => {});
    const fromAgent = (Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>).pipeThrough(
      held("agent"),
    );
    try {
      const result = await client({ name: "terminal" })
        .onNotification("session/update", ({ params }) => void this.updates.push(params.update))
        .onRequest("session/request_permission", ({ params }) => this.#ask(params))
        .onRequest("fs/write_text_file", ({ params }) => {
          this.files.set(params.path, params.content);
          return {};
        })
        .onRequest("fs/read_text_file", ({ params }) => {
          const content = this.files.get(params.path);
          if (content === undefined) throw new Error("there is no such file");
          return { content };
        })
        .connectWith(ndJsonStream(toAgent.writable, fromAgent), async (agent) => {
          const fs = { readTextFile: true, writeTextFile: true };
          await agent.request("initialize", {
            protocolVersion: PROTOCOL_VERSION,
            clientCapabilities: { fs },
          });
          return work(agent);
        });
      child.stdin.end();
      return { result, exitCode: await ended };
    } finally {
      child.kill("SIGKILL");
    }
  }

  /** Prints an update for human readers. */
  show(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case "user_message_chunk":
      case "agent_message_chunk":
        if (update.content.type === "text") this.lines.push(update.content.text);
        break;
      case "tool_call":
        this.lines.push(`${update.title} (${update.status})`);
        break;
      case "tool_call_update":
        if (update.status) this.lines.push(`${update.toolCallId}: ${update.status}`);
        break;
      case "plan":
        this.lines.push(...update.entries.map(({ content, status }) => `${status}: ${content}`));
        break;
      default:
    }
  }

  #ask(asked: RequestPermissionRequest): RequestPermissionResponse {
    this.lines.push(`${asked.toolCall.title}?`);
    for (const block of asked.toolCall.content ?? []) {
      if (block.type === "diff") this.lines.push(`${block.oldText ?? ""} -> ${block.newText}`);
    }
    return { outcome: this.choose(asked) };
  }

  /** Forwards bytes and validates each message against the published schema. */
  #held(check: AcpSchemaCheck, from: "client" | "agent"): TransformStream<Uint8Array, Uint8Array> {
    const lines = new LineDecoder();
    return new TransformStream({
      transform: (chunk, controller) => {
        for (const line of lines.push(chunk)) {
          if (!("text" in line)) continue;
          const problem = check.violation(from, JSON.parse(line.text));
          if (problem !== undefined) this.violations.push(`${from}: ${problem}`);
        }
        controller.enqueue(chunk);
      },
    });
  }
}
