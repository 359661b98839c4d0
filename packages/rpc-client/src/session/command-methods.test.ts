import { commands } from "@tau-agent/rpc-protocol";
import { describe, expect, expectTypeOf, it } from "vitest";
import type {
  AgentMessage,
  ImageInput,
  Model,
  RpcClient,
  SessionEvent,
  SessionState,
  SessionStats,
  ThinkingLevel,
} from "../index.ts";
import { createCommandClient } from "./command-methods.ts";

describe("the methods of a client", () => {
  it("exist for every command of the table", () => {
    const methods = createCommandClient().prototype as Record<string, unknown>;
    for (const name of Object.keys(commands)) {
      const method = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
      expect(methods[method], name).toBeTypeOf("function");
    }
  });

  it("have the types of their command", () => {
    expectTypeOf<RpcClient["prompt"]>().parameter(0).toEqualTypeOf<string>();
    type PromptOptions = NonNullable<Parameters<RpcClient["prompt"]>[1]>;
    expectTypeOf<PromptOptions["images"]>().toEqualTypeOf<ImageInput[] | undefined>();
    expectTypeOf<RpcClient["prompt"]>().returns.resolves.toHaveProperty("promptId");
    expectTypeOf<RpcClient["setModel"]>().toEqualTypeOf<
      (provider: string, modelId: string) => Promise<Model>
    >();
    expectTypeOf<RpcClient["setThinkingLevel"]>().parameters.toEqualTypeOf<[ThinkingLevel]>();
    expectTypeOf<RpcClient["getState"]>().toEqualTypeOf<() => Promise<SessionState>>();
    expectTypeOf<RpcClient["getSessionStats"]>().toEqualTypeOf<() => Promise<SessionStats>>();
    expectTypeOf<RpcClient["getMessages"]>().returns.resolves.toHaveProperty("messages");
    expectTypeOf<RpcClient["abort"]>().toEqualTypeOf<() => Promise<undefined>>();
    type Messages = Awaited<ReturnType<RpcClient["getMessages"]>>["messages"];
    expectTypeOf<Messages>().toEqualTypeOf<AgentMessage[]>();
  });

  it("provide events that narrow by their type", () => {
    const show = (event: SessionEvent): string => {
      if (event.type === "tool_execution_end") {
        expectTypeOf(event.isError).toEqualTypeOf<boolean>();
        return event.toolName;
      }
      if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") {
        return event.assistantMessageEvent.delta;
      }
      if (event.type === "agent_settled") return String(event.aborted);
      return event.type;
    };
    expect(show({ type: "agent_settled", aborted: true })).toBe("true");
  });
});
