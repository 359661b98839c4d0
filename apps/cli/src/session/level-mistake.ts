import {
  type CreateAgentSessionOptions,
  createAgentSession,
  SessionError,
} from "@tau-agent/coding-agent";
import { ProtocolError } from "@tau-agent/rpc-protocol";
import { nearest, thinkingLevels } from "@tau-agent/rpc-protocol/plain";

/**
 * The error for `--model sonnet:hihg`: a model that is not found because its thinking level is misspelt.
 * Undefined if the suffix does not resemble a level, or the model does not exist without it either.
 */
export async function levelMistake(
  error: unknown,
  options: CreateAgentSessionOptions,
): Promise<ProtocolError | undefined> {
  if (!(error instanceof SessionError) || error.code !== "model_not_found") return undefined;
  const [, model, level = ""] = /^(.+):([^:/]+)$/.exec(String(options.model)) ?? [];
  const meant = nearest(level, thinkingLevels);
  if (model === undefined || meant === undefined) return undefined;
  try {
    const bare = {
      session: { kind: "memory" },
      extensions: undefined,
      mcp: { isOff: true },
    } as const;
    await using _ = await createAgentSession({ ...options, ...bare, model });
  } catch {
    return undefined;
  }
  const reason = `${JSON.stringify(level)} is not a thinking level; the nearest is ${meant}; write ${model}:${meant}`;
  return new ProtocolError("invalid_option", { option: "--model", reason });
}
