import type { SessionEntry } from "@tau-agent/rpc-protocol";
import { SessionTree } from "@tau-agent/sessions/log";
import { describe, expect, it } from "vitest";
import { RuleHistory } from "./rule-history.ts";

function sessionTree() {
  const tree = new SessionTree();
  const add = (fields: object) => {
    const entry = { ...tree.createNode(), ...fields } as SessionEntry;
    tree.adopt(entry);
    return entry.id;
  };
  const reply = (stopReason = "stop") =>
    add({ type: "message", message: { role: "assistant", stopReason } });
  const remind = (rule: string, contextMode = "discard") =>
    add({
      type: "custom_message",
      customType: "ttsr-injection",
      details: { rules: [rule], contextMode },
    });
  return { tree, add, reply, remind };
}

const once = { mode: "once", gap: 10 } as const;
const after = (gap: number) => ({ mode: "after-gap", gap }) as const;

describe("the history of rules on a branch", () => {
  it("counts the replies since the match, except failed and stopped ones", () => {
    const { tree, reply, remind } = sessionTree();
    const history = new RuleHistory();
    reply("aborted");
    remind("a");
    for (const stopReason of ["stop", "error", "aborted", "toolUse"]) reply(stopReason);
    reply();
    remind("b", "keep");
    history.follow(tree);
    expect(history.allows("a", after(2))).toBe(true);
    expect(history.allows("a", after(3))).toBe(false);
    expect(history.allows("b", after(0))).toBe(false);
    expect(history.allows("a", once)).toBe(false);
    expect(history.allows("c", once)).toBe(true);
  });

  it("follows the branch after a move in the tree or to another session", () => {
    const { tree, reply, remind } = sessionTree();
    const history = new RuleHistory();
    const root = reply();
    remind("a");
    history.follow(tree);
    expect(history.allows("a", once)).toBe(false);
    tree.moveLeaf(root);
    history.follow(tree);
    expect(history.allows("a", once)).toBe(true);
    remind("b");
    history.follow(tree);
    expect(["a", "b"].map((name) => history.allows(name, once))).toEqual([true, false]);
    tree.moveLeaf(null);
    history.follow(tree);
    expect(history.allows("b", once)).toBe(true);
    history.follow(sessionTree().tree);
    expect(history.allows("b", once)).toBe(true);
  });

  it("reads the entries of other hosts, and skips damaged ones", () => {
    const { tree, add } = sessionTree();
    const history = new RuleHistory();
    add({ type: "ttsr_injection", injectedRules: ["a", 1] });
    add({ type: "ttsr_injection" });
    add({ type: "custom_message", customType: "ttsr-injection" });
    add({ type: "custom_message", customType: "ttsr-injection", details: { rules: "b" } });
    history.follow(tree);
    expect(["a", "b"].map((name) => history.allows(name, once))).toEqual([false, true]);
  });
});
