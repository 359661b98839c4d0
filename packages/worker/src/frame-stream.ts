import type { Redis } from "ioredis";

/** A frame of a host. */
export type Frame = Readonly<Record<string, unknown>>;

/** How many frames a stream keeps. */
const MAX_FRAMES = 10_000;
/** How far back a result is looked for. */
const RECENT = 1_000;

/** The events of a session in Redis, numbered over all workers. */
export class FrameStream {
  readonly #redis: Redis;
  readonly #sessionId: string;
  #seq: number;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(redis: Redis, sessionId: string, seq: number) {
    this.#redis = redis;
    this.#sessionId = sessionId;
    this.#seq = seq;
  }

  /** Goes on after the last frame of the stream. */
  static async open(redis: Redis, sessionId: string): Promise<FrameStream> {
    const [entry] = await redis.xrevrange(nameOf(sessionId), "+", "-", "COUNT", 1);
    const { seq } = entry === undefined ? { seq: 0 } : frameOf(entry);
    return new FrameStream(redis, sessionId, typeof seq === "number" ? seq : 0);
  }

  /** Adds a frame after those before it. */
  add(frame: Frame): void {
    this.#seq += 1;
    const numbered = { ...frame, sessionId: this.#sessionId, seq: this.#seq };
    const text = JSON.stringify(numbered);
    this.#last = this.#last.then(() =>
      this.#redis.xadd(nameOf(this.#sessionId), "MAXLEN", "~", MAX_FRAMES, "*", "frame", text),
    );
    // Reported by `flushed`.
    this.#last.catch(() => undefined);
  }

  /** Fulfilled once all frames are in the stream. */
  async flushed(): Promise<void> {
    await this.#last;
  }

  /** Whether the result of a prompt is in the stream. */
  async hasResult(promptId: string): Promise<boolean> {
    await this.#last;
    const recent = await this.#redis.xrevrange(nameOf(this.#sessionId), "+", "-", "COUNT", RECENT);
    return recent.some((entry) => {
      const frame = frameOf(entry);
      return frame.type === "prompt_result" && frame.promptId === promptId;
    });
  }
}

function nameOf(sessionId: string): string {
  return `tau:events:${sessionId}`;
}

function frameOf([, fields]: [string, string[]]): Frame {
  const at = fields.indexOf("frame");
  return JSON.parse(fields[at + 1] ?? "{}") as Frame;
}
