import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { readJsonFile, writeFileAtomic } from "@tau-agent/system";
import { factsFolder } from "./facts-folder.ts";
import { believable, type ModelFacts } from "./model-facts.ts";

const fileOf = (agentDirectory: string, provider: string) =>
  join(factsFolder(agentDirectory), `${encodeURIComponent(provider)}.json`);

/**
 * The facts of the last refresh; none if there was no refresh since `newerThan`, the date of the
 * catalogue's facts. Validated like an answer, because another version may have written the file.
 */
export async function readFacts(
  agentDirectory: string,
  provider: string,
  newerThan: string,
): Promise<readonly ModelFacts[]> {
  const file = await readJsonFile(fileOf(agentDirectory, provider));
  if (file.kind !== "object") return [];
  const { refreshedAt, models } = file.value;
  const isNewer = typeof refreshedAt === "string" && refreshedAt.slice(0, 10) >= newerThan;
  return isNewer && Array.isArray(models) ? believable(models) : [];
}

/** Saves facts; a reader sees the old file or the new one. */
export async function writeFacts(
  agentDirectory: string,
  provider: string,
  { models, refreshedAt }: { readonly models: readonly ModelFacts[]; readonly refreshedAt: string },
): Promise<void> {
  await mkdir(factsFolder(agentDirectory), { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ refreshedAt, models }, null, 1);
  await writeFileAtomic(fileOf(agentDirectory, provider), `${text}\n`);
}
