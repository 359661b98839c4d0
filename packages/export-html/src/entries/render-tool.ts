import { diffCounts, type Html, html, languageOfPath } from "@tau-agent/markup";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { formatDuration } from "../text/duration.ts";
import { callSubject, hasSubject } from "./call-subject.ts";
import { jsonText, snippet, usageFacts } from "./facts.ts";
import { renderEdit } from "./render-edit.ts";
import { renderLines, renderOutput } from "./render-lines.ts";
import { blocksOf, type Renderer, renderData, renderImage, textOf } from "./render-parts.ts";
import { renderTasks } from "./render-task.ts";
import { readTodosOf, renderTodos } from "./render-todos.ts";
import { messageOf } from "./session-outline.ts";

type Fields = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** A call with its results; results of other branches are included but hidden. */
export async function renderToolCall(
  block: Fields,
  results: readonly number[],
  renderer: Renderer,
): Promise<Html> {
  const name = text(block.name) || "tool";
  const parameters = isJsonObject(block.arguments) ? block.arguments : {};
  const summary = callSubject(name, parameters);
  const isMultiline = name === "bash" && isLong(text(parameters.command));
  const parts: Html[] = [];
  for (const index of results)
    parts.push(await renderResult(index, { name, parameters }, renderer));
  if (results.length === 0) {
    if (name === "edit") parts.push((await renderEdit(parameters, undefined))?.block ?? html``);
    parts.push(html`<p class="note">No result</p>`);
  }
  return html`<section class="tool"><h4><span class="name">${name}</span> ${summary !== "" && !isMultiline && html`<code>${snippet(summary, 300)}</code>`}</h4>${request(
    { name, parameters, raw: block.argumentsError },
    renderer,
  )}${parts}</section>`;
}

interface Call {
  readonly name: string;
  readonly parameters: Fields;
  readonly raw?: unknown;
}

/** Whether a command is too long for the heading. */
function isLong(command: string): boolean {
  return command.length >= 200 || command.includes("\n");
}

/** The arguments that the heading does not show. */
function request({ name, parameters, raw }: Call, { highlight }: Renderer): Html | undefined {
  if (typeof raw === "string") return renderData("Arguments that did not parse", raw);
  if (name === "bash") {
    const command = text(parameters.command);
    return isLong(command) ? renderLines(command, highlight(command, "bash")) : undefined;
  }
  if (name === "write" && typeof parameters.content === "string") {
    const { content } = parameters;
    return renderLines(content, highlight(content, languageOfPath(text(parameters.path))));
  }
  if (name === "task") return renderOrder(parameters);
  if (hasSubject(name) || Object.keys(parameters).length === 0) return undefined;
  const json = jsonText(parameters);
  return json.length < 120 ? undefined : renderLines(json, highlight(json, "json"));
}

/** The request of a `task` call, unless the heading already shows it. */
function renderOrder(parameters: Fields): Html | undefined {
  const { task, tasks, context } = parameters;
  const several = Array.isArray(tasks) ? tasks.filter(isJsonObject) : [];
  const orders = [
    text(context),
    text(task),
    ...several.map((one) => `${text(one.id)}: ${text(one.task)}`),
  ].filter((order) => order.trim() !== "");
  if (orders.length === 0) return undefined;
  const isInHeading = orders.length === 1 && snippet(text(task), 300) === orders[0];
  return isInHeading && text(parameters.description) === ""
    ? undefined
    : html`<div class="order">${renderLines(orders.join("\n\n"))}</div>`;
}

async function renderResult(index: number, call: Call, renderer: Renderer): Promise<Html> {
  const { outline, onPath, times } = renderer;
  const entry = outline.entries[index];
  const message = (entry && messageOf(entry)) ?? {};
  const { body, facts = [] } = await resultView({ index, message, call }, renderer);
  const isFailed = message.isError === true;
  const ms = times.resultMs(index);
  const meta = [
    isFailed && html`<span class="status failed">✗ Failed</span>`,
    ...facts,
    usageFacts(message.usage),
    ms !== undefined && html`<span class="took">${formatDuration(ms)}</span>`,
  ].filter((fact) => fact instanceof Object);
  const content = html`${meta.length > 0 && html`<p class="meta">${meta}</p>`}${body}`;
  const kind = isFailed ? "result failed" : "result";
  return onPath.has(index)
    ? html`<div class="${kind}" id="e${index}" data-entry="${index}">${content}</div>`
    : html`<div class="${kind}" id="e${index}" data-entry="${index}" hidden>${content}</div>`;
}

interface ShownResult {
  readonly index: number;
  readonly message: Fields;
  readonly call: Call;
}

interface ResultView {
  readonly body: Html;
  /** Shown beside the tool's name. */
  readonly facts?: readonly (Html | undefined)[];
}

/** The content of a result without its call, shown in the form for its tool. */
export async function renderResultBody(
  index: number,
  message: Fields,
  renderer: Renderer,
): Promise<Html> {
  const call = { name: text(message.toolName), parameters: {} };
  return (await resultView({ index, message, call }, renderer)).body;
}

async function resultView(shown: ShownResult, renderer: Renderer): Promise<ResultView> {
  const { message, call } = shown;
  const images = blocksOf(message.content)
    .filter(({ type }) => type === "image")
    .map((block) => renderImage(block, renderer));
  const special = await specialView(shown, renderer);
  if (special !== undefined) return { ...special, body: html`${special.body}${images}` };
  const output = textOf(message.content);
  const isCode = call.name === "read" && message.isError !== true && output !== "";
  const body = isCode
    ? renderLines(output, renderer.highlight(output, languageOfPath(text(call.parameters.path))))
    : renderOutput(output);
  return { body: html`${body}${images}` };
}

async function specialView(
  { index, message, call: { name, parameters } }: ShownResult,
  renderer: Renderer,
): Promise<ResultView | undefined> {
  if (name === "task") {
    const body = await renderTasks(message.details, renderer);
    return body && { body };
  }
  if (message.isError === true) return undefined;
  if (name === "edit") {
    const diff = await renderEdit(parameters, message.details);
    return diff && { body: diff.block, facts: [html`<span>${diffCounts(diff)}</span>`] };
  }
  const todos = readTodosOf(renderer.outline.entries[index]);
  return todos && { body: renderTodos(todos, index === renderer.todosAt) };
}
