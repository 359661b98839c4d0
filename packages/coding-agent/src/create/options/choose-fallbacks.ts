import { type ModelRegistry, resolveFallbacks } from "@tau-agent/models";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic, SettingsStore } from "@tau-agent/system";
import type { SessionSetup } from "./session-options.ts";

/** What the choice of fallbacks depends on, in addition to the options. */
interface FallbackChoice {
  readonly registry: ModelRegistry;
  readonly settings: SettingsStore;
  readonly diagnostics: Diagnostic[];
}

/** The names of the models that answer when the chosen model fails. */
export function fallbackNames(
  { fallbackModels }: SessionSetup,
  settings: SettingsStore,
): readonly string[] {
  return fallbackModels ?? settings.get("fallbackModels") ?? [];
}

/**
 * The models that answer when the chosen model fails. An unknown model in the settings fails the start only if mistakes
 * are refused, because a server on this machine may be started later.
 *
 * @throws {SessionError} `model_not_found`
 */
export async function chooseFallbacks(
  options: SessionSetup,
  { registry, settings, diagnostics }: FallbackChoice,
): Promise<readonly Model[]> {
  const found: Model[] = [];
  const isRefused = options.fallbackModels !== undefined || options.refusesMistakes === true;
  for (const name of fallbackNames(options, settings)) {
    try {
      found.push(...(await resolveFallbacks(registry, [name])));
    } catch (error) {
      if (!(error instanceof SessionError) || (isRefused && !isLocal(name))) throw error;
      const message = `The fallback ${name} was left out: ${error.message}`;
      diagnostics.push({ severity: "warning", code: error.code, message });
    }
  }
  for (const model of found) {
    if (await registry.isAvailable(model)) continue;
    const problem = await registry.keys.require(model.provider).catch((error: unknown) => error);
    if (!(problem instanceof SessionError)) continue;
    const message = `The fallback ${model.provider}/${model.id} is skipped while it has no key: ${problem.message}`;
    diagnostics.push({ severity: "warning", code: "fallback_skipped", message });
  }
  return found;
}

const isLocal = (name: string): boolean =>
  /^(?:ollama|lm-studio|llama\.cpp|vllm)(?:-\d+)?\//i.test(name);
