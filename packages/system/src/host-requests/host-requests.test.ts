import type { HostRequestResolved, OpenHostRequest } from "@tau-agent/rpc-protocol";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { readDialogResult } from "./dialogs.ts";
import { HostRequests, type RequestOrder, type RequestSink, Withdrawal } from "./host-requests.ts";

const order: RequestOrder<unknown> = {
  method: "dialog",
  params: { method: "input", title: "Name" },
  onTimeout: "cancel",
  unanswered: "cancelled",
  read: readDialogResult("input"),
};

function attached() {
  const requests = new HostRequests();
  const shown: OpenHostRequest[] = [];
  const ended: HostRequestResolved[] = [];
  const sink: RequestSink = {
    answers: () => true,
    open: (request) => shown.push(request) > 0,
    closed: (_, resolved) => void ended.push(resolved),
  };
  requests.attach(sink);
  return { requests, shown, ended };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("a host request", () => {
  it("has a UUID, is listed while it is open, and ends with the answer", async () => {
    const { requests, shown, ended } = attached();
    const asked = requests.ask({ ...order, toolCallId: "t1" });
    const [request] = shown;
    expect(request?.id).toMatch(uuid);
    expect(requests.pending).toEqual([request]);
    expect(request).toEqual({
      id: request?.id,
      method: "dialog",
      toolCallId: "t1",
      onTimeout: "cancel",
      params: order.params,
    });
    requests.answer(request?.id ?? "", { result: { value: "Ada" } });
    expect(await asked).toEqual({ by: "client", outcome: "answered", result: { value: "Ada" } });
    expect(requests.pending).toEqual([]);
    expect(ended).toEqual([
      { type: "host_request_resolved", id: request?.id, by: "client", outcome: "answered" },
    ]);
  });

  it("refuses a second answer, an unknown id and an invalid answer", async () => {
    const { requests, shown } = attached();
    const asked = requests.ask(order);
    const id = shown[0]?.id ?? "";
    const answer = (result: unknown) => () => requests.answer(id, { result });
    expect(answer({ value: 1 })).toThrow(expect.objectContaining({ code: "invalid_response" }));
    expect(answer({ value: 1 })).toThrow("result.value");
    expect(answer(null)).toThrow(expect.objectContaining({ code: "invalid_response" }));
    expect(requests.size).toBe(1);
    requests.answer(id, { result: { cancelled: true } });
    expect((await asked).outcome).toBe("cancelled");
    expect(answer({ value: "x" })).toThrow(expect.objectContaining({ code: "request_closed" }));
    expect(() => requests.answer("nobody", { result: {} })).toThrow(
      expect.objectContaining({ code: "request_not_found" }),
    );
  });

  it.each([
    ["back", -86_400_000],
    ["forward", 86_400_000],
  ])("times out after the set time even if the clock is set %s", async (_, byMs) => {
    const { requests } = attached();
    const started = performance.now();
    const asked = requests.ask({ ...order, timeoutMs: 60 });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + byMs });
    try {
      expect(await asked).toMatchObject({ by: "timeout" });
      expect(performance.now() - started).toBeGreaterThan(58);
    } finally {
      vi.useRealTimers();
    }
  });

  it("states its deadline and ends at it", async () => {
    vi.useFakeTimers({ now: 1_000 });
    try {
      const { requests, shown, ended } = attached();
      const asked = requests.ask({ ...order, timeoutMs: 2 ** 31 + 5000 });
      expect(shown[0]?.deadlineAt).toBe(1_000 + 2 ** 31 + 5000);
      await vi.advanceTimersByTimeAsync(2 ** 31);
      expect(requests.size).toBe(1);
      await vi.advanceTimersByTimeAsync(5000);
      expect(await asked).toEqual({ by: "timeout", outcome: "cancelled" });
      expect(ended).toMatchObject([{ by: "timeout", outcome: "cancelled" }]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is withdrawn by its signal, with the reason if there is one", async () => {
    const { requests, ended } = attached();
    const controllers = [new AbortController(), new AbortController()];
    const asked = controllers.map(({ signal }) => requests.ask({ ...order, signal }));
    controllers[0]?.abort();
    controllers[1]?.abort(new Withdrawal("rule", "allow"));
    expect(await Promise.all(asked)).toEqual([
      { by: "abort", outcome: "cancelled" },
      { by: "rule", outcome: "allow" },
    ]);
    expect(ended.map(({ by }) => by)).toEqual(["abort", "rule"]);
  });

  it("ends as it did where it was first asked, with the same outcome", async () => {
    const { requests, ended } = attached();
    const closed = { type: "host_request_resolved", id: "of a subagent" } as const;
    const reasons = [
      { ...closed, by: "rule", outcome: "allow" },
      { ...closed, by: "timeout", outcome: "deny" },
      // An answer given there is not an answer of this host's client.
      { ...closed, by: "client", outcome: "allow" },
    ];
    const controller = reasons.map(() => new AbortController());
    const asked = controller.map(({ signal }) => requests.ask({ ...order, signal }));
    for (const [index, reason] of reasons.entries()) controller[index]?.abort(reason);
    const expected = [
      { by: "rule", outcome: "allow" },
      { by: "timeout", outcome: "deny" },
      { by: "abort", outcome: "cancelled" },
    ];
    expect(await Promise.all(asked)).toEqual(expected);
    expect(ended).toMatchObject(expected);
  });

  it("ends immediately and is never shown if no client answers its method", async () => {
    const nobody = new HostRequests();
    expect(await nobody.ask(order)).toEqual({ by: "nobody", outcome: "cancelled" });
    const { requests, shown } = attached();
    requests.end();
    expect(await requests.ask(order)).toEqual({ by: "end", outcome: "cancelled" });
    expect(shown).toEqual([]);
  });

  it("is shown again to the next sink, and ends if that cannot answer it", async () => {
    const { requests, shown } = attached();
    const asked = requests.ask(order);
    const again: OpenHostRequest[] = [];
    const sink = {
      answers: () => true,
      open: (request: OpenHostRequest) => again.push(request) > 0,
      closed: () => {},
    };
    requests.attach(sink);
    expect(again).toEqual(shown);
    requests.attach({ ...sink, answers: () => false });
    expect(await asked).toEqual({ by: "timeout", outcome: "cancelled" });
  });
});

it("keeps a thousand open requests in order and ends each once", async () => {
  const { requests, shown, ended } = attached();
  const asked = Array.from({ length: 1000 }, () => requests.ask(order));
  expect(requests.pending).toEqual(shown);
  for (const { id } of shown.toReversed()) requests.answer(id, { result: { value: id } });
  const results = await Promise.all(asked);
  expect(results.map(({ result }) => result)).toEqual(shown.map(({ id }) => ({ value: id })));
  expect(new Set(ended.map(({ id }) => id)).size).toBe(1000);
});

it("ends exactly once, whatever happens in whatever order", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom("answer", "refuse", "withdraw", "bad"), at: fc.nat(5) }),
    fc.constant({ kind: "ask", at: 0 }),
    fc.constant({ kind: "show", at: 0 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { requests, shown, ended } = attached();
      const asked: Promise<unknown>[] = [];
      for (const { kind, at } of steps) {
        const id = shown[at]?.id ?? "none";
        const attempt = (act: () => void): void => {
          const isOpen = requests.get(id) !== undefined;
          const refused = kind === "bad" || !isOpen;
          if (refused) expect(act).toThrow();
          else act();
        };
        if (kind === "ask") asked.push(requests.ask(order));
        else if (kind === "show") requests.show();
        else if (kind === "answer") {
          attempt(() => requests.answer(id, { result: { value: "" } }));
        } else if (kind === "bad") attempt(() => requests.answer(id, { result: 1 }));
        else if (kind === "refuse") attempt(() => requests.answer(id, { error: "no" }));
        else requests.withdraw(id, new Withdrawal("rule"));
      }
      requests.end();
      await Promise.all(asked);
      expect(ended.map(({ id }) => id).sort()).toEqual(
        [...new Set(shown.map(({ id }) => id))].sort(),
      );
    }),
  );
});
