import { ForeignError, type ForeignReply } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { fetchImage } from "./fetch-image.ts";

const url = "https://a.test/x";
const reply = { url, status: 200, contentType: "image/png; q=1", body: Buffer.from("abc") };

const get = (given: Partial<ForeignReply>) => fetchImage(url, async () => ({ ...reply, ...given }));

describe("an image from a URL", () => {
  it("has the type that the server declares", async () => {
    const image = { type: "image", data: "YWJj" };
    expect(await get({})).toEqual({ ...image, mimeType: "image/png" });
    expect(await get({ contentType: "" })).toEqual({ ...image, mimeType: "image/png" });
    expect(await get({ contentType: "image/gif" })).toEqual({ ...image, mimeType: "image/gif" });
  });

  it("is requested with https only, even after redirects", async () => {
    let schemes: readonly string[] = [];
    await fetchImage(url, async (request) => {
      schemes = request.schemes;
      return reply;
    });
    expect(schemes).toEqual(["https:"]);
    for (const target of ["http://a.test/x", "file:///etc/passwd", "not a url"]) {
      const fetching = fetchImage(target, async () => reply);
      await expect(fetching).rejects.toMatchObject({ code: "invalid_url" });
    }
  });

  it("fails with the URL and the reason if it is missing", async () => {
    const failure = (reason: string) => ({
      code: "fetch_failed",
      message: expect.stringMatching(`https://a\\.test/x.*${reason}`),
    });
    await expect(get({ status: 404 })).rejects.toMatchObject(failure("HTTP 404"));
    const refused = fetchImage(url, () => Promise.reject(new ForeignError("it is private")));
    await expect(refused).rejects.toMatchObject(failure("it is private"));
  });
});
