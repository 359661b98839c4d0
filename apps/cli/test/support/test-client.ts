import type { TestHost } from "@tau-agent/conformance";

/** A frame of a host. */
export type Frame = Record<string, unknown>;

/** The operations of a test's client on a host. */
export class TestClient implements AsyncDisposable {
  readonly #host: TestHost;

  constructor(host: TestHost) {
    this.#host = host;
  }

  send(frame: object): void {
    this.#host.send(JSON.stringify(frame));
  }

  async initialize(params: object): Promise<Frame> {
    this.send({ type: "initialize", ...params });
    return this.until({ command: "initialize" });
  }

  /** The next frame with these members, without its number; other frames are skipped. */
  async until(members: Frame): Promise<Frame> {
    for (;;) {
      const frame = await this.#host.next();
      if (frame === undefined) throw new Error(`nothing came like ${JSON.stringify(members)}`);
      const { seq: _, ...shown } = frame;
      if (Object.entries(members).every(([name, value]) => frame[name] === value)) return shown;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host[Symbol.asyncDispose]();
  }
}
