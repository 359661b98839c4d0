import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";

export type Frame = Readonly<Record<string, unknown>>;

const MAX_FRAMES = 10_000;
/** How many of the latest frames are searched for a result. */
const RECENT = 1_000;

/**
 * Arguments: stream, writer; id, seq of the last frame, limit, then the frames. Returns nothing if another worker is
 * the writer. A batch that is resent after a lost connection is added only once.
 */
const append = `
if redis.call("HGET", KEYS[2], "id") ~= ARGV[1] then return false end
local seq = tonumber(redis.call("HGET", KEYS[2], "seq") or 0)
if seq >= tonumber(ARGV[2]) then return 1 end
for at = 4, #ARGV do
  redis.call("XADD", KEYS[1], "MAXLEN", "~", ARGV[3], "*", "frame", ARGV[at])
end
redis.call("HSET", KEYS[2], "seq", ARGV[2])
return 1
`;

/**
 * The events of a session in Redis, numbered across all workers. Only the latest writer can add frames: a worker that
 * was paused adds nothing after another one took over.
 */
export class FrameStream {
  readonly #redis: Redis;
  readonly #sessionId: string;
  readonly #id = randomUUID();
  #seq: number | undefined;
  #waiting: Frame[] = [];
  #isWriting = false;
  #written: Promise<void> | undefined;
  #isLost = false;

  constructor(redis: Redis, sessionId: string) {
    this.#redis = redis;
    this.#sessionId = sessionId;
  }

  /** Adds a frame after the earlier ones. The first frame makes this the writer of the stream. */
  add(frame: Frame): void {
    this.#waiting.push(frame);
    if (this.#isWriting) return;
    this.#isWriting = true;
    this.#written = this.#write();
    // `flushed` reports the failure.
    this.#written.catch(() => undefined);
  }

  /**
   * Resolves once all frames are in the stream.
   *
   * @throws if another worker has become the writer
   */
  async flushed(): Promise<void> {
    await this.#written;
    if (this.#isLost) throw new Error("another worker has taken the session over");
  }

  async hasResult(promptId: string): Promise<boolean> {
    await this.flushed();
    const recent = await this.#redis.xrevrange(this.#name, "+", "-", "COUNT", RECENT);
    return recent.some((entry) => {
      const frame = frameOf(entry);
      const isFinal = frame.type === "prompt_result" && frame.status !== "paused";
      return isFinal && frame.promptId === promptId;
    });
  }

  get #name(): string {
    return `tau:events:${this.#sessionId}`;
  }

  get #writer(): string {
    return `tau:writer:${this.#sessionId}`;
  }

  async #write(): Promise<void> {
    try {
      let seq = this.#seq ?? (await this.#begin());
      while (this.#waiting.length > 0 && !this.#isLost) {
        const texts = this.#waiting.splice(0).map((frame) => {
          seq += 1;
          return JSON.stringify({ ...frame, sessionId: this.#sessionId, seq });
        });
        this.#seq = seq;
        const words = [this.#id, seq, MAX_FRAMES, ...texts];
        const added = await this.#redis.eval(append, 2, this.#name, this.#writer, ...words);
        this.#isLost = added === null;
      }
    } finally {
      // Reset in the same step as the last check: the next frame must start a new write.
      this.#isWriting = false;
    }
  }

  /** Locks earlier writers out, and returns the number of their last frame. */
  async #begin(): Promise<number> {
    await this.#redis.hset(this.#writer, "id", this.#id);
    const [entry] = await this.#redis.xrevrange(this.#name, "+", "-", "COUNT", 1);
    const { seq } = entry === undefined ? {} : frameOf(entry);
    // The stream or its latest frames may have been deleted.
    const written = Number((await this.#redis.hget(this.#writer, "seq")) ?? 0);
    return Math.max(written, typeof seq === "number" ? seq : 0);
  }
}

function frameOf([, fields]: [string, string[]]): Frame {
  const at = fields.indexOf("frame");
  return JSON.parse(fields[at + 1] ?? "{}") as Frame;
}
