/** An address to fetch, and the limits for it. */
export interface ForeignRequest {
  readonly url: string;
  /** `http:` and `https:`, in the notation of `URL`. */
  readonly schemes: readonly string[];
  readonly accept: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Why a host must not be visited, as a clause; called before each request, including redirects. */
  readonly refusalOf?:
    | ((target: URL) => string | undefined | Promise<string | undefined>)
    | undefined;
}

/** The final response, after redirects. */
export interface ForeignReply {
  readonly url: string;
  readonly status: number;
  /** The header unchanged; empty if absent. */
  readonly contentType: string;
  readonly body: Buffer;
}

/** Fetches one address. The only way to reach addresses that models and clients name. */
export type FetchForeign = (request: ForeignRequest) => Promise<ForeignReply>;

/** How tools reach addresses that the model names. */
export interface WebAccess {
  readonly fetch: FetchForeign;
  /**
   * Why a host must not be visited, as a clause: because of the sandbox or, if no call names the host, because
   * of the permissions.
   */
  readonly refusalOf: (target: URL, isNamed: boolean) => Promise<string | undefined>;
}
