import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { describeWith } from "../../../scripts/testing/describe-with.ts";
import { RedisServer, redisIsMissing } from "../../store-redis/test/redis-server.ts";
import { FrameStream } from "../src/frame-stream.ts";

describeWith(redisIsMissing)("the stream of a session's frames", () => {
  test("contains each frame once after flushing, even if it came during a write", async () => {
    await using server = await RedisServer.start();
    await using redis = Object.assign(new Redis(server.url), {
      [Symbol.asyncDispose]: async () => redis.disconnect(),
    });
    const events = new FrameStream(redis, "s1");
    for (let round = 0; round < 50; round += 1) {
      events.add({ type: "before", round });
      await events.flushed();
      events.add({ type: "meanwhile", round });
      // Its answer arrives with that of the write, so the next frame comes right after the writer's last check.
      await redis.ping();
      events.add({ type: "prompt_result", round });
      await events.flushed();
      expect(await redis.xlen("tau:events:s1")).toBe((round + 1) * 3);
    }
  });
});
