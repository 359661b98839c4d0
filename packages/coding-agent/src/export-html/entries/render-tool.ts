import { isJsonObject } from "../../base/files/read-json.ts";
import { languageOfPath } from "../text/highlight.ts";
import { type Html, html } from "../text/html.ts";
import { codeBlock } from "../text/markdown.ts";
import { jsonText, snippet, usageFacts } from "./facts.ts";
import { renderEdit } from "./render-diff.ts";
import {
  blocksOf,
  foldedText,
  type Renderer,
  renderData,
  renderImage,
  renderOutput,
  textOf,
} from "./render-parts.ts";
import { messageOf } from "./session-outline.ts";

type Fields = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The subject of a call, in one line. */
const summaries: Readonly<Record<string, (parameters: Fields) => string>> = {
  read: ({ path, offset, limit }) => {
    if (offset === undefined && limit === undefined) return text(path);
    const from = Number(offset ?? 1);
    return `${text(path)}:${from}${limit === undefined ? "" : `–${from + Number(limit) - 1}`}`;
  },
  write: ({ path }) => text(path),
  edit: ({ path }) => text(path),
  ls: ({ path }) => text(path) || ".",
  bash: ({ command }) => text(command),
  grep: ({ pattern, path }) => [text(pattern), text(path)].filter(Boolean).join(" in "),
  find: ({ pattern, path }) => [text(pattern), text(path)].filter(Boolean).join(" in "),
};

/** A call with its results; results of other branches are included but hidden. */
export async function renderToolCall(
  block: Fields,
  results: readonly number[],
  renderer: Renderer,
): Promise<Html> {
  const name = text(block.name) || "tool";
  const parameters = isJsonObject(block.arguments) ? block.arguments : {};
  const summarize = Object.hasOwn(summaries, name) ? summaries[name] : undefined;
  const summary = summarize?.(parameters) ?? shortArguments(parameters);
  const parts: Html[] = [];
  for (const index of results)
    parts.push(await renderResult(index, { name, parameters }, renderer));
  if (results.length === 0) {
    if (name === "edit") parts.push((await renderEdit(parameters, undefined)) ?? html``);
    parts.push(html`<p class="note">No result</p>`);
  }
  return html`<section class="tool"><h4><span class="name">${name}</span> <code>${snippet(summary, 300)}</code></h4>${request(
    { name, parameters, raw: block.argumentsError },
    renderer,
  )}${parts}</section>`;
}

function shortArguments(parameters: Fields): string {
  const values = Object.entries(parameters).map(([key, value]) =>
    typeof value === "string" ? `${key}: ${value}` : `${key}: ${jsonText(value)}`,
  );
  return values.join(", ");
}

interface Call {
  readonly name: string;
  readonly parameters: Fields;
  readonly raw?: unknown;
}

/** The arguments that the heading does not show. */
function request({ name, parameters, raw }: Call, { highlight }: Renderer): Html | undefined {
  if (typeof raw === "string") return renderData("Arguments that did not parse", raw);
  if (name === "bash") {
    const command = text(parameters.command);
    if (command.length < 200 && !command.includes("\n")) return undefined;
    return foldedText("Command", command, highlight(command, "bash"));
  }
  if (name === "write" && typeof parameters.content === "string") {
    const { content } = parameters;
    return foldedText(
      "Content",
      content,
      highlight(content, languageOfPath(text(parameters.path))),
    );
  }
  if (Object.hasOwn(summaries, name) || Object.keys(parameters).length === 0) return undefined;
  const json = jsonText(parameters);
  return json.length < 120 ? undefined : foldedText("Arguments", json, highlight(json, "json"));
}

async function renderResult(index: number, call: Call, renderer: Renderer): Promise<Html> {
  const { outline, onPath } = renderer;
  const entry = outline.entries[index];
  const message = (entry && messageOf(entry)) ?? {};
  const body = await renderResultBody(message, call, renderer);
  const usage = usageFacts(message.usage);
  const kind = message.isError === true ? "result failed" : "result";
  const content = html`${message.isError === true && html`<p class="error">Failed</p>`}${body}${usage}`;
  return onPath.has(index)
    ? html`<div class="${kind}" id="e${index}" data-entry="${index}">${content}</div>`
    : html`<div class="${kind}" id="e${index}" data-entry="${index}" hidden>${content}</div>`;
}

/** The content of a result, shown in the way that fits the tool. */
export async function renderResultBody(
  message: Fields,
  { name, parameters }: Call,
  { highlight }: Renderer,
): Promise<Html> {
  const output = textOf(message.content);
  const images = blocksOf(message.content)
    .filter(({ type }) => type === "image")
    .map(renderImage);
  const isError = message.isError === true;
  if (name === "edit" && !isError) {
    const diff = await renderEdit(parameters, message.details);
    if (diff !== undefined) return html`${diff}${images}`;
  }
  if (name === "read" && !isError && output !== "") {
    const shown = highlight(output, languageOfPath(text(parameters.path)));
    return html`${foldedText("Content", output, shown)}${images}`;
  }
  if (isError) return html`${output !== "" && codeBlock(html`${output}`)}${images}`;
  return html`${renderOutput(output)}${images}`;
}
