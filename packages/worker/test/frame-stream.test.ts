import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { describeWith } from "../../../scripts/testing/describe-with.ts";
import { RedisServer, redisIsMissing } from "../../store-redis/test/redis-server.ts";
import { FrameStream } from "../src/frame-stream.ts";

describeWith(redisIsMissing)("the stream of a session's frames", () => {
  test("has each frame once it is flushed, whenever it came", async () => {
    await using server = await RedisServer.start();
    await using redis = Object.assign(new Redis(server.url), {
      [Symbol.asyncDispose]: async () => redis.disconnect(),
    });
    const events = new FrameStream(redis, "s1");
    for (let round = 0; round < 50; round += 1) {
      events.add({ type: "before", round });
      await events.flushed();
      events.add({ type: "meanwhile", round });
      // Its answer arrives with that of the write: this goes on right after the writer has looked for more.
      await redis.ping();
      events.add({ type: "prompt_result", round });
      await events.flushed();
      expect(await redis.xlen("tau:events:s1")).toBe((round + 1) * 3);
    }
  });
});
