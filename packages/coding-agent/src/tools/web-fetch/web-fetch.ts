import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { ForeignError, type ForeignReply, hostOf, type ToolEnvironment } from "@tau-agent/system";
import { countArgument } from "../common/schema.ts";
import { pageText } from "./page-text.ts";

interface WebFetchArguments {
  readonly url: string;
  readonly maxTokens?: number | undefined;
}

const maxBytes = 5 * 1024 * 1024;
const timeoutMs = 20_000;
const defaultTokens = 10_000;
const accept =
  "text/html,application/xhtml+xml,text/markdown,application/json,text/*;q=0.9,*/*;q=0.5";

/** Returns the content at a public address. */
export async function runWebFetchTool(
  { url, maxTokens }: WebFetchArguments,
  environment: ToolEnvironment,
  { signal }: ToolCallContext,
): Promise<ToolResult> {
  const reply = await fetchPage(url, environment, signal);
  const text = await pageText(reply, signal);
  const { status, contentType } = reply;
  const moved = reply.url === withoutFragment(url) ? "" : `URL: ${reply.url}\n`;
  const shown = shortened(`${moved}${text}`, countArgument(maxTokens) ?? defaultTokens);
  if (status >= 400) throw new ToolError(`${url} answers HTTP ${status}.\n\n${shown}`);
  return {
    content: [{ type: "text", text: shown }],
    details: { url: reply.url, status, contentType },
  };
}

async function fetchPage(
  url: string,
  { web }: ToolEnvironment,
  signal: AbortSignal,
): Promise<ForeignReply> {
  if (web === undefined) throw new ToolError("Web pages cannot be fetched here.");
  const named = URL.canParse(url) ? hostOf(new URL(url)) : undefined;
  try {
    return await web.fetch({
      ...{ url, accept, maxBytes, timeoutMs, signal },
      schemes: ["http:", "https:"],
      refusalOf: (target) => web.refusalOf(target, hostOf(target) === named),
    });
  } catch (error) {
    if (!(error instanceof ForeignError)) throw error;
    throw new ToolError(`Could not fetch ${url}: ${error.message}.`, undefined, { cause: error });
  }
}

function withoutFragment(url: string): string {
  const parsed = new URL(url);
  parsed.hash = "";
  return parsed.href;
}

/** Assumes about four characters per token. */
function shortened(text: string, maxTokens: number): string {
  const length = maxTokens * 4;
  if (text.length <= length) return text;
  const total = Math.ceil(text.length / 4);
  // Half of a surrogate pair cannot be sent.
  const end = /[\uD800-\uDBFF]/.test(text[length - 1] ?? "") ? length - 1 : length;
  return `${text.slice(0, end)}\n\n[Cut after about ${maxTokens} of ${total} tokens. Use maxTokens to see more.]`;
}
