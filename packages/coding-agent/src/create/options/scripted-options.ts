import { resolve } from "node:path";
import type { CustomProvider } from "@tau-agent/models";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { SessionSetup } from "./session-options.ts";

/**
 * With the provider `scripted`, the model plays a scenario from the file that `model` names, or a short built-in one;
 * everything else is real. The test kit is loaded only in this case.
 */
export async function withScriptedModel(options: SessionSetup): Promise<SessionSetup> {
  const { provider, model: file, stream, baseDirectory, cwd } = options;
  if (provider !== "scripted" || stream !== undefined || typeof file === "object") return options;
  const [{ createStream }, testing, { helloScenario }] = await Promise.all([
    import("@tau-agent/ai"),
    import("@tau-agent/ai/testing"),
    import("./hello-scenario.ts"),
  ]);
  const id = file === undefined ? "hello" : resolve(baseDirectory ?? cwd ?? "", file);
  const model = testing.scriptedModel({ id });
  const scripted =
    file === undefined ? testing.scriptedProvider(helloScenario) : testing.scenarioFileProvider();
  return {
    ...options,
    model,
    providers: [...(options.providers ?? []), keylessProvider(model)],
    stream: createStream({ providers: { scripted: async () => scripted } }),
  };
}

function keylessProvider(model: Model): CustomProvider {
  return {
    id: model.provider,
    isKeyless: true,
    usesAuthHeader: false,
    models: () => [model],
    headers: () => ({}),
  };
}
