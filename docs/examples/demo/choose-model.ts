import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ScenarioRequest, startLoopbackServer } from "@tau-agent/ai/testing";
import { findLocalServers } from "@tau-agent/coding-agent";
import { RpcClient, type RpcClientOptions } from "@tau-agent/rpc-client";
import { atPace } from "./pace.ts";
import fixTheTests from "./scenario.ts";
import type { Stage } from "./stage.ts";
import type { Workspace } from "./workspace.ts";

/** The model that will do the work, and how to select it in a host. */
export interface ChosenModel {
  /** Names the model in plain words. */
  readonly words: string;
  readonly host: Pick<RpcClientOptions, "provider" | "model" | "env">;
  readonly close: () => Promise<void>;
}

const nothingToClose = async () => {};

/** A model with a key, else a local one, else a scripted one. */
export async function chooseModel(
  workspace: Workspace,
  stage: Stage,
  options: { isScripted: boolean },
): Promise<ChosenModel> {
  const script = (why: string) => scriptedModel(workspace, stage, why);
  if (options.isScripted) return script("As asked, no real model is used");
  return (
    (await modelWithKey(workspace)) ??
    (await localModel(workspace)) ??
    script("There is no model with a key and no model server on a local port")
  );
}

/** The model that the host itself would choose from this user's keys and settings. */
async function modelWithKey({ project }: Workspace): Promise<ChosenModel | undefined> {
  await using client = new RpcClient({ cwd: project, args: ["--no-session"] });
  await client.start();
  const { model } = await client.getState();
  if (model === null) return undefined;
  return {
    words: `The model is ${model.provider}/${model.id}, as your keys and settings say; this run costs what its provider charges.`,
    host: { provider: model.provider, model: model.id },
    close: nothingToClose,
  };
}

async function localModel(workspace: Workspace): Promise<ChosenModel | undefined> {
  const [found] = await findLocalServers({ environment: process.env });
  const [id] = found?.modelIds ?? [];
  if (found === undefined || id === undefined) return undefined;
  const { name, origin, provider } = found;
  const models = provider.models([]).filter((model) => model.id === id);
  return {
    words: `The model is ${id}, served on this machine by ${name} (${origin}).`,
    host: ownProvider(workspace, provider.id, {
      baseUrl: `${origin}/v1`,
      api: "openai-completions",
      models,
    }),
    close: nothingToClose,
  };
}

/** Scripted decisions, served over HTTP in Anthropic's format. */
async function scriptedModel(
  workspace: Workspace,
  { isLive }: Stage,
  why: string,
): Promise<ChosenModel> {
  const scenario = (request: ScenarioRequest) => atPace(fixTheTests(request), isLive);
  const server = await startLoopbackServer({ scenario, records: false });
  return {
    words: `${why}: the replies come from a script that reacts to what the tools return, over ${server.url} in Anthropic's wire format. All else is real.`,
    host: ownProvider(workspace, "loopback", {
      baseUrl: server.urls["anthropic-messages"],
      api: "anthropic-messages",
      models: [{ id: "scripted", name: "Scripted model" }],
    }),
    close: () => server.close(),
  };
}

/** A host with one more provider, from its own models.json. */
function ownProvider(
  { agent }: Workspace,
  id: string,
  entry: {
    baseUrl: string;
    api: string;
    models: readonly { readonly id: string; readonly name: string }[];
  },
): ChosenModel["host"] {
  writeFileSync(
    join(agent, "models.json"),
    JSON.stringify({ providers: { [id]: entry } }, null, 2),
  );
  // The conversation is short, so keep little of it to leave work for a compaction.
  writeFileSync(join(agent, "settings.json"), '{ "compaction.keepRecentTokens": 600 }');
  const [model] = entry.models;
  return {
    provider: id,
    ...(model && { model: model.id }),
    env: { PI_CODING_AGENT_DIR: agent },
  };
}
