/** Runs a `ModelServer` for the parent process, controlled by its `RemoteModelServer`. */
import { now } from "./clock.ts";
import { ModelServer, type Reply } from "./model-server.ts";
import type { ModelServerOrder, ReplyPlan } from "./remote-model-server.ts";

const server = await ModelServer.start();

process.on("message", ({ id, order }: { id: number; order: ModelServerOrder }) => {
  process.send?.({ id, answer: carryOut(order) });
});
process.on("disconnect", () => process.exit());

function carryOut(order: ModelServerOrder): unknown {
  switch (order.type) {
    case "address":
      return server.baseUrl;
    case "reply":
      server.exchanges.length = 0;
      server.replies = order.plans.flatMap((plan) => Array(plan.times ?? 1).fill(reply(plan)));
      return null;
    case "exchanges":
      return server.exchanges;
    case "last-body":
      return server.lastBody.toString();
  }
}

function reply(plan: ReplyPlan): Reply {
  if ("text" in plan) return { ...plan, text: Array(plan.count ?? 1).fill(plan.text) };
  if ("stamps" in plan) {
    return { text: stamps(plan.stamps), pauseMs: plan.pauseMs, eventsPerWrite: 1 };
  }
  return plan;
}

function* stamps(count: number): Generator<string> {
  for (let index = 0; index < count; index++) yield `${now()} `;
}
