declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  /** The part of the library that the tests use. */
  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    on(event: string, listener: (...given: unknown[]) => void): this;
    readonly AccessToken: { find(token: string): Promise<{ accountId?: string } | undefined> };
  }
}
