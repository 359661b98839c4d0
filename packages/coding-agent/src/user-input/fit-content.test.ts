import { toolCall, turn } from "@tau-agent/ai/testing";
import type { ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { createTestSession } from "../create/__fixtures__/test-session.ts";
import { fitResult } from "./fit-content.ts";

/** A single red pixel. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** The content in the conversation after a tool returned `content`. */
async function resultOf(content: unknown): Promise<ToolResultMessage["content"]> {
  const test = await createTestSession(
    ({ toolResults }) => (toolResults.length === 0 ? turn([toolCall("shot", {})]) : "seen"),
    {
      customTools: [
        {
          name: "shot",
          description: "Gives what the test wants",
          parameters: { type: "object" },
          execute: async () => ({ content: content as ToolResultMessage["content"] }),
        },
      ],
    },
  );
  expect(await test.session.prompt("go")).toMatchObject({ status: "completed" });
  const message = test.session.messages.find(({ role }) => role === "toolResult");
  return (message as ToolResultMessage).content;
}

const text = (value: string | object) => ({ type: "text", text: value });

describe("content returned by a tool", () => {
  it("has images of the type that their bytes show, even from a data URL", async () => {
    const image = { type: "image", data: `data:image/jpeg;base64,${png}`, mimeType: "image/jpeg" };
    const fitted = { type: "image", data: png, mimeType: "image/png" };
    expect(await resultOf([image, text("below")])).toEqual([fitted, text("below")]);
  });

  it("keeps valid usage and flags, and drops invalid ones", async () => {
    const content: [] = [];
    const wrong = { content, usage: { input: "many" }, isError: "yes" } as never;
    expect(await fitResult(wrong, { get: () => true as never })).toEqual({ content });
  });

  it("has a note instead of an image that no vendor accepts", async () => {
    const broken = { type: "image", data: png.slice(0, 40), mimeType: "image/png" };
    expect(await resultOf([text("here"), broken])).toEqual([
      text("here"),
      text(expect.stringContaining("An image is left out")),
    ]);
  });

  it.each([
    ["a resource", [{ type: "resource", resource: { uri: "x://y", text: "inside" } }], "inside"],
    ["text", "plain", "plain"],
    ["texts", ["plain"], "plain"],
    ["an image without data", [{ type: "image" }], '{"type":"image"}'],
    ["a text without text", [{ type: "text" }], '{"type":"text"}'],
    ["null", [null], "null"],
    ["nothing", undefined, "(no output)"],
  ])("becomes text if it is %s", async (_, content, shown) => {
    expect(await resultOf(content)).toEqual([text(shown)]);
  });
});
