import { classifyFailure, isContextOverflow, ProviderError } from "@tau-agent/ai";
import type { AssistantMessage, Model } from "@tau-agent/rpc-protocol/messages";

/** The errors of pi's newer model libraries. */
class ModelsError extends Error {
  override readonly name = "ModelsError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Functions of newer versions of pi's model library, and one of older versions. */
export function newerAiFunctions(version: string): object {
  return {
    PI_AI_VERSION: version,
    ModelsError,
    hasApi: (model: Model, api: string) => model.api === api,
    getModelType: () => "chat",
    isModelType: (_model: Model, type: string) => type === "chat",
    isRetryableAssistantError,
    /** A reply that was cut off below its allowance can be requested again with more room. */
    isRecoverableLength: ({ stopReason, usage }: AssistantMessage, wantedTokens: number) =>
      stopReason === "length" && usage.output < wantedTokens,
    retryDelayMs: (
      { baseDelayMs, maxAgentDelayMs = 60_000 }: { baseDelayMs: number; maxAgentDelayMs?: number },
      attempt: number,
    ) => Math.min(baseDelayMs * 2 ** (attempt - 1), maxAgentDelayMs),
    extractRetryDelay: (text: string, response?: Response | Headers) =>
      classifyFailure({
        message: text,
        headers: response instanceof Response ? response.headers : response,
      }).retryAfterMs,
    extractDiagnosticError: (error: unknown) =>
      error instanceof Error
        ? { name: error.name, message: error.message, stack: error.stack }
        : { message: String(error) },
    getSystemMessageText: ({ content }: { content: string | { text: string }[] }) =>
      typeof content === "string" ? content : content.map(({ text }) => text).join("\n"),
    parseToolCallArguments: (json = "") => {
      try {
        return { arguments: JSON.parse(json === "" ? "{}" : json) };
      } catch {
        return { arguments: {}, argumentsError: json };
      }
    },
    toToolDeclaration: ({ name, description, parameters }: Record<string, unknown>) =>
      JSON.parse(JSON.stringify({ name, description, parameters })),
  };
}

function isRetryableAssistantError({ stopReason, errorMessage = "" }: AssistantMessage): boolean {
  if (stopReason !== "error" || isContextOverflow(errorMessage)) return false;
  return new ProviderError(classifyFailure({ message: errorMessage })).isRetryable;
}
