import type { StreamOptions } from "../provider.ts";
import type { AnthropicRequest, ControlMessage } from "./wire-types.ts";

/** Whether a key is a login token. */
export function isLoginToken(apiKey: string): boolean {
  return apiKey.includes("sk-ant-oat");
}

/** The beta features that a request needs. */
export function betasOf(request: AnthropicRequest, { apiKey = "" }: StreamOptions): string[] {
  const wants: Readonly<Record<string, boolean>> = {
    "oauth-2025-04-20": isLoginToken(apiKey),
    // Models with adaptive thinking do this without the beta.
    "interleaved-thinking-2025-05-14":
      request.thinking?.type === "enabled" && (request.tools?.length ?? 0) > 0,
    "thinking-binding-controls-2026-08-01":
      request.thinking !== undefined && "block_binding" in request.thinking,
    ...changeBetas(request),
  };
  return Object.keys(wants).filter((beta) => wants[beta]);
}

function changeBetas({ messages }: AnthropicRequest): Record<string, boolean> {
  const changes = messages.filter(
    (message): message is ControlMessage => message.role === "system",
  );
  const blocks = changes.flatMap(({ content }) =>
    typeof content === "string" ? [] : (content ?? []),
  );
  const tools = blocks.flatMap((block) => ("tool" in block ? [block.tool] : []));
  return {
    "mid-conversation-output-config-2026-07-01": changes.some(
      (change) => "output_config" in change,
    ),
    "mid-conversation-tool-changes-2026-07-01": tools.length > 0,
    "inline-tools-2026-09-15": tools.some(({ type }) => type === "tool_definition"),
  };
}
