import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { classifyFailure, ProviderError } from "./errors.ts";
import type { Delta, Provider, StreamOptions } from "./provider.ts";
import { createStream, type StreamResult, stream } from "./stream.ts";

const model: Model = {
  id: "m",
  name: "M",
  api: "own",
  provider: "p",
  baseUrl: "http://localhost",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1000,
  maxTokens: 100,
};

const text: Delta = { type: "text", key: 0, text: "Hi" };
const stop: Delta = { type: "stop", reason: "stop" };
const never = new Promise<never>(() => {});

type Chunks = (options: StreamOptions) => AsyncIterable<Delta>;

function providerOf(chunks: Chunks, more: Partial<Provider> = {}): Provider {
  return {
    api: "own",
    encode: () => ({ body: "encoded" }),
    open: async (_model, _request, options) => chunks(options),
    reduce: () => (chunk) => [chunk as Delta],
    classify: (error) => ({ code: "unknown", message: String(error), cause: error }),
    ...more,
  };
}

function run(load: () => Promise<Provider>, options: StreamOptions = {}) {
  return createStream({ providers: { own: load } })(model, { messages: [] }, options);
}

async function finish(reply: ReturnType<typeof run>) {
  const types: string[] = [];
  for (;;) {
    const next = await reply.next();
    if (next.done) return { types, ...next.value };
    types.push(next.value.type);
  }
}

