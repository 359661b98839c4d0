// The parts of pi's packages that the examples use; the host provides the modules at run time.

declare module "@sinclair/typebox" {
  type Schema = Record<string, unknown>;
  export const Type: {
    Object(properties: Record<string, unknown>): Schema;
    String(options?: Schema): Schema;
    Number(options?: Schema): Schema;
    Array(items: unknown): Schema;
    Optional(schema: unknown): Schema;
  };
}

declare module "@mariozechner/pi-ai" {
  import type { AssistantMessage } from "@tau-agent/ai";
  export function StringEnum(values: readonly string[]): Record<string, unknown>;
  export function createAssistantMessageEventStream(): AsyncIterable<unknown> & {
    push(
      event:
        | { type: "start"; partial: AssistantMessage }
        | { type: "done"; reason: "stop"; message: AssistantMessage },
    ): void;
  };
}

declare module "@mariozechner/pi-coding-agent" {
  import type { ExtensionContext, ExtensionTool } from "@tau-agent/coding-agent";

  export const SessionManager: { inMemory(): unknown };
  export function createAgentSession(options: object): Promise<{
    session: {
      prompt(text: string): Promise<unknown>;
      getLastAssistantText(): string | undefined;
      dispose(): Promise<void>;
    };
  }>;

  type Tool = ExtensionTool<Record<string, unknown>>;
  export function createBashTool(): Omit<Tool, "execute"> & {
    execute(
      ...given: [
        ...(Parameters<Tool["execute"]> extends [...infer Known, ExtensionContext] ? Known : never),
      ]
    ): ReturnType<Tool["execute"]>;
  };
}
