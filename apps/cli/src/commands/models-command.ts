import { createAgentSession } from "@tau-agent/coding-agent";
import {
  listLoginProviders,
  providerHint,
  type RefreshedProvider,
  refreshModels,
} from "@tau-agent/models";
import { readHostLine } from "../command-line/read-host-line.ts";
import type { CommandContext } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";
import { sessionOptions } from "../session/session-options.ts";

interface ModelsRequest {
  readonly words: readonly string[];
  readonly from: string | undefined;
}

export async function modelsCommand(
  { words, from }: ModelsRequest,
  { environment, print }: CommandContext,
): Promise<number> {
  const [first, ...providers] = words;
  const isRefresh = first === "refresh";
  if (from !== undefined && !isRefresh) refuse("--from", "it is for tau models refresh");
  if (from !== undefined && !/^https?:\/\//.test(from))
    refuse("--from", "it must be an http or https URL");
  const options = await sessionOptions(
    readHostLine(["--no-session", "--list-models"]),
    environment,
  );
  const findLocalServers = isRefresh ? false : "always";
  await using session = await createAgentSession({
    ...options,
    extensions: undefined,
    findLocalServers,
  });
  const { registry } = session.models;
  if (!isRefresh) {
    const { listModels } = await import("../one-shot/list-models.ts");
    const { text, isEmpty } = listModels(await registry.available(), words.join(" "));
    if (isEmpty) process.stderr.write(`tau: error: ${text}`);
    else print(text);
    return isEmpty ? 1 : 0;
  }
  const known = await registry.providers();
  const unknown = providers.find((provider) => !known.includes(provider));
  if (unknown !== undefined) {
    const hint = providerHint(unknown, await listLoginProviders(registry));
    refuse(unknown, `there is no such provider${hint}`);
  }
  const chosen = providers.length > 0 ? providers : undefined;
  const { agentDirectory } = environment;
  const done = await refreshModels({
    registry,
    agentDirectory,
    providers: chosen,
    from,
    now: new Date(),
  });
  if (done.length === 0) print("No provider has a key; name one: tau models refresh <provider>\n");
  for (const provider of done) print(described(provider));
  return done.every(({ models, problems }) => models > 0 || problems.length === 0) ? 0 : 1;
}

function described({ provider, models, added, problems }: RefreshedProvider): string {
  const fresh =
    added.length === 0
      ? ""
      : `; new: ${added.slice(0, 10).join(", ")}${added.length > 10 ? ", …" : ""}`;
  const notes = problems.map((problem) => `  ${problem}\n`).join("");
  return `${provider}: ${models} models${fresh}\n${notes}`;
}
