import { once } from "node:events";
import {
  type AddressInfo,
  createServer,
  connect as dial,
  type Server,
  type Socket,
} from "node:net";

/** Stands between a driver and its server, and can lose the answers on their way back. */
export class ForgetfulProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Whether the next answer is lost, and its connection with it. */
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

  /** Starts one before a port of this machine. */
  static async start(to: number): Promise<ForgetfulProxy> {
    const proxy = new ForgetfulProxy(to);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The server gets the next request, but nobody learns what it answers. */
  forgetNextAnswer(): void {
    this.#forgets = true;
  }

  /** Whether the answer has been lost by now. */
  get forgotten(): boolean {
    return !this.#forgets;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}
