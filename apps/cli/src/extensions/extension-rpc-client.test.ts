import { command, commands } from "@tau-agent/rpc-protocol";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { readEnvironment } from "../process/environment.ts";
import { extensionRpcClient } from "./extension-rpc-client.ts";

type Method = (this: object, ...values: unknown[]) => Promise<unknown>;

/** Calls a method of the class; returns its result and the command that it sent. */
async function call(name: string, values: readonly unknown[], answer: unknown) {
  const methods = Reflect.get(extensionRpcClient(readEnvironment()), "prototype");
  const sent: unknown[] = [];
  const request = async (...frame: unknown[]): Promise<unknown> => {
    sent.push(frame);
    return answer;
  };
  const result = await (Reflect.get(methods, name) as Method).call({ request }, ...values);
  return { sent: sent[0], result };
}

afterEach(() => {
  Reflect.deleteProperty(commands, "get_invented");
});

describe("the client that extensions import", () => {
  it("takes a command's main fields as positional arguments", async () => {
    const { sent, result } = await call("setModel", ["here", "this"], { id: "this" });
    expect(sent).toEqual(["set_model", { provider: "here", modelId: "this" }]);
    expect(result).toEqual({ id: "this" });
  });

  it("unwraps the only member of a getter's result", async () => {
    expect((await call("getMessages", [], { messages: [1] })).result).toEqual([1]);
    expect((await call("getTree", [], { tree: [], leafId: null })).result).toHaveProperty("tree");
    expect((await call("clone", [], { cancelled: true })).result).toEqual({ cancelled: true });
    expect((await call("exportHtml", [], { path: "a" })).result).toEqual({ path: "a" });
  });

  it("has a method for a command that is added to the table", async () => {
    const params = () => z.object({ of: z.string() });
    const result = () => z.object({ names: z.array(z.string()) });
    const summary = "Lists names.";
    const definition = command({ summary, params, result, positional: ["of"] });
    Object.assign(commands, { get_invented: definition });
    const { sent, result: names } = await call("getInvented", ["this"], { names: ["one"] });
    expect(sent).toEqual(["get_invented", { of: "this" }]);
    expect(names).toEqual(["one"]);
  });
});
