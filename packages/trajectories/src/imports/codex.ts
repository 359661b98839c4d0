import type { UserContent } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject, type JsonObject, parseObject } from "@tau-agent/rpc-protocol/plain";
import { countOf, imageOf, objectOf, objectsOf, textOf, timeOf } from "./members.ts";
import type { Place, SessionDraft } from "./session-draft.ts";
import type { TranscriptReader } from "./transcript-reader.ts";

/** User messages that Codex inserts before the user's own first message. */
const injected =
  /^\s*(<(environment_context|user_instructions|turn_aborted|user_shell_command)>|# AGENTS\.md instructions)/;

/** Events that only repeat the response items. */
const repeated = new Set(["user_message", "agent_message", "agent_reasoning"]);

/**
 * Rollouts of Codex (`~/.codex/sessions/<date>/rollout-….jsonl`): `{timestamp, type, payload}`, one object per line. In
 * the oldest rollouts, each line is an item itself.
 */
export class CodexReader implements TranscriptReader {
  readonly #draft: SessionDraft;
  #provider = "openai";
  #model = "unknown";

  constructor(draft: SessionDraft) {
    this.#draft = draft;
  }

  static fits({ type, payload, record_type: record, instructions, id }: JsonObject): boolean {
    if (isJsonObject(payload)) return typeof type === "string";
    return record !== undefined || (typeof id === "string" && instructions !== undefined);
  }

  take(line: JsonObject): void {
    const { type, timestamp } = line;
    const place: Place = { timeMs: timeOf(timestamp) };
    const payload = objectOf(line.payload);
    switch (type) {
      case "session_meta":
        this.#takeMeta(payload);
        break;
      case "turn_context":
        this.#model = textOf(payload.model) ?? this.#model;
        break;
      case "response_item":
        this.#takeItem(payload, place);
        break;
      case "event_msg":
        this.#takeEvent(payload);
        break;
      case "compacted":
        this.#draft.summary(textOf(payload.message) ?? "", 0, place);
        break;
      case undefined:
        if (line.record_type === undefined) this.#takeMeta(line);
        break;
      default:
        this.#takeItem(line, place);
    }
  }

  #takeMeta(meta: JsonObject): void {
    const { origin } = this.#draft.report;
    origin.sessionId ??= textOf(meta.id);
    origin.version ??= textOf(meta.cli_version);
    origin.cwd ??= textOf(meta.cwd);
    this.#provider = textOf(meta.model_provider) ?? this.#provider;
  }

  #takeItem(item: JsonObject, place: Place): void {
    const draft = this.#draft;
    const { type, call_id: id, name } = item;
    switch (type) {
      case "message":
        this.#takeMessage(item, place);
        break;
      case "reasoning": {
        const thoughts = [...objectsOf(item.summary), ...objectsOf(item.content)];
        const thinking = thoughts.flatMap(({ text }) => textOf(text) ?? []).join("\n\n");
        if (thinking !== "") this.#reply([{ type: "thinking", thinking }], place);
        else draft.leaveOut("encrypted reasoning");
        break;
      }
      case "function_call": {
        const given = parseObject(textOf(item.arguments) ?? "") ?? { arguments: item.arguments };
        this.#takeCall(id, name, given, place);
        break;
      }
      case "custom_tool_call":
        this.#takeCall(id, name, { input: item.input }, place);
        break;
      case "local_shell_call":
        this.#takeCall(id ?? item.id, "local_shell", objectOf(item.action), place);
        break;
      case "function_call_output":
      case "custom_tool_call_output":
      case "local_shell_call_output":
        this.#takeResult(textOf(id) ?? "", item.output, place);
        break;
      default:
        draft.leaveOut(`items of type ${String(type ?? "unknown").slice(0, 40)}`);
    }
  }

  #takeMessage({ role, content }: JsonObject, place: Place): void {
    const blocks = this.#blocksOf(content);
    if (role === "assistant") {
      this.#reply(
        blocks.filter((block) => block.type === "text"),
        place,
      );
    } else if (role !== "user") {
      this.#draft.leaveOut(`messages of the role ${String(role).slice(0, 40)}`);
    } else if (blocks.some((block) => block.type === "text" && injected.test(block.text))) {
      this.#draft.note("codex", blocks, place);
    } else if (blocks.length > 0) this.#draft.user(blocks, place);
  }

  #takeCall(id: unknown, name: unknown, given: JsonObject, place: Place): void {
    if (typeof id !== "string" || typeof name !== "string") {
      this.#draft.leaveOut("calls without an id or a name");
      return;
    }
    this.#reply([{ type: "toolCall", id, name, arguments: given }], place);
  }

  /** Takes a result: blocks or a text, which may be JSON that contains the text. */
  #takeResult(id: string, given: unknown, place: Place): void {
    const inner = typeof given === "string" ? parseObject(given) : objectOf(given);
    const wrapped = textOf(inner?.output) ?? textOf(inner?.content);
    const text = wrapped ?? textOf(given);
    const blocks = text === undefined ? this.#blocksOf(given) : [{ type: "text" as const, text }];
    const exitCode = objectOf(inner?.metadata).exit_code;
    const isError = inner?.success === false || (typeof exitCode === "number" && exitCode !== 0);
    this.#draft.result(id, blocks, { ...place, isError });
  }

  #takeEvent(event: JsonObject): void {
    const draft = this.#draft;
    const used = objectOf(objectOf(event.info).last_token_usage);
    if (event.type === "token_count") {
      // Updates of rate limits repeat the same numbers.
      if (!isJsonObject(event.info) || draft.isReplyCounted) return;
      const cacheRead = countOf(used.cached_input_tokens);
      const reasoning = countOf(used.reasoning_output_tokens);
      const input = Math.max(0, countOf(used.input_tokens) - cacheRead);
      const output = countOf(used.output_tokens);
      draft.endReply({ input, output, cacheRead, cacheWrite: 0, reasoning });
    } else if (event.type === "turn_aborted") draft.endReply(undefined, { stopReason: "aborted" });
    else if (!repeated.has(String(event.type))) {
      draft.leaveOut(`events of type ${String(event.type ?? "unknown").slice(0, 40)}`);
    }
  }

  #reply(content: Parameters<SessionDraft["reply"]>[0], place: Place): void {
    const reply = { api: "openai-responses", provider: this.#provider, model: this.#model };
    this.#draft.reply(content, place, reply);
  }

  #blocksOf(content: unknown): UserContent[] {
    return objectsOf(content).flatMap((block): UserContent[] => {
      if (typeof block.text === "string") return [{ type: "text", text: block.text }];
      const image = imageOf(textOf(block.image_url));
      if (image !== undefined) return [image];
      this.#draft.leaveOut(`blocks of type ${String(block.type).slice(0, 40)}`);
      return [];
    });
  }
}
