import type { Sandbox } from "@tau-agent/system";
import type { SessionSetup } from "./session-options.ts";

/** Options for a session that differs only slightly from another: a subagent in this process. */
export function likeSession(
  options: SessionSetup,
  { sandbox }: { readonly sandbox?: Sandbox | undefined },
  differences: Partial<SessionSetup>,
  systemPrompt: string,
): SessionSetup {
  const texts = [...(options.prompt?.appendSystemPrompts ?? []), systemPrompt];
  const prompt = { ...options.prompt, appendSystemPrompts: texts };
  // The key belongs to one provider; a subagent with another provider's model must not send it there.
  const own = typeof options.model === "object" ? options.model.provider : options.provider;
  const { model } = differences;
  const apiKey = typeof model === "object" && model.provider === own ? options.apiKey : undefined;
  const baseDirectory = options.baseDirectory ?? options.cwd;
  // A client knows only the folder and calls of its own session.
  const onDisk = { beforeOpen: undefined, overlay: undefined };
  return {
    ...options,
    sandbox: sandbox?.inherited ?? options.sandbox,
    // Already included in what the session inherits.
    secrets: undefined,
    ...differences,
    ...onDisk,
    baseDirectory,
    prompt,
    apiKey,
  };
}
