import { diffCounts, type Html, html } from "@tau-agent/markup";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { formatDuration } from "../text/duration.ts";
import { countLines, fieldText, formatCost, formatCount, numberOf } from "./facts.ts";
import { foldable, type Renderer, renderData } from "./render-parts.ts";
import { renderPatch } from "./render-patch.ts";
import { renderVerification, statusMark } from "./render-verification.ts";

type Fields = Readonly<Record<string, unknown>>;

const maxPatchBytes = 256 * 1024;
const openLines = 10;

export async function renderTasks(details: unknown, renderer: Renderer): Promise<Html | undefined> {
  if (!isJsonObject(details) || !Array.isArray(details.results)) return undefined;
  const results = details.results.filter(isJsonObject);
  if (results.length === 0) return undefined;
  const parts: Html[] = [];
  for (const result of results) parts.push(await renderTask(result, renderer));
  const sum = results.length > 1 ? usedFacts(details.used) : undefined;
  return html`${parts}${sum && html`<p class="together">All ${results.length} tasks: ${sum}</p>`}`;
}

async function renderTask(result: Fields, renderer: Renderer): Promise<Html> {
  const { id, agent, description, status, exitCode, error, durationMs } = result;
  const isDone = status === "completed" && numberOf(exitCode) === 0;
  const took = numberOf(durationMs);
  const facts = [
    took > 0 && html`<span>${formatDuration(took)}</span>`,
    usedFacts(result.used),
  ].filter((fact) => fact instanceof Object);
  const about =
    typeof description === "string" ? `${fieldText(agent)}: ${description}` : fieldText(agent);
  return html`<section class="task"><h5>${statusMark(isDone ? "passed" : "failed", statusWords(result))} <span class="name">${fieldText(id)}</span> <span class="about">${about}</span><span class="facts">${facts}</span></h5>${
    typeof error === "string" && html`<p class="error">${error}</p>`
  }${renderAnswer(result, renderer)}${await renderChange(result, renderer)}${await renderVerification(result.verification, renderer)}</section>`;
}

function statusWords({ status, exitCode }: Fields): string {
  const words = fieldText(status).replaceAll("_", " ");
  return words === "completed" && numberOf(exitCode) !== 0 ? "failed its checks" : words;
}

function renderAnswer({ output, outputTruncated, outputPath, answer }: Fields, renderer: Renderer) {
  const text = typeof output === "string" ? output.trim() : "";
  const shown = renderer.markdown(text);
  const lines = countLines(text);
  const cut =
    outputTruncated === true &&
    html`<p class="note">Only the end is shown${typeof outputPath === "string" && `; all of it: ${outputPath}`}</p>`;
  const value = isJsonObject(answer) && answer.value !== undefined ? answer.value : undefined;
  return html`${text !== "" && (lines > openLines ? foldable(`Answer · ${lines} lines`, shown, false, "answer") : shown)}${cut}${value !== undefined && renderData("Structured answer", value)}`;
}

async function renderChange(result: Fields, { files }: Renderer): Promise<Html | undefined> {
  const { patch, leftOut, commits } = result;
  const notes = [leftOutNote(leftOut), commitsNote(commits)].filter((note) => note !== undefined);
  if (!isJsonObject(patch)) return html`${notes}`;
  const file = await files.read(patch.path, ".patch", maxPatchBytes);
  const counts = { added: numberOf(patch.insertions), removed: numberOf(patch.deletions) };
  const count = numberOf(patch.filesChanged);
  const isEmpty = count === 0;
  const heading = isEmpty
    ? html`Changed nothing`
    : html`${count} ${count === 1 ? "file" : "files"} ${diffCounts(counts)} · ${patchWords(patch)}`;
  const missing =
    !isEmpty &&
    file === undefined &&
    typeof patch.path === "string" &&
    html`<p class="note">The patch is not beside the session: ${patch.path}</p>`;
  const cut = file?.isCut && html`<p class="note">Cut; all of it: ${fieldText(patch.path)}</p>`;
  const body = file === undefined ? listFiles(patch.files) : renderPatch(file.text);
  return html`<div class="patch"><h6>${heading}</h6>${body}${cut}${missing}${notes}</div>`;
}

function patchWords({ status, branch, reason }: Fields): string {
  const words: Readonly<Record<string, string>> = {
    applied: "applied to the working tree",
    branch: `on the branch ${fieldText(branch)}`,
    conflict: "not applied: it conflicts",
    kept: "not applied",
    discarded: "discarded",
  };
  const word = fieldText(status);
  const said = (Object.hasOwn(words, word) && words[word]) || word;
  return typeof reason === "string" ? `${said} (${reason})` : said;
}

function listFiles(files: unknown): Html | undefined {
  if (!Array.isArray(files) || files.length === 0) return undefined;
  const items = files.map((name) => html`<li><code>${fieldText(name)}</code></li>`);
  return html`<ul class="files">${items}</ul>`;
}

function leftOutNote(leftOut: unknown): Html | undefined {
  if (!Array.isArray(leftOut) || leftOut.length === 0) return undefined;
  const names = leftOut.filter(isJsonObject).map(({ path }) => fieldText(path));
  return html`<p class="note">Not in the patch: ${names.join(", ")}</p>`;
}

function commitsNote(commits: unknown): Html | undefined {
  if (!isJsonObject(commits) || !Array.isArray(commits.refs)) return undefined;
  const names = commits.refs.map(String).join(", ");
  return html`<p class="note">Commits on ${names}${typeof commits.path === "string" && `, kept in ${commits.path}`}</p>`;
}

function usedFacts(used: unknown): Html | undefined {
  if (!isJsonObject(used)) return undefined;
  const cached = numberOf(used.cacheReadTokens);
  const input = numberOf(used.inputTokens) + cached + numberOf(used.cacheWriteTokens);
  const output = numberOf(used.outputTokens);
  const cost = numberOf(used.costUsd);
  if (input + output + cost === 0) return undefined;
  const parts = [`${formatCount(input)} in`, `${formatCount(output)} out`];
  if (cached > 0) parts.push(`${formatCount(cached)} cached`);
  return html`<span class="usage">${[...parts, formatCost(cost)].join(" · ")}</span>`;
}
