import type { SessionEntry } from "@tau-agent/rpc-protocol";
import { type Html, html } from "../text/html.ts";
import { timeOf, usageFacts } from "./facts.ts";
import {
  compactionTitle,
  type EntryView,
  renderCustom,
  renderMessage,
  renderSummary,
} from "./render-message.ts";
import { type Renderer, renderData } from "./render-parts.ts";
import { messageOf } from "./session-outline.ts";

/** One entry as an article; never fails, whatever its content. */
export async function renderEntry(index: number, renderer: Renderer): Promise<Html> {
  const entry = renderer.outline.entries[index];
  if (entry === undefined) return html``;
  const { kind, who, body, facts } = await viewOf(index, entry, renderer);
  const label = renderer.outline.labels.get(entry.id);
  const chip = label !== undefined && html` <span class="label">${label}</span>`;
  return html`<article class="entry ${kind}" id="e${index}" data-entry="${index}" tabindex="-1"><header><h3>${who}</h3>${chip}<a class="facts" href="#e${index}">${facts}${timeOf(entry.timestamp)}</a></header>${body}</article>
`;
}

async function viewOf(index: number, entry: SessionEntry, renderer: Renderer): Promise<EntryView> {
  try {
    const message = messageOf(entry);
    if (message !== undefined) return await renderMessage(index, message, renderer);
    return viewOfEntry(entry, renderer);
  } catch {
    // Other programs write entries too; one that does not fit its type is shown as data.
    return { kind: "other", who: String(entry.type), body: renderData("Data", entry) };
  }
}

function viewOfEntry(entry: SessionEntry, renderer: Renderer): EntryView {
  const fields = entry as Readonly<Record<string, unknown>>;
  switch (entry.type) {
    case "model_change":
      return setting("Model", `${String(fields.provider)}/${String(fields.modelId)}`);
    case "thinking_level_change":
      return setting("Thinking", String(fields.thinkingLevel));
    case "session_info":
      return setting("Session name", String(fields.name ?? "none"));
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
    case "custom": {
      const who = `State of ${String(fields.customType ?? "an extension")}`;
      return { kind: "other", who, body: renderData("Data", fields.data) };
    }
    default:
      return { kind: "other", who: String(entry.type), body: renderData("Data", entry) };
  }
}

function setting(who: string, value: string): EntryView {
  return { kind: "setting", who, body: html`<code>${value}</code>` };
}

function renderLabel(
  { targetId, label }: Readonly<Record<string, unknown>>,
  { outline }: Renderer,
) {
  const isSet = typeof label === "string" && label !== "";
  const target = outline.indexOf.get(String(targetId));
  const link = target !== undefined && html` <a href="#e${target}">to the entry</a>`;
  const body = html`<code>${isSet ? label : "removed"}</code>${link}`;
  return { kind: "setting", who: "Label", body } satisfies EntryView;
}