async function* from(...deltas: (Delta | Promise<Delta>)[]): AsyncGenerator<Delta> {
  for (const delta of deltas) yield await delta;
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("stream", () => {
  it("uses a provider that was added to the table", async () => {
    const { types, message } = await finish(run(async () => providerOf(() => from(text, stop))));
    expect(types).toEqual(["start", "text_start", "text_delta", "text_end", "done"]);
    expect(message.content).toEqual([{ type: "text", text: "Hi" }]);
  });

  it("lists the available wire formats if a model requires an unknown one", async () => {
    const { types, error } = await finish(stream({ ...model, api: "morse" }, { messages: [] }, {}));
    expect(types).toEqual(["start", "error"]);
    expect(error).toMatchObject({ code: "invalid_request" });
    expect(error?.message).toMatch(/p\/m speaks morse.*anthropic-messages/);
  });

  it.each<[string, () => Promise<Provider>]>([
    ["before it starts", () => Promise.reject(new TypeError("loaded all the same"))],
    ["while its code loads", () => never],
    ["while it connects", async () => providerOf(() => from(), { open: () => never })],
    ["between two events", async () => providerOf(() => from(text, never))],
  ])("ends as aborted if the user aborts %s", async (when, load) => {
    const user = new AbortController();
    if (when === "before it starts") user.abort();
    else setTimeout(() => user.abort(), 10);
    const { message, error } = await finish(run(load, { signal: user.signal }));
    expect(message).toMatchObject({ stopReason: "aborted", errorMessage: "Request was aborted" });
    expect(error?.code).toBe("aborted");
  });

  it("leaves no listener on the user's signal", async () => {
    const user = new AbortController();
    let listeners = 0;
    const { signal } = user;
    const [add, remove] = [signal.addEventListener, signal.removeEventListener].map((method) =>
      method.bind(signal),
    );
    signal.addEventListener = (...given: Parameters<typeof signal.addEventListener>) => {
      listeners++;
      add?.(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof signal.removeEventListener>) => {
      listeners--;
      remove?.(...given);
    };
    await finish(run(async () => providerOf(() => from(text, stop)), { signal }));
    expect(listeners).toBe(0);
  });

  it("gives up if the first event does not arrive", async () => {
    const load = async () => providerOf(() => from(never));
    const { error } = await finish(run(load, { firstEventTimeoutMs: 20 }));
    expect(error).toMatchObject({ code: "timeout", isRetryable: true });
    expect(error?.message).toMatch(
      /^The model sent no event for 0.02 seconds \(p at http:\/\/localhost\)\. Is the server busy/,
    );
  });

  it("does not extend the wait for the first event because of headers or pings", async () => {
    let pingsSent = 0;
    async function* pings(): AsyncGenerator<Delta> {
      for (;;) {
        await later(10);
        pingsSent += 1;
        yield { type: "ping" } as unknown as Delta;
      }
    }
    const late = providerOf(pings, {
      open: async () => {
        await later(30);
        return pings();
      },
      reduce: () => () => [],
    } as Partial<Provider>);
    const { error } = await finish(run(async () => late, { firstEventTimeoutMs: 60 }));
    expect(error?.message).toContain("The model sent no event for 0.06 seconds");
    // If headers or pings restarted the wait, it would never end.
    expect(pingsSent).toBeLessThan(60);
  });

  it("counts silence after the headers", async () => {
    const load = async () => providerOf(() => from(never));
    const limits = { firstEventTimeoutMs: 5_000, idleTimeoutMs: 20 };
    const { error } = await finish(run(load, limits));
    expect(error).toMatchObject({ code: "timeout", isRetryable: true });
    expect(error?.message).toContain("The model went silent for 0.02 seconds");
  });

  it("accepts a ping within the reply as a sign of life, and 0 as no limit", async () => {
    async function* slow(): AsyncGenerator<Delta> {
      yield text;
      for (let count = 0; count < 5; count++) {
        await later(15);
        yield { type: "ping" } as unknown as Delta;
      }
      yield stop;
    }
    const reduce = () => (chunk: unknown) =>
      (chunk as { type: string }).type === "ping" ? [] : [chunk as Delta];
    const load = async () => providerOf(slow, { reduce });
    expect((await finish(run(load, { idleTimeoutMs: 40 }))).error).toBeUndefined();
    const none = { firstEventTimeoutMs: 0, idleTimeoutMs: 0 };
    expect((await finish(run(load, none))).error).toBeUndefined();
  });

  it("names the provider, the base URL and the next step if nobody listens there", async () => {
    const system = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), {
      code: "ECONNREFUSED",
    });
    const secret = { ...model, baseUrl: "http://me:password@localhost:1/v1?key=abc" };
    const provider = providerOf(() => from(), {
      open: () => Promise.reject(new TypeError("fetch failed", { cause: system })),
      classify: (error) => classifyFailure({ message: String(error), cause: error }),
    });
    const call = createStream({ providers: { own: async () => provider } });
    const { error, message } = await finish(call(secret, { messages: [] }, {}));
    expect(error).toMatchObject({ code: "network", isRetryable: true });
    expect(message.errorMessage).toBe(
      "connect ECONNREFUSED 127.0.0.1:1 (p at http://localhost:1/v1). Is the server running?",
    );
  });

  it("gives up on a silent model, but not on one that keeps sending", async () => {
    async function* slow(): AsyncGenerator<Delta> {
      for (let count = 0; count < 6; count++) {
        await later(15);
        yield text;
      }
      await never;
    }
    const { error, message } = await finish(
      run(async () => providerOf(slow), { idleTimeoutMs: 40 }),
    );
    expect(error).toMatchObject({ code: "timeout" });
    expect(message.content).toEqual([{ type: "text", text: "Hi".repeat(6) }]);
  });

  it("does not count a reader's pause as silence of the model", async () => {
    const reply = run(async () => providerOf(() => from(text, text, stop)), { idleTimeoutMs: 30 });
    let step = await reply.next();
    while (!step.done) {
      if ("delta" in step.value) await later(70);
      step = await reply.next();
    }
    expect(step.value.error).toBeUndefined();
    expect(step.value.message.content).toEqual([{ type: "text", text: "HiHi" }]);
  });

  it("aborts the request's signal on failure and on a time limit", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const watch =
      (chunks: Chunks): Chunks =>
      (options) => {
        signals.push(options.signal);
        return chunks(options);
      };
    const silent = providerOf(watch(() => from(never)));
    await finish(run(async () => silent, { firstEventTimeoutMs: 5 }));
    const broken = providerOf(watch(() => from(text, Promise.reject(new Error("broke")))));
    const { error } = await finish(run(async () => broken));
    expect(error?.message).toContain("broke");
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
  });

  it("aborts the request if its reader leaves early", async () => {
    let signal: AbortSignal | undefined;
    const provider = providerOf((options) => {
      signal = options.signal;
      return from(text, text, text, stop);
    });
    for await (const event of run(async () => provider)) {
      if (event.type === "text_delta") break;
    }
    expect(signal?.aborted).toBe(true);
  });

  it("waits briefly for usage after the terminal event, whatever happens then", async () => {
    const usage: Delta = { type: "usage", tokens: { input: 5 } };
    const broken = Promise.reject(new Error("late"));
    broken.catch(() => {});
    const load = async () => providerOf(() => from(text, stop, usage, broken));
    const { message, error } = await finish(run(load));
    expect(error).toBeUndefined();
    expect(message.usage.input).toBe(5);
  });

  it("keeps a complete reply if what follows its terminal event cannot be read", async () => {
    const reduce = () => (chunk: unknown) => {
      if (chunk === usage) throw new TypeError("odd");
      return [chunk as Delta];
    };
    const usage: Delta = { type: "usage", tokens: { input: 5 } };
    const load = async () => providerOf(() => from(text, stop, usage), { reduce });
    const { message, error } = await finish(run(load));
    expect(error).toBeUndefined();
    expect(message.content).toEqual([{ type: "text", text: "Hi" }]);
  });

  it("passes on what a chunk says before it cannot be read", async () => {
    const reduce = () =>
      function* () {
        yield text;
        throw new TypeError("odd");
      };
    const { types, error } = await finish(
      run(async () => providerOf(() => from(text), { reduce })),
    );
    expect(types).toEqual(["start", "text_start", "text_delta", "error"]);
    expect(error?.message).toContain("odd");
  });

  it("passes on nothing more if it is aborted while a stream event is handled", async () => {
    const controller = new AbortController();
    const onStreamEvent = async () => {
      controller.abort();
      await later(5);
    };
    const { signal } = controller;
    const load = async () => providerOf(() => from(text, stop));
    const { types, error } = await finish(run(load, { signal, onStreamEvent }));
    await later(10);
    expect(types).toEqual(["start", "error"]);
    expect(error).toMatchObject({ code: "aborted" });
  });

  it("ends at once if nothing can follow, and reads the rest in the background", async () => {
    let isRead = false;
    async function* chunks(): AsyncGenerator<Delta> {
      yield text;
      yield stop;
      await later(20);
      isRead = true;
    }
    const load = async () => providerOf(chunks, { endsAtStop: true });
    await finish(run(load));
    expect(isRead).toBe(false);
    await later(40);
    expect(isRead).toBe(true);
  });

  it("converts errors thrown by a provider to typed errors", async () => {
    const classify = (): { code: "auth"; message: string } => ({ code: "auth", message: "No" });
    const open = () => Promise.reject(new TypeError("x"));
    const { message, error } = await finish(
      run(async () => providerOf(() => from(), { open, classify })),
    );
    expect(error).toMatchObject({
      code: "auth",
      message: "No (p at http://localhost). Check the API key and what it may be used for.",
    });
    expect(message).toMatchObject({
      stopReason: "error",
      errorMessage: expect.stringMatching(/^No /),
    });
    const own = new ProviderError({ code: "overloaded", message: "Full" });
    const thrown = await finish(run(() => Promise.reject(own)));
    expect(thrown.error).toBe(own);
  });

  it("has a constant cost per delta, however long a reply gets", async () => {
    const time = async (count: number): Promise<number> => {
      async function* chunks(): AsyncGenerator<Delta> {
        yield { type: "tool_call", key: 0, id: "c", name: "write", arguments: '{"text":"' };
        for (let at = 0; at < count; at++) {
          yield { type: "tool_call", key: 0, arguments: "some words " };
        }
        yield { type: "tool_call", key: 0, arguments: '"}' };
        yield stop;
      }
      const started = performance.now();
      const { message }: StreamResult = await finish(run(async () => providerOf(chunks)));
      expect(JSON.stringify(message.content)).toHaveLength(count * 11 + 69);
      return (performance.now() - started) / count;
    };
    await time(2000);
    const short = await time(2000);
    // Quadratic work would cost about 20 times as much; the rest of the margin is for a busy machine.
    expect(await time(40_000)).toBeLessThan(short * 5 + 0.01);
  });
});
