import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ClientUris } from "@tau-agent/system";
import { showText } from "./read/show-text.ts";

/** A call of a tool whose path is a URI of the client. */
interface UriCall {
  readonly tool: string;
  readonly uri: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Reads or writes the content that the client serves under a URI. */
export async function runOnUri(
  { tool, uri, args }: UriCall,
  uris: ClientUris,
  { toolCallId, signal }: ToolCallContext,
): Promise<ToolResult> {
  const context = { toolCallId, signal };
  if (tool === "read") {
    const { content, contentType, notes, immutable } = await uris.read(uri, context);
    const shown = showText(uri, Buffer.from(content), args);
    const remarks = notes.map((text) => ({ type: "text" as const, text: `[${text}]` }));
    const details = { ...Object(shown.details), uri: { contentType, notes, immutable } };
    return { content: [...shown.content, ...remarks], details };
  }
  if (tool === "write") {
    const content = String(args.content);
    await uris.write(uri, content, context);
    const text = `Successfully wrote ${Buffer.byteLength(content)} bytes to ${uri}`;
    return { content: [{ type: "text", text }] };
  }
  const remedy = tool === "edit" ? "Read it, and write it whole." : "Read it instead.";
  throw new ToolError(`${tool} takes files, and ${uri} is a URI of the client. ${remedy}`);
}
