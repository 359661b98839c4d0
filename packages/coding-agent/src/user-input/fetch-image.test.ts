import { describe, expect, it } from "vitest";
import { fetchImage } from "./fetch-image.ts";

const png = () => new Response("abc", { headers: { "content-type": "image/png; q=1" } });
const moved = (location: string) => new Response(null, { status: 302, headers: { location } });

/** Gets an image from servers of the test, by address; what was asked for is kept. */
async function get(url: string, servers: Record<string, () => Response | Promise<Response>>) {
  const asked: string[] = [];
  const fetch = async (target: unknown): Promise<Response> => {
    asked.push(String(target));
    const answer = servers[String(target)];
    if (answer === undefined) {
      throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
    }
    return answer();
  };
  const image = await fetchImage(url, fetch as typeof globalThis.fetch);
  return { image, asked };
}

describe("an image of a URL", () => {
  it("has the type that the server declares", async () => {
    const { image } = await get("https://a.test/x", { "https://a.test/x": png });
    expect(image).toEqual({ type: "image", data: "YWJj", mimeType: "image/png" });
  });

  it("is fetched through redirects", async () => {
    const { asked } = await get("https://a.test/x", {
      "https://a.test/x": () => moved("/y"),
      "https://a.test/y": () => moved("https://b.test/z"),
      "https://b.test/z": png,
    });
    expect(asked).toEqual(["https://a.test/x", "https://a.test/y", "https://b.test/z"]);
  });

  it.each(["http://a.test/x", "file:///etc/passwd", "not a url"])(
    "is not fetched from %s, nor after a redirect to it",
    async (target) => {
      await expect(get(target, { [target]: png })).rejects.toMatchObject({ code: "invalid_url" });
      if (!URL.canParse(target)) return;
      const servers = { "https://a.test/x": () => moved(target), [target]: png };
      await expect(get("https://a.test/x", servers)).rejects.toThrow(target);
    },
  );

  it.each([
    ["says no", () => new Response("", { status: 404 }), "HTTP 404"],
    ["redirects for ever", () => moved("https://a.test/x"), "too many times"],
    ["sends too much", () => new Response(new Uint8Array(21 * 1024 * 1024)), "20 MiB"],
    ["is not there", undefined, "connect ECONNREFUSED"],
  ])("whose server %s fails with the URL and the reason", async (_, answer, reason) => {
    const servers = answer === undefined ? {} : { "https://a.test/x": answer };
    const fetching = get("https://a.test/x", servers);
    await expect(fetching).rejects.toMatchObject({
      code: "fetch_failed",
      message: expect.stringMatching(`https://a\\.test/x.*${reason}`),
    });
  });
});
