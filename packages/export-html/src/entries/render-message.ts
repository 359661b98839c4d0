import { type Html, html, plainBlock } from "@tau-agent/markup";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { formatDuration } from "../text/duration.ts";
import { modelOf } from "./entry-times.ts";
import { fieldText, formatCount, numberOf, snippet, usageFacts } from "./facts.ts";
import { renderLines, renderOutput } from "./render-lines.ts";
import { blocksOf, foldable, type Renderer, renderContent, renderData } from "./render-parts.ts";
import { renderResultBody, renderToolCall } from "./render-tool.ts";

export interface EntryView {
  /** Class of the entry, also its kind in the tree. */
  readonly kind: EntryKind;
  readonly who: string;
  readonly body: Html;
  /** Tokens, cost and model, shown next to the name. */
  readonly facts?: Html | undefined;
}

/** Kinds of entries: a person, a model, tools, direct commands, extensions, summaries, settings, the rest. */
export type EntryKind =
  | "user"
  | "assistant"
  | "result"
  | "bash"
  | "custom"
  | "summary"
  | "setting"
  | "other";

type Fields = Readonly<Record<string, unknown>>;

export async function renderMessage(
  index: number,
  message: Fields,
  renderer: Renderer,
): Promise<EntryView> {
  switch (message.role) {
    case "user":
      return { kind: "user", who: "You", body: renderUser(message, renderer) };
    case "assistant":
      return await renderAssistant(index, message, renderer);
    case "toolResult": {
      const name = fieldText(message.toolName ?? "tool");
      const body = await renderResultBody(index, message, renderer);
      const kind = message.isError === true ? "result failed" : "result";
      const content = html`<section class="tool"><h4><span class="name">${name}</span></h4><div class="${kind}">${body}</div></section>`;
      return { kind: "result", who: "Tool result", body: content };
    }
    case "bashExecution":
      return { kind: "bash", who: "You ran", body: renderBash(message, renderer) };
    case "custom":
      return renderCustom(message, renderer);
    case "compactionSummary":
      return renderSummary(compactionTitle(message.tokensBefore), message.summary, renderer);
    case "branchSummary":
      return renderSummary("Summary of another branch", message.summary, renderer);
    default: {
      const content = renderContent(message.content, renderer);
      const who = fieldText(message.role ?? "Message");
      const body = content.length > 0 ? html`${content}` : renderData("Data", message);
      return { kind: "other", who, body };
    }
  }
}

function renderUser({ content, attachments }: Fields, renderer: Renderer): Html {
  const files = Array.isArray(attachments) ? attachments.filter(isJsonObject) : [];
  const shown = files.map(({ fileName, extractedText }) => {
    const name = `Attached: ${fieldText(fileName ?? "file")}`;
    return typeof extractedText === "string" && extractedText !== ""
      ? foldable(name, plainBlock(extractedText), false)
      : html`<p class="note">${name}</p>`;
  });
  return html`${renderContent(content, renderer)}${shown}`;
}

async function renderAssistant(
  index: number,
  message: Fields,
  renderer: Renderer,
): Promise<EntryView> {
  const results = new Map(renderer.outline.resultsOf.get(index));
  const parts: Html[] = [];
  for (const block of blocksOf(message.content)) {
    if (block.type === "toolCall") {
      const id = fieldText(block.id);
      parts.push(await renderToolCall(block, results.get(id) ?? [], renderer));
      // A call that repeats an id must not show the same result again.
      results.delete(id);
    } else parts.push(renderBlock(block, renderer));
  }
  const { errorMessage, stopReason } = message;
  if (typeof errorMessage === "string" && errorMessage !== "") {
    parts.push(html`<p class="error">${errorMessage}</p>`);
  }
  if (stopReason === "aborted") parts.push(html`<p class="note">Aborted</p>`);
  if (stopReason === "length") parts.push(html`<p class="note">Cut off at the length limit</p>`);
  const model = modelOf(message);
  const ms = renderer.times.replyMs(index);
  const facts = html`${
    renderer.times.isNewModel(index) &&
    html`<span class="model" title="${fieldText(message.provider ?? "")}">${model}</span>`
  }${usageFacts(message.usage)}${ms !== undefined && html`<span class="took">${formatDuration(ms)}</span>`}`;
  return { kind: "assistant", who: "Assistant", body: html`${parts}`, facts };
}

function renderBlock(block: Fields, renderer: Renderer): Html {
  if (block.type !== "thinking") return html`${renderContent([block], renderer)}`;
  const thinking = typeof block.thinking === "string" ? block.thinking.trim() : "";
  if (thinking === "") {
    return block.redacted === true ? html`<p class="note">Thinking, not disclosed</p>` : html``;
  }
  const title = html`Thinking <span class="hint">${snippet(thinking, 90)}</span>`;
  return foldable(title, renderer.markdown(thinking), false, "thinking");
}

function renderBash(message: Fields, { highlight }: Renderer): Html {
  const { exitCode, cancelled, truncated, fullOutputPath, excludeFromContext } = message;
  const notes = [
    cancelled === true && "cancelled",
    typeof exitCode === "number" && exitCode !== 0 && `exit code ${exitCode}`,
    truncated === true && "output cut",
    typeof fullOutputPath === "string" && `all of it: ${fullOutputPath}`,
    excludeFromContext === true && "not told to the model",
  ].filter((note) => note !== false);
  const text = fieldText(message.command ?? "");
  return html`<div class="command">${renderLines(text, highlight(text, "bash"))}</div>${renderOutput(fieldText(message.output ?? ""))}${
    notes.length > 0 && html`<p class="note">${notes.join(" · ")}</p>`
  }`;
}

/** A message of an extension; it starts folded if it is not for display. */
export function renderCustom(message: Fields, renderer: Renderer): EntryView {
  const who = fieldText(message.customType ?? "Extension");
  const content = html`${renderContent(message.content, renderer)}`;
  const body =
    message.display === false ? foldable("Told to the model only", content, false) : content;
  return { kind: "custom", who, body };
}

export function renderSummary(title: string, summary: unknown, renderer: Renderer): EntryView {
  const text = typeof summary === "string" ? summary : "";
  const body =
    text === "" ? html`` : foldable("Summary", renderer.markdown(text), text.length < 600);
  return { kind: "summary", who: title, body };
}

export function compactionTitle(tokensBefore: unknown): string {
  const tokens = numberOf(tokensBefore);
  return tokens > 0 ? `Context compacted at ${formatCount(tokens)} tokens` : "Context compacted";
}
