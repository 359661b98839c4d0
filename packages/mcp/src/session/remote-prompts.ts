import type { UserContent } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { parseTemplateArguments } from "@tau-agent/system";
import type { RemotePrompt } from "../connection/remote.ts";
import type { McpServer } from "../connection/server.ts";
import { localNames } from "../names/tool-names.ts";
import type { KeepData } from "../tools/result-content.ts";

export interface PromptCommand {
  readonly name: string;
  readonly server: McpServer;
  readonly prompt: RemotePrompt;
}

/** The prompts of all servers, sorted by server, then in listed order. */
export function promptCommands(servers: readonly McpServer[]): readonly PromptCommand[] {
  const sorted = [...servers].sort((a, b) => (a.config.name < b.config.name ? -1 : 1));
  const prompts = sorted.flatMap((server) =>
    [...new Map(server.prompts.map((prompt) => [prompt.name, prompt])).values()].map((prompt) => ({
      server,
      prompt,
    })),
  );
  const names = localNames(
    prompts.map(({ server, prompt }) => ({ server: server.config.name, tool: prompt.name })),
  );
  return prompts.flatMap(({ server, prompt }, index) => {
    const name = names[index];
    return name === undefined ? [] : [{ name, server, prompt }];
  });
}

/** The values of a prompt's arguments: `name=value` by name, others in order; the last one takes the rest. */
export function promptArguments(prompt: RemotePrompt, text: string): Record<string, string> {
  const names = prompt.arguments.map(({ name }) => name);
  const values = new Map<string, string>();
  const rest: string[] = [];
  for (const word of parseTemplateArguments(text)) {
    const at = word.indexOf("=");
    const name = at > 0 ? word.slice(0, at) : "";
    if (names.includes(name)) values.set(name, word.slice(at + 1));
    else rest.push(word);
  }
  const open = names.filter((name) => !values.has(name));
  for (const [index, name] of open.entries()) {
    if (rest.length === 0) break;
    const isLast = index === open.length - 1;
    values.set(name, isLast ? rest.splice(0).join(" ") : (rest.shift() ?? ""));
  }
  return Object.fromEntries(values);
}

export async function fetchPrompt(
  { server, prompt }: PromptCommand,
  text: string,
  keep: KeepData,
): Promise<UserContent[]> {
  const { timeoutMs } = server.config.entry;
  const params = { name: prompt.name, arguments: promptArguments(prompt, text) };
  const { messages } = await server.request("prompts/get", params, { timeoutMs });
  const { resultContent } = await import("../tools/result-content.ts");
  const context = { server: server.config.name, keep, canRead: true };
  const blocks = (Array.isArray(messages) ? messages : []).filter(isJsonObject).map(contentOf);
  return resultContent({ content: blocks.flat() }, context);
}

/** A message contains one block or several. */
function contentOf({ content }: JsonObject): unknown[] {
  return Array.isArray(content) ? content : [content];
}
