import { once } from "node:events";
import {
  type AddressInfo,
  createServer,
  connect as dial,
  type Server,
  type Socket,
} from "node:net";

/** A proxy between a driver and its server, which can drop answers. */
export class ForgetfulProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Whether the next answer is dropped, together with its connection. */
  #forgets = false;

  private constructor(to: number) {
    this.#server = createServer((near) => {
      const far = dial(to, "127.0.0.1");
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on("error", () => undefined);
      }
      near.pipe(far);
      far.on("data", (bytes) => {
        if (!this.#forgets) {
          near.write(bytes);
          return;
        }
        this.#forgets = false;
        near.destroy();
        far.destroy();
      });
      near.on("close", () => far.destroy());
      far.on("close", () => near.destroy());
    });
  }

  /** Starts a proxy for a port of this machine. */
  static async start(to: number): Promise<ForgetfulProxy> {
    const proxy = new ForgetfulProxy(to);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Passes the next request to the server, but drops the answer. */
  forgetNextAnswer(): void {
    this.#forgets = true;
  }

  /** Whether the answer has been dropped by now. */
  get forgotten(): boolean {
    return !this.#forgets;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}
