import type { AssistantContent, StopReason, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import { countOf, imageOf, objectOf, objectsOf, textOf, timeOf } from "./members.ts";
import type { Place, SessionDraft } from "./session-draft.ts";
import type { TranscriptReader } from "./transcript-reader.ts";

const anthropic = { api: "anthropic-messages", provider: "anthropic" };

const stopReasons: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "toolUse",
  max_tokens: "length",
};

/**
 * Transcripts of Claude Code (`~/.claude/projects/<project>/<session>.jsonl`). Lines form a tree by `uuid` and
 * `parentUuid`; a reply has one line for each of its blocks, all with the vendor's message id.
 */
export class ClaudeCodeReader implements TranscriptReader {
  readonly #draft: SessionDraft;
  /** The tokens before the compaction whose summary is the next message. */
  #tokensBefore: number | undefined;

  constructor(draft: SessionDraft) {
    this.#draft = draft;
  }

  static fits({ type, uuid, sessionId, leafUuid }: JsonObject): boolean {
    if (type === "summary") return typeof leafUuid === "string";
    return typeof sessionId === "string" && (typeof uuid === "string" || type !== undefined);
  }

  take(line: JsonObject): void {
    const draft = this.#draft;
    const { type, isSidechain, message } = line;
    const { origin } = draft.report;
    origin.sessionId ??= textOf(line.sessionId);
    origin.version ??= textOf(line.version);
    origin.cwd ??= textOf(line.cwd);
    const place = placeOf(line);
    if (isSidechain === true) {
      draft.leaveOut("messages of subagents");
      draft.skip(place);
    } else if (type === "assistant") this.#takeReply(line, objectOf(message), place);
    else if (type === "user") this.#takeUser(line, objectOf(message), place);
    else if (type === "custom-title" && typeof line.customTitle === "string") {
      draft.name(line.customTitle, {});
    } else {
      if (line.subtype === "compact_boundary") {
        this.#tokensBefore = countOf(objectOf(line.compactMetadata).preTokens);
      } else draft.leaveOut(`lines of type ${String(type ?? "unknown").slice(0, 40)}`);
      draft.skip({ ...place, parent: place.parent ?? textOf(line.logicalParentUuid) });
    }
  }

  #takeReply(line: JsonObject, message: JsonObject, place: Place): void {
    const draft = this.#draft;
    const { id, model, usage, stop_reason: reason } = message;
    const content = objectsOf(message.content).flatMap((block) => this.#replyBlock(block));
    const isFailure = line.isApiErrorMessage === true;
    const reply = { ...anthropic, model: textOf(model) ?? "unknown" };
    const key = isFailure ? undefined : textOf(id);
    draft.reply(isFailure ? [] : content, place, { ...reply, key });
    const used = objectOf(usage);
    const tokens = {
      input: countOf(used.input_tokens),
      output: countOf(used.output_tokens),
      cacheRead: countOf(used.cache_read_input_tokens),
      cacheWrite: countOf(used.cache_creation_input_tokens),
    };
    const errorMessage = content.map((block) => (block.type === "text" ? block.text : "")).join("");
    const stopReason = stopReasons[textOf(reason) ?? ""];
    const end = stopReason === undefined ? undefined : { stopReason };
    draft.endReply(tokens, isFailure ? { stopReason: "error", errorMessage } : end);
  }

  #replyBlock(block: JsonObject): AssistantContent[] {
    switch (block.type) {
      case "text":
        return [{ type: "text", text: textOf(block.text) ?? "" }];
      case "thinking":
        // A signature is valid only in requests of the other agent.
        return [{ type: "thinking", thinking: textOf(block.thinking) ?? "" }];
      case "tool_use": {
        const { id, name, input } = block;
        if (typeof id !== "string" || typeof name !== "string") break;
        return [{ type: "toolCall", id, name, arguments: objectOf(input) }];
      }
    }
    this.#draft.leaveOut(`blocks of type ${String(block.type).slice(0, 40)}`);
    return [];
  }

  #takeUser(line: JsonObject, message: JsonObject, place: Place): void {
    const draft = this.#draft;
    const blocks = typeof message.content === "string" ? [] : objectsOf(message.content);
    const text = textOf(message.content);
    const results = blocks.filter(({ type }) => type === "tool_result");
    for (const { tool_use_id: id, content, is_error: isError } of results) {
      const given = typeof content === "string" ? textBlock(content) : this.#userBlocks(content);
      draft.result(textOf(id) ?? "", given, { ...place, isError: isError === true });
    }
    const rest = blocks.filter((block) => !results.includes(block));
    const content = text === undefined ? this.#userBlocks(rest) : textBlock(text);
    if (content.length === 0) {
      if (results.length === 0) draft.skip(place);
    } else if (line.isCompactSummary === true) {
      const summary = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
      draft.summary(summary, this.#tokensBefore ?? 0, {
        ...place,
        parent: place.parent ?? undefined,
      });
    } else if (line.isMeta === true) draft.note("claude-code", content, place);
    else draft.user(content, place);
  }

  #userBlocks(content: unknown): UserContent[] {
    return objectsOf(content).flatMap((block): UserContent[] => {
      if (block.type === "text") return textBlock(textOf(block.text) ?? "");
      const { media_type: type, data } = objectOf(block.source);
      const image = block.type === "image" ? imageOf(`data:${type};base64,${data}`) : undefined;
      if (image !== undefined) return [image];
      this.#draft.leaveOut(`blocks of type ${String(block.type).slice(0, 40)}`);
      return [];
    });
  }
}

function placeOf({ uuid, parentUuid, timestamp }: JsonObject): Place {
  const parent = parentUuid === null ? null : textOf(parentUuid);
  return { ref: textOf(uuid), parent, timeMs: timeOf(timestamp) };
}

function textBlock(text: string): UserContent[] {
  return text === "" ? [] : [{ type: "text", text }];
}
