import { type Html, html } from "@tau-agent/markup";
import type { SessionEntry } from "@tau-agent/rpc-protocol";
import { fieldText, isoTime, usageFacts } from "./facts.ts";
import {
  compactionTitle,
  type EntryView,
  renderCustom,
  renderMessage,
  renderSummary,
} from "./render-message.ts";
import { type Renderer, renderData } from "./render-parts.ts";
import { readTodosOf, renderTodos } from "./render-todos.ts";
import { messageOf } from "./session-outline.ts";

type Fields = Readonly<Record<string, unknown>>;

/** One entry as an article; never fails, whatever its content. */
export async function renderEntry(index: number, renderer: Renderer): Promise<Html> {
  const entry = renderer.outline.entries[index];
  if (entry === undefined) return html``;
  const { kind, who, body, facts } = await viewOf(index, entry, renderer);
  renderer.images.keep();
  const label = renderer.outline.labels.get(entry.id);
  const chip = label !== undefined && html` <span class="label">${label}</span>`;
  const time = isoTime(entry.timestamp) ?? "";
  const shown = facts ?? clockOf(index, kind, time, renderer);
  return html`<article class="entry ${kind}" id="e${index}" data-entry="${index}" tabindex="-1"><header><h3>${who}</h3>${chip}<a class="facts" href="#e${index}" title="${time}">${shown}</a></header>${body}</article>
`;
}

/** The time of day of a person's action, with the date if that changed; settings have neither. */
function clockOf(index: number, kind: string, time: string, { times }: Renderer): Html {
  if (time === "" || kind === "setting" || kind === "other") return html`#`;
  const date = kind === "user" && times.isNewDay(index) ? `${time.slice(0, 10)} ` : "";
  return html`<time datetime="${time}">${date}${time.slice(11, 16)}</time>`;
}

async function viewOf(index: number, entry: SessionEntry, renderer: Renderer): Promise<EntryView> {
  try {
    const message = messageOf(entry);
    if (message !== undefined) return await renderMessage(index, message, renderer);
    return viewOfEntry(entry, renderer, index === renderer.todosAt);
  } catch {
    renderer.images.drop();
    // Other programs write entries, too; an entry that does not fit its type is shown as data.
    return { kind: "other", who: fieldText(entry.type), body: renderData("Data", entry) };
  }
}

function viewOfEntry(entry: SessionEntry, renderer: Renderer, isLatest: boolean): EntryView {
  const fields: Fields = entry as Fields;
  switch (entry.type) {
    case "model_change":
      return setting("Model", `${fieldText(fields.provider)}/${fieldText(fields.modelId)}`);
    case "thinking_level_change":
      return setting("Thinking", fieldText(fields.thinkingLevel));
    case "session_info":
      return setting("Session name", fieldText(fields.name ?? "none"));
    case "label":
      return renderLabel(fields, renderer);
    case "compaction": {
      const view = renderSummary(compactionTitle(fields.tokensBefore), fields.summary, renderer);
      return { ...view, facts: usageFacts(fields.usage) };
    }
    case "branch_summary": {
      const view = renderSummary("Summary of another branch", fields.summary, renderer);
      return { ...view, facts: usageFacts(fields.usage) };
    }
    case "custom_message":
      return renderCustom(fields, renderer);
    case "approval":
      return renderApproval(fields);
    case "custom": {
      const todos = readTodosOf(entry);
      if (todos !== undefined) {
        return { kind: "custom", who: "You changed the todos", body: renderTodos(todos, isLatest) };
      }
      const who = `State of ${fieldText(fields.customType ?? "an extension")}`;
      return { kind: "other", who, body: renderData("Data", fields.data) };
    }
    default:
      return { kind: "other", who: fieldText(entry.type), body: renderData("Data", entry) };
  }
}

function renderApproval({ phase, toolName, decision, by, message }: Fields): EntryView {
  if (phase === "asked") return setting("Asked for approval", fieldText(toolName ?? ""));
  const who = decision === "allow" ? "Allowed" : "Denied";
  const said = typeof message === "string" ? `: ${message}` : "";
  return {
    kind: "setting",
    who,
    body: html`<span dir="auto">by ${fieldText(by ?? "")}${said}</span>`,
  };
}

function setting(who: string, value: string): EntryView {
  return { kind: "setting", who, body: html`<code>${value}</code>` };
}

function renderLabel(
  { targetId, label }: Readonly<Record<string, unknown>>,
  { outline }: Renderer,
) {
  const isSet = typeof label === "string" && label !== "";
  const target = outline.indexOf.get(fieldText(targetId));
  const link = target !== undefined && html` <a href="#e${target}">to the entry</a>`;
  const body = html`<code>${isSet ? label : "removed"}</code>${link}`;
  return { kind: "setting", who: "Label", body } satisfies EntryView;
}
