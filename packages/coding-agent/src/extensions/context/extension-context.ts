import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { CommandContext, ExtensionContext, ExtensionMode } from "../api/context.ts";
import { ExtensionError } from "../api/errors.ts";
import { managedTimers } from "../api/managed-timers.ts";
import type { ExtensionModels } from "../api/models.ts";
import type { ExtensionUi } from "../api/ui.ts";
import { systemPromptOptionsOf } from "../hooks/system-prompt-options.ts";
import type { Binding } from "../port/binding.ts";
import { sessionWriter } from "./session-view.ts";

export interface ContextSources {
  readonly binding: Binding;
  readonly ui: ExtensionUi;
  readonly hasUi: boolean;
  readonly place: { readonly cwd: string };
  readonly mode: ExtensionMode;
  readonly models: ExtensionModels;
  /** Called with errors that occur after a call has returned. */
  readonly onFailure: (event: string, error: unknown) => void;
  readonly freshContext: () => CommandContext;
}

export function createContext(sources: ContextSources): ExtensionContext {
  const { binding, ui, hasUi, place, models } = sources;
  const port = (member: string) => binding.port(`ctx.${member}`);
  // Typed as read-only, but extensions write to it anyway.
  const session = sessionWriter(
    () => port("sessionManager").log,
    (entry) => port("sessionManager").append(entry),
  );
  const checked = new Proxy(models, {
    get: (target, name) => {
      binding.check("ctx.modelRegistry");
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return {
    ...managedTimers(() => binding.isBound, sources.onFailure),
    models: {
      list: () => checked.getAvailable(),
      current: () => port("models").model,
      resolve: (name) => modelNamed(checked, name),
      family: ({ id }) => id.split(/[-:]/, 1)[0] ?? id,
    },
    // These do not act on a session, so they keep working.
    ui,
    hasUI: hasUi,
    get cwd() {
      return place.cwd;
    },
    get workspace() {
      return port("workspace").toolEnvironment.workspace;
    },
    mode: sources.mode,
    get sessionManager() {
      port("sessionManager");
      return session;
    },
    get modelRegistry() {
      return checked;
    },
    get model() {
      return port("model").model;
    },
    get scopedModels() {
      return port("scopedModels").scopedModels;
    },
    get thinkingLevel() {
      return port("thinkingLevel").thinkingLevel;
    },
    get signal() {
      return port("signal").signal;
    },
    isIdle: () => port("isIdle").isIdle,
    isProjectTrusted: () => port("isProjectTrusted").isProjectTrusted,
    abort: () => port("abort").abort(),
    hasPendingMessages: () => port("hasPendingMessages").hasPendingMessages,
    shutdown: () => port("shutdown").shutdown(),
    getContextUsage: () => port("getContextUsage").contextUsage,
    getSystemPrompt: () => port("getSystemPrompt").systemPrompt,
    compact: (options = {}) => {
      const done = port("compact").compact(options);
      done.then(
        (result) => options.onComplete?.(result),
        (error: unknown) => {
          if (options.onError === undefined) sources.onFailure("compact", error);
          else options.onError(error instanceof Error ? error : asError(error));
        },
      );
    },
  };
}

/** A model by `provider/id`, or by an id that is unique. */
function modelNamed(models: ExtensionModels, name: string): Model | undefined {
  const all = models.getAvailable();
  const named = all.find(({ provider, id }) => `${provider}/${id}` === name);
  const byId = all.filter(({ id }) => id === name);
  return named ?? (byId.length === 1 ? byId[0] : undefined);
}

function asError(value: unknown): Error {
  return new ExtensionError("handler_failed", String(value));
}

export function createCommandContext(sources: ContextSources): CommandContext {
  const context = createContext(sources);
  const port = (member: string) => sources.binding.port(`ctx.${member}`);
  const then = async (
    done: Promise<{ cancelled: boolean }>,
    run: ((fresh: CommandContext) => unknown) | undefined,
  ): Promise<{ cancelled: boolean }> => {
    const result = await done;
    if (!result.cancelled && run !== undefined) await run(sources.freshContext());
    return result;
  };
  const actions: Omit<CommandContext, keyof ExtensionContext> = {
    getSystemPromptOptions: () => systemPromptOptionsOf(port("getSystemPromptOptions").promptInput),
    waitForIdle: () => port("waitForIdle").waitForIdle(),
    newSession: ({ withSession, ...options } = {}) =>
      then(port("newSession").newSession(options), withSession),
    fork: (entryId, { withSession, ...options } = {}) =>
      then(port("fork").fork(entryId, options), withSession),
    branch: (entryId) => port("branch").fork(entryId, {}),
    navigateTree: (targetId, options = {}) => port("navigateTree").navigateTree(targetId, options),
    switchSession: (path, options = {}) =>
      then(port("switchSession").switchSession(path), options.withSession),
    reload: () => port("reload").reload(),
  };
  return Object.defineProperties(
    actions as CommandContext,
    Object.getOwnPropertyDescriptors(context),
  );
}
