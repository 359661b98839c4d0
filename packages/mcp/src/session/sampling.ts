import type { ApprovalResult } from "@tau-agent/rpc-protocol";
import type { AssistantMessage, UserContent } from "@tau-agent/rpc-protocol/messages";
import { contentText, isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { HostRequests } from "@tau-agent/system";
import { cleanText } from "../names/clean-text.ts";
import type { ServerQuestion } from "./environment.ts";

export interface SampledContext {
  readonly systemPrompt: string;
  readonly messages: readonly SampledMessage[];
  readonly maxTokens: number;
}

interface SampledMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly UserContent[];
}

export interface SamplingOptions {
  readonly requests: HostRequests;
  readonly cwd: () => string;
  readonly timeoutMs: () => number;
  readonly reply: (context: SampledContext, signal: AbortSignal) => Promise<AssistantMessage>;
}

/** The name under which a person is asked for consent. */
const SAMPLING = "mcp_sampling";
const MAX_TOKENS = 4096;
const MAX_SHOWN = 8000;

/** Refuses a server's request; the text is meant for the server. */
class SamplingRefused extends Error {
  override readonly name = "SamplingRefused";
}

/** Asks the model on behalf of a server, once a person has allowed it. */
export async function answerSampling(
  request: ServerQuestion,
  options: SamplingOptions,
): Promise<JsonObject> {
  const { params, signal } = request;
  const context = contextOf(params);
  await approve(request, context, options);
  const message = await options.reply(context, signal);
  if (message.stopReason === "error") {
    throw new SamplingRefused(message.errorMessage ?? "The model gave no answer");
  }
  const text = contentText(message.content);
  return {
    role: "assistant",
    content: { type: "text", text },
    model: message.model,
    stopReason: message.stopReason === "length" ? "maxTokens" : "endTurn",
  };
}

async function approve(
  { server, toolCallId, promptId, signal }: ServerQuestion,
  { systemPrompt, messages, maxTokens }: SampledContext,
  { requests, cwd, timeoutMs }: SamplingOptions,
): Promise<void> {
  const shown = messages.map(({ role, content }) => ({
    role,
    text: cleanText(
      content.map((c) => (c.type === "text" ? c.text : "[image]")).join("\n"),
      MAX_SHOWN,
    ),
  }));
  const input = {
    server,
    maxTokens,
    systemPrompt: cleanText(systemPrompt, MAX_SHOWN),
    messages: shown,
  };
  const closed = await requests.ask<ApprovalResult>({
    method: "tool_approval",
    params: {
      toolName: SAMPLING,
      input,
      cwd: cwd(),
      title: `Allow the MCP server ${server} to use the model?`,
      reason: `The MCP server ${server} asks for a reply of the model.`,
      suggestions: [],
    },
    toolCallId,
    promptId,
    signal,
    timeoutMs: timeoutMs(),
    onTimeout: "deny",
    unanswered: "deny",
    read: (given) => {
      const { decision } = Object(given) as { decision?: unknown };
      if (decision !== "allow" && decision !== "deny") {
        return { field: "result.decision", reason: "expected allow or deny" };
      }
      return { result: given as ApprovalResult, outcome: decision };
    },
  });
  if (closed.outcome === "allow") return;
  throw new SamplingRefused("The user has not allowed it");
}

function contextOf({ systemPrompt, messages, maxTokens }: JsonObject): SampledContext {
  const given = Array.isArray(messages) ? messages.filter(isJsonObject) : [];
  return {
    systemPrompt: typeof systemPrompt === "string" ? systemPrompt : "",
    messages: given.map(({ role, content }) => ({
      role: role === "assistant" ? "assistant" : "user",
      content: [content].flat().filter(isJsonObject).flatMap(blockOf),
    })),
    maxTokens: typeof maxTokens === "number" && maxTokens > 0 ? maxTokens : MAX_TOKENS,
  };
}

function blockOf({ type, text, data, mimeType }: JsonObject): UserContent[] {
  if (type === "image" && typeof data === "string" && typeof mimeType === "string") {
    return [{ type: "image", data, mimeType }];
  }
  return [{ type: "text", text: typeof text === "string" ? text : `[${String(type)}]` }];
}
