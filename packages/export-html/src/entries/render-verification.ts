import { type Html, html } from "@tau-agent/markup";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { formatDuration } from "../text/duration.ts";
import { fieldText, numberOf } from "./facts.ts";
import { renderLastOutput, renderOutput } from "./render-lines.ts";
import type { Renderer } from "./render-parts.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A log is shown completely, unless it is very long. */
const maxLogBytes = 64 * 1024;

const marks: Readonly<Record<string, string>> = { passed: "✓", failed: "✗", skipped: "–" };

export function statusMark(status: string, words = status): Html {
  const mark = Object.hasOwn(marks, status) ? marks[status] : "–";
  return html`<span class="status ${Object.hasOwn(marks, status) ? status : "skipped"}">${mark} ${words}</span>`;
}

/** The checks of a subagent's work: each attempt with its commands and their output. */
export async function renderVerification(
  verification: unknown,
  renderer: Renderer,
): Promise<Html | undefined> {
  if (!isJsonObject(verification) || verification.status === "not_requested") return undefined;
  const { status, profile, retriesUsed, attempts } = verification;
  const repairs = numberOf(retriesUsed);
  const facts = [
    typeof profile === "string" && `profile ${profile}`,
    repairs > 0 && `after ${repairs} ${repairs === 1 ? "repair" : "repairs"}`,
  ].filter((fact) => fact !== false);
  const all = Array.isArray(attempts) ? attempts.filter(isJsonObject) : [];
  const shown: Html[] = [];
  for (const attempt of all) shown.push(await renderAttempt(attempt, all.length > 1, renderer));
  return html`<div class="checks"><h6>Verification ${statusMark(fieldText(status))}${facts.length > 0 && ` · ${facts.join(" · ")}`}</h6>${shown}</div>`;
}

async function renderAttempt(
  { attempt, status, startedAt, endedAt, commandResults, error }: Fields,
  isNumbered: boolean,
  renderer: Renderer,
): Promise<Html> {
  const took = numberOf(endedAt) - numberOf(startedAt);
  const title =
    isNumbered &&
    html`<p class="attempt">Attempt ${fieldText(attempt)} ${statusMark(fieldText(status))}${took > 0 && ` · ${formatDuration(took)}`}</p>`;
  const results = Array.isArray(commandResults) ? commandResults.filter(isJsonObject) : [];
  const commands: Html[] = [];
  for (const result of results) commands.push(await renderCommand(result, renderer));
  const why = typeof error === "string" && html`<p class="error">${error}</p>`;
  return html`${title}${commands}${why}`;
}

async function renderCommand(result: Fields, { files }: Renderer): Promise<Html> {
  const { name, command, exitCode, durationMs, optional, timedOut } = result;
  const code = numberOf(exitCode);
  const facts = [
    code !== 0 && (timedOut === true ? "timed out" : `exit code ${code}`),
    optional === true && "optional",
    formatDuration(numberOf(durationMs)),
  ].filter((fact) => fact !== false);
  const log = await files.read(result.artifactPath, ".log", maxLogBytes);
  const preview = typeof result.outputPreview === "string" ? result.outputPreview : "";
  const text = log?.text ?? preview;
  const output = code === 0 ? renderOutput(text) : renderLastOutput(text);
  const cut =
    log?.isCut && html`<p class="note">Cut; all of it: ${fieldText(result.artifactPath)}</p>`;
  return html`<div class="check"><p>${statusMark(code === 0 ? "passed" : "failed", fieldText(name))} <code>${fieldText(command)}</code><span class="facts">${facts.join(" · ")}</span></p>${output}${cut}</div>`;
}
