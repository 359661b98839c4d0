import { toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import {
  createTestAgent,
  ok,
  resultTexts,
  tool,
  unpaired,
  user,
} from "./__fixtures__/test-agent.ts";
import type { InterruptMode } from "./loop/run.ts";
import { SKIPPED_TEXT } from "./loop/tool-execution.ts";

const call = (id: string, name = "write") => toolCall(name, {}, { id });

/** Two calls; the first one queues steering messages. */
async function steered(
  interruptMode: InterruptMode,
  texts: string[],
  mode: "all" | "one-at-a-time",
) {
  const asked: string[] = [];
  const { agent, recorded } = createTestAgent(
    (request) => {
      asked.push(request.lastUserText);
      return request.index === 0 ? turn([call("a"), call("b")]) : `reply ${request.index}`;
    },
    {
      tools: [
        tool("write", async (_, { toolCallId }) => {
          if (toolCallId === "a") for (const text of texts) agent.steering.enqueue(user(text));
          return ok("ran");
        }),
      ],
    },
  );
  agent.interruptMode = interruptMode;
  agent.steering.mode = mode;
  await agent.run([user("go")]);
  return { asked, recorded, roles: recorded.map(({ role }) => role) };
}

describe("steering", () => {
  it("interrupts between tools and answers the remaining calls as skipped", async () => {
    const { recorded, roles } = await steered("immediate", ["stop"], "one-at-a-time");
    expect(resultTexts(recorded)).toEqual({ a: "ran", b: SKIPPED_TEXT });
    expect(unpaired(recorded)).toEqual([]);
    expect(roles).toEqual(["user", "assistant", "toolResult", "toolResult", "user", "assistant"]);
    expect(recorded[3]).toMatchObject({ isError: true, details: { skipped: "steering" } });
  });

  it("waits for all tools in the mode wait", async () => {
    const { recorded, roles } = await steered("wait", ["stop"], "one-at-a-time");
    expect(resultTexts(recorded)).toEqual({ a: "ran", b: "ran" });
    expect(roles).toEqual(["user", "assistant", "toolResult", "toolResult", "user", "assistant"]);
  });

  it("is delivered one message per turn by default", async () => {
    const { asked } = await steered("immediate", ["first", "second"], "one-at-a-time");
    expect(asked).toEqual(["go", "first", "second"]);
  });

  it("is delivered all at once in the mode all", async () => {
    const { asked, roles } = await steered("immediate", ["first", "second"], "all");
    expect(asked).toEqual(["go", "second"]);
    expect(roles.slice(4)).toEqual(["user", "user", "assistant"]);
  });

  it("never replaces the result of a tool that has run", async () => {
    const { agent, recorded } = createTestAgent([turn([call("a")]), "ok"], {
      tools: [
        tool("write", async () => {
          agent.steering.enqueue(user("now"));
          return ok("really ran");
        }),
      ],
    });
    await agent.run([user("go")]);
    expect(resultTexts(recorded)).toEqual({ a: "really ran" });
  });

  it("continues a reply that had no calls", async () => {
    const { agent, recorded } = createTestAgent(["one", "two"], {
      emit: (event) => {
        if (event.type === "message_update" && agent.steering.size === 0 && recorded.length === 1)
          agent.steering.enqueue(user("wait"));
      },
    });
    await agent.run([user("go")]);
    expect(recorded.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });
});

describe("follow-ups", () => {
  it("are delivered only when no calls and no steering messages are left", async () => {
    const asked: string[] = [];
    const { agent, recorded } = createTestAgent(
      (request) => {
        asked.push(request.lastUserText);
        return request.index === 0 ? turn([call("a")]) : "ok";
      },
      { tools: [tool("write")] },
    );
    agent.followUp.enqueue(user("later"));
    agent.followUp.enqueue(user("last"));
    agent.steering.enqueue(user("soon"));
    await agent.run([user("go")]);
    expect(asked).toEqual(["go", "soon", "later", "last"]);
    expect(unpaired(recorded)).toEqual([]);
  });

  it("are delivered together in the mode all", async () => {
    const asked: string[] = [];
    const { agent } = createTestAgent((request) => {
      asked.push(request.lastUserText);
      return "ok";
    });
    agent.followUp.mode = "all";
    agent.followUp.enqueue(user("one"));
    agent.followUp.enqueue(user("two"));
    await agent.run([user("go")]);
    expect(asked).toEqual(["go", "two"]);
  });

  it("wait when the reply failed", async () => {
    const { agent } = createTestAgent([
      turn("x", { fault: { kind: "status", status: 500, message: "down" } }),
    ]);
    agent.followUp.enqueue(user("later"));
    await agent.run([user("go")]);
    expect(agent.followUp.size).toBe(1);
  });
});

describe("messages for the next turn", () => {
  it("are delivered with the prompt, or during a run with the following turn", async () => {
    const { agent, recorded } = createTestAgent(
      (request) => (request.index === 0 ? turn([call("a")]) : "done"),
      {
        tools: [
          tool("write", async () => {
            agent.nextTurn.enqueue(user("during"));
            return ok("ran");
          }),
        ],
      },
    );
    agent.nextTurn.enqueue(user("before"));
    await agent.run([user("go")]);
    const users = recorded.filter(({ role }) => role === "user");
    expect(users.map((message) => "content" in message && message.content)).toEqual([
      "go",
      "before",
      "during",
    ]);
    expect(resultTexts(recorded)).toEqual({ a: "ran" });
  });

  it("continue a run that would otherwise end", async () => {
    const { agent, recorded } = createTestAgent(({ index }) => {
      if (index === 0) for (const text of ["one", "two"]) agent.nextTurn.enqueue(user(text));
      return `reply ${index}`;
    });
    await agent.run([user("go")]);
    expect(recorded.map(({ role }) => role).join(" ")).toBe(
      "user assistant user assistant user assistant",
    );
  });
});
