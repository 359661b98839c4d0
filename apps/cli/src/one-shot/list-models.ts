import { correctedName, nearMatches } from "@tau-agent/models";
import type { Model } from "@tau-agent/rpc-protocol/messages";

const columns: readonly [title: string, value: (model: Model) => string][] = [
  ["provider", (model) => model.provider],
  ["model", (model) => model.id],
  ["context", (model) => tokens(model.contextWindow)],
  ["max-out", (model) => tokens(model.maxTokens)],
  ["thinking", (model) => (model.reasoning ? "yes" : "no")],
  ["images", (model) => (model.input.includes("image") ? "yes" : "no")],
];

const noModels = `No models: no provider has a key, models.json names none, and no Ollama, LM Studio, llama.cpp or
vLLM with a model answers at its usual port on this machine or at the setting localServers.
Set a key in the environment, such as ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, run
tau auth login, or start a server; see tau help models.
`;

export interface ModelList {
  readonly text: string;
  /** The text explains why the list is empty. */
  readonly isEmpty: boolean;
}

/** The models as a table, one per line; only those whose name contains every word of `search`. */
export function listModels(models: readonly Model[], search = ""): ModelList {
  const found = matching(models, search);
  if (found.length === 0) {
    return { text: models.length === 0 ? noModels : noMatch(models, search), isEmpty: true };
  }
  const rows = [columns.map(([title]) => title), ...found.map(cells)];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ");
  return { text: rows.map((row) => `${line(row).trimEnd()}\n`).join(""), isEmpty: false };
}

function matching(models: readonly Model[], search: string): readonly Model[] {
  const words = search.toLowerCase().split(/\s+/);
  return models.filter(({ provider, id, name }) => {
    const text = `${provider}/${id} ${name}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function noMatch(models: readonly Model[], search: string): string {
  const names = models.map(({ provider, id }) => `${provider}/${id}`);
  const corrected = correctedName(search, names);
  const near =
    corrected !== undefined && matching(models, corrected).length > 0
      ? corrected
      : nearMatches(search, names, 1)[0];
  const hint = near === undefined ? "" : `; the nearest is ${near}`;
  return `No models matching "${search}"${hint}.\n`;
}

function cells(model: Model): string[] {
  return columns.map(([, value]) => value(model));
}

function tokens(count: number): string {
  if (count >= 1_000_000) return `${Number((count / 1_000_000).toFixed(1))}M`;
  return count >= 1000 ? `${Number((count / 1000).toFixed(1))}K` : String(count);
}
