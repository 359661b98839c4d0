import type { AgentTool } from "@tau-agent/agent";
import { appendsTools } from "@tau-agent/ai";
import type { ContextReport, ContextRow } from "@tau-agent/rpc-protocol";
import type { AgentMessage, UserContent } from "@tau-agent/rpc-protocol/messages";
import { noteOf, shownAsLine } from "@tau-agent/sessions/log";
import { estimateTokens, IMAGE_TOKENS, LINE_TOKENS } from "../compaction/estimate.ts";
import { textTokens } from "../compaction/text-tokens.ts";
import type { SessionParts } from "./session-parts.ts";

/** The parts of a session that determine its next request. */
type Described = Pick<SessionParts, "conversation" | "models" | "requests" | "inputs">;

/** The content of the next request, by kind; sizes are estimated. */
export async function contextOf(parts: Described): Promise<ContextReport> {
  const { conversation, models } = parts;
  const rows = new Rows();
  addSystem(rows, await parts.requests.systemPrompt(), parts.inputs.mcp.section);
  for (const tool of declaredTools(parts)) addTool(rows, tool);
  for (const message of conversation.messages) addMessage(rows, message, parts);
  const cleared = [...conversation.results.cleared.values()].flatMap(
    ({ entryId, tokens, sameAs }) => (sameAs === undefined ? [{ entryId, tokens }] : []),
  );
  return {
    contextWindow: models.model?.contextWindow ?? null,
    used: rows.used,
    estimated: true,
    rows: rows.list,
    cleared,
  };
}

/** Sums by kind and name, in the order in which they appear in requests. */
class Rows {
  readonly #rows = new Map<string, ContextRow>();

  get list(): ContextRow[] {
    return kinds.flatMap((kind) => [...this.#rows.values()].filter((row) => row.kind === kind));
  }

  get used(): number {
    return this.list.reduce((sum, { tokens }) => sum + tokens, 0);
  }

  add(kind: ContextRow["kind"], tokens: number, name?: string): void {
    if (tokens <= 0) return;
    const key = `${kind} ${name ?? ""}`;
    const row = this.#rows.get(key);
    if (row !== undefined) row.tokens += tokens;
    else this.#rows.set(key, { kind, ...(name === undefined ? {} : { name }), tokens });
  }
}

const kinds: readonly ContextRow["kind"][] = [
  "system",
  "context_files",
  "skills",
  "mcp",
  "tools",
  "summary",
  "messages",
  "tool_results",
  "images",
];

/** The sections of the system prompt that contain other texts. */
const contextFile = /<project_instructions path="([^"]*)">\n[\s\S]*?\n<\/project_instructions>/g;
const skills = /<skills>\n[\s\S]*\n<\/skills>/;

function addSystem(rows: Rows, prompt: string, servers: string): void {
  let rest = prompt;
  const take = (part: string): number => {
    rest = rest.replace(part, () => "");
    return textTokens(part);
  };
  if (servers !== "" && rest.includes(servers)) rows.add("mcp", take(servers));
  for (const [block, path = ""] of prompt.matchAll(contextFile)) {
    rows.add("context_files", take(block), path);
  }
  const [listed] = skills.exec(rest) ?? [];
  if (listed !== undefined) rows.add("skills", take(listed));
  rows.add("system", textTokens(rest));
}

function declaredTools({ models, inputs }: Described): readonly AgentTool[] {
  const { model } = models;
  return inputs.tools.declaredFor(model !== undefined && appendsTools(model));
}

function addTool(rows: Rows, { name, description, parameters }: AgentTool): void {
  const tokens = textTokens(JSON.stringify({ name, description, parameters }));
  const [prefix, server] = name.split("__");
  if (prefix === "mcp" && server !== undefined) rows.add("mcp", tokens, server);
  else rows.add("tools", tokens);
}

function addMessage(rows: Rows, message: AgentMessage, { conversation }: Described): void {
  const { notes, results } = conversation;
  rows.add("messages", textTokens(noteOf(notes, message) ?? ""));
  switch (message.role) {
    case "toolResult":
      if (shownAsLine(message, results) !== undefined) {
        rows.add("tool_results", LINE_TOKENS, message.toolName);
      } else addContent(rows, message.content, { kind: "tool_results", name: message.toolName });
      break;
    case "user":
    case "custom":
      if (typeof message.content === "string") rows.add("messages", textTokens(message.content));
      else addContent(rows, message.content, { kind: "messages" });
      break;
    case "compactionSummary":
    case "branchSummary":
      rows.add("summary", estimateTokens(message));
      break;
    default:
      rows.add("messages", estimateTokens(message));
  }
}

function addContent(
  rows: Rows,
  content: readonly UserContent[],
  { kind, name }: Pick<ContextRow, "kind" | "name">,
): void {
  for (const block of content) {
    if (block.type === "text") rows.add(kind, textTokens(block.text), name);
    else rows.add("images", IMAGE_TOKENS);
  }
}
