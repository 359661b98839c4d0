import { resolve } from "node:path";
import { createAgentSession } from "@tau-agent/coding-agent";
import { readHostLine } from "../command-line/read-host-line.ts";
import type { CommandContext } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";
import { sessionOptions } from "./session-options.ts";

interface RecordRequest {
  readonly provider?: string;
  readonly model?: string;
  readonly out?: string;
  readonly thinking?: string;
  readonly prompt: string | undefined;
}

/** Long enough for a test, and cheap. */
const MAX_TOKENS = 4096;

export async function recordCommand(
  { provider, model: id, out, thinking = "off", prompt }: RecordRequest,
  { environment, print }: CommandContext,
): Promise<number> {
  if (provider === undefined || id === undefined) {
    refuse(provider === undefined ? "--provider" : "--model", "tau record needs it");
  }
  if (out === undefined) refuse("--out", "tau record needs a folder for the fixture");
  if (prompt === undefined) refuse("record", 'it needs a prompt, such as "Read a.txt"');
  const words = ["--no-session", "--provider", provider, "--model", id, "--thinking", thinking];
  const options = await sessionOptions(readHostLine(words), environment);
  // Uses only the user's models and keys, and no extensions.
  await using session = await createAgentSession({ ...options, extensions: undefined });
  const { model, registry, thinkingLevel } = session.models;
  if (model === undefined) refuse("--model", `there is no model ${provider}/${id}`);
  const auth = await registry.requestAuth(model);
  const { recordFixture } = await import("@tau-agent/ai/testing");
  const folder = resolve(environment.cwd, out);
  const reply = await recordFixture({
    ...{ model, prompt, auth, folder, date: new Date() },
    options: { maxTokens: MAX_TOKENS, sessionId: "record", thinkingLevel },
    secrets: [...registry.keys.secrets, ...secretsOf(auth.headers)],
  }).catch((error: unknown) => refuse(out, error instanceof Error ? error.message : String(error)));
  const end = reply.errorMessage ?? `it ended with ${reply.stopReason}`;
  print(`Recorded a reply of ${provider}/${model.id} in ${folder}: ${end}\n`);
  return 0;
}

/** A header may contain a key after a word such as Bearer. */
function secretsOf(headers: Readonly<Record<string, string | null>>): string[] {
  return Object.values(headers).flatMap((value) =>
    value === null ? [] : [value, ...value.split(" ")],
  );
}
